//! Makes a program smaller that fails, as long as it does.

use super::program::{Op, Program, Step};

/// The smallest found by leaving out one thing after another, or all that is around one.
pub(crate) fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut at = 0;
    let mut changed = false;
    loop {
        match edited(&program, at) {
            Some(candidate) if candidate != program && fails(&candidate) => {
                program = candidate;
                changed = true;
            }
            Some(_) => at += 1,
            None if changed => (at, changed) = (0, false),
            None => return program,
        }
    }
}

/// Each place can be edited in two ways. `None` when there are no more places.
fn edited(program: &Program, at: usize) -> Option<Program> {
    let mut program = program.clone();
    let mut editor = Editor {
        to_go: at / 2,
        hoist: at % 2 == 1,
        done: false,
    };
    editor.steps(&mut program.steps);
    for task in &mut program.tasks {
        if !editor.done {
            editor.ops(task);
        }
    }
    editor.done.then_some(program)
}

struct Editor {
    to_go: usize,
    /// What is inside takes the place of what is around it.
    hoist: bool,
    done: bool,
}

impl Editor {
    /// Whether this is the place.
    fn is_here(&mut self) -> bool {
        self.done = self.done || self.to_go == 0;
        let here = self.done;
        self.to_go = self.to_go.saturating_sub(1);
        here
    }

    fn steps(&mut self, steps: &mut Vec<Step>) {
        for at in 0..steps.len() {
            if self.is_here() {
                let removed = steps.remove(at);
                match removed {
                    Step::Enter { steps: inner, .. } if self.hoist => {
                        steps.splice(at..at, inner);
                    }
                    removed if self.hoist => steps.insert(at, removed),
                    _ => {}
                }
                return;
            }
            match &mut steps[at] {
                Step::Enter { steps, .. } => self.steps(steps),
                Step::Drive { body, .. } | Step::DriveLocal { body, .. } => self.ops(body),
                _ => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn ops(&mut self, ops: &mut Vec<Op>) {
        for at in 0..ops.len() {
            if self.is_here() {
                let removed = ops.remove(at);
                if self.hoist {
                    ops.splice(at..at, hoisted(removed));
                }
                return;
            }
            match &mut ops[at] {
                Op::Timeout { body, .. }
                | Op::Held { body, .. }
                | Op::Wrapped { body, .. }
                | Op::Blocking { body, .. } => self.ops(body),
                Op::Select(bodies) | Op::JoinAll(bodies) | Op::Unordered(bodies) => {
                    self.bodies(bodies);
                }
                _ => {}
            }
            if self.done {
                return;
            }
        }
    }

    fn bodies(&mut self, bodies: &mut Vec<Vec<Op>>) {
        for body in &mut *bodies {
            if !self.done {
                self.ops(body);
            }
        }
        if bodies.len() > 1 {
            bodies.retain(|body| !body.is_empty());
        }
    }
}

fn hoisted(op: Op) -> Vec<Op> {
    match op {
        Op::Timeout { body, .. } | Op::Wrapped { body, .. } | Op::Held { body, .. } => body,
        Op::Select(bodies) | Op::JoinAll(bodies) | Op::Unordered(bodies) => {
            bodies.into_iter().flatten().collect()
        }
        other => vec![other],
    }
}
