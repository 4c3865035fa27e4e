//! The counted program: one shape, with one implementation of timers, on one kind of runtime.
//!
//! ```text
//! footprint-played TIMERS SHAPE RUNTIME
//! ```
//!
//! The benchmark `footprint` runs it in a simulator. The program is small because the simulator also slows down its start. Each
//! operation is enclosed by two marks ([`window::Window`]).

use std::env;
use std::thread;

use crate::window::COUNTED;
use timers::{Bare, Timers, Tokio, Wheel};

mod crowds;
mod fire;
mod shapes;
mod shared;
mod single;
mod window;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [timers, shape, runtime] = arguments.as_slice() else {
        panic!("usage: footprint-played TIMERS SHAPE RUNTIME");
    };
    COUNTED.announce();
    let (timers, shape, runtime) = (timers.clone(), shape.clone(), runtime.clone());
    // A spawned thread, because the address of the first thread's stack depends on the environment.
    let thread = thread::spawn(move || match timers.as_str() {
        "bare" => play::<Bare<true>>(&shape, &runtime),
        "tokio" => play::<Tokio>(&shape, &runtime),
        "wheel" => play::<Wheel>(&shape, &runtime),
        _ => panic!("unknown implementation: {timers}"),
    });
    thread.join().expect("the shape panicked");
}

fn play<T: Timers>(shape: &str, runtime: &str) {
    // One worker, so that nothing else runs between two marks; a second one if timers are dropped there.
    let workers = match (runtime, shape) {
        ("current-thread", _) => 0,
        ("multi-thread", "elsewhere") => 2,
        ("multi-thread", _) => 1,
        _ => panic!("unknown runtime: {runtime}"),
    };
    let operations = shapes::play::<T>(shape, &T::runtime(workers));
    window::tell(format!("operations {operations}"));
}
