//! The counted program: one shape, with one side's timers, on one kind of runtime.
//!
//! ```text
//! footprint-played SIDE SHAPE RUNTIME
//! ```
//!
//! Run by the bench `footprint` under a simulator. Everything here is lean, since the simulator slows the start-up down as
//! well. Each operation stands between two marks ([`window::Window`]).

use std::env;
use std::thread;

use tokio::runtime::{Builder, Runtime};

use crate::window::COUNTED;
use timers::{Bare, Timers as Side, Tokio, Wheel};

mod crowds;
mod fire;
mod shapes;
mod single;
mod window;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [side, shape, runtime] = arguments.as_slice() else {
        panic!("usage: footprint-played SIDE SHAPE RUNTIME");
    };
    COUNTED.announce();
    let (side, shape, runtime) = (side.clone(), shape.clone(), runtime.clone());
    // A thread's stack is mapped. The place of the first thread's depends on the environment.
    let thread = thread::spawn(move || match side.as_str() {
        "bare" => play::<Bare<true>>(&shape, &runtime),
        "tokio" => play::<Tokio>(&shape, &runtime),
        "wheel" => play::<Wheel>(&shape, &runtime),
        _ => panic!("no side is called {side}"),
    });
    thread.join().expect("the shape panicked");
}

fn play<S: Side>(shape: &str, runtime: &str) {
    // One worker, so that nothing else runs between two marks; a second where timers are dropped there.
    let workers = if shape == "elsewhere" { 2 } else { 1 };
    let runtime = match runtime {
        "multi-thread" => multi_thread(workers),
        "current-thread" => current_thread(),
        _ => panic!("no runtime is called {runtime}"),
    };
    let operations = shapes::play::<S>(shape, &runtime);
    window::tell(format!("operations {operations}"));
}

fn multi_thread(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    builder.build().expect("a runtime")
}

fn current_thread() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}
