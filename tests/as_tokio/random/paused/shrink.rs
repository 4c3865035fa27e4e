//! Makes a failing program smaller, as long as the rest still fails.

use crate::random::program::{Op, Program, Step};

/// Leaves out one operation after another, with everything inside it, until each one that is left is needed.
pub(crate) fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    loop {
        let (before, mut at) = (program.clone(), 0);
        while let Some(smaller) = without(program.clone(), at) {
            match fails(&smaller) {
                true => program = smaller,
                false => at += 1,
            }
        }
        if program == before {
            return program;
        }
    }
}

/// Leaves out the operation at a position. Returns `None` if the program has no more than `at` operations.
fn without(mut program: Program, mut at: usize) -> Option<Program> {
    let mut tasks = program.tasks.iter_mut();
    let is_out = leave_out(&mut program.steps, &mut at, in_step)
        || tasks.any(|task| leave_out(task, &mut at, in_op));
    is_out.then_some(program)
}

/// Leaves out the operation at a position, counting those in the list and those inside each of them.
fn leave_out<T>(list: &mut Vec<T>, at: &mut usize, inside: fn(&mut T, &mut usize) -> bool) -> bool {
    for index in 0..list.len() {
        if *at == 0 {
            list.remove(index);
            return true;
        }
        *at -= 1;
        if inside(&mut list[index], at) {
            return true;
        }
    }
    false
}

fn in_step(step: &mut Step, at: &mut usize) -> bool {
    match step {
        Step::Enter(_, steps) => leave_out(steps, at, in_step),
        Step::Drive(_, body) | Step::DriveLocal(_, body) => leave_out(body, at, in_op),
        Step::Hands(hands) => leave_out(hands, at, |_, _| false),
        _ => false,
    }
}

fn in_op(op: &mut Op, at: &mut usize) -> bool {
    let mut bodies = op.bodies().iter_mut();
    bodies.any(|body| leave_out(body, at, in_op))
}
