//! Makes a program that fails smaller, as long as the rest still fails.

use crate::random::program::{Op, Program, Step};

/// The smallest found by leaving out things in turn, or all that is around a thing.
pub(crate) fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    let mut at = 0;
    let mut changed = false;
    loop {
        match edited(&program, at / 2, at % 2 == 1) {
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

/// How many things there are in a program.
pub(crate) fn size(program: &Program) -> usize {
    let is_there = |&at: &usize| edited(program, at, false).is_some();
    (0..).take_while(is_there).count()
}

/// Without the thing at a place, or with its inside in its place. `None` when there are no more things.
fn edited(program: &Program, at: usize, hoist: bool) -> Option<Program> {
    let mut program = program.clone();
    let mut editor = Editor {
        to_go: Some(at),
        hoist,
    };
    editor.edit(&mut program.steps);
    for task in &mut program.tasks {
        editor.edit(task);
    }
    editor.to_go.is_none().then_some(program)
}

struct Editor {
    /// How many things come before the thing to edit; `None` after the edit.
    to_go: Option<usize>,
    hoist: bool,
}

impl Editor {
    fn edit<T: Thing>(&mut self, list: &mut Vec<T>) {
        for at in 0..list.len() {
            match self.to_go {
                None => return,
                Some(0) => {
                    self.to_go = None;
                    let removed = list.remove(at);
                    if self.hoist {
                        list.splice(at..at, removed.hoisted());
                    }
                }
                Some(to_go) => {
                    self.to_go = Some(to_go - 1);
                    list[at].edit_inside(self);
                }
            }
        }
    }
}

/// An element of a program's lists.
trait Thing: Sized {
    fn edit_inside(&mut self, _: &mut Editor) {}

    /// The things inside, or else the thing itself.
    fn hoisted(self) -> Vec<Self> {
        vec![self]
    }
}

impl Thing for super::hand::Hand {}

impl Thing for Step {
    fn edit_inside(&mut self, editor: &mut Editor) {
        match self {
            Step::Enter(_, steps) => editor.edit(steps),
            Step::Drive(_, body) | Step::DriveLocal(_, body) => editor.edit(body),
            Step::Hands(hands) => editor.edit(hands),
            _ => {}
        }
    }

    fn hoisted(self) -> Vec<Step> {
        match self {
            Step::Enter(_, steps) => steps,
            other => vec![other],
        }
    }
}

impl Thing for Op {
    fn edit_inside(&mut self, editor: &mut Editor) {
        for body in self.bodies() {
            editor.edit(body);
        }
    }

    fn hoisted(mut self) -> Vec<Op> {
        // Whose body is for another runtime alone.
        if matches!(self, Op::Blocking(..)) || self.bodies().is_empty() {
            return vec![self];
        }
        self.bodies().iter_mut().flat_map(std::mem::take).collect()
    }
}
