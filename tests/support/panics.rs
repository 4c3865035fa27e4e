//! Catches the panic of a function, with its message and its line.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

/// A panic as the panic hook saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    pub message: String,
    pub file: String,
    pub line: u32,
}

/// The name of threads whose panics the hook does not report.
pub const QUIET: &str = "quiet";

thread_local! {
    static CAUGHT: RefCell<Option<Option<Panic>>> = const { RefCell::new(None) };
}

/// Calls a function and returns its panic, which is not reported. Panics of other threads are reported as usual.
pub fn panic_of<T>(f: impl FnOnce() -> T) -> Option<Panic> {
    install_hook();
    CAUGHT.set(Some(None));
    let result = catch_unwind(AssertUnwindSafe(f));
    let caught = CAUGHT.take().flatten();
    if result.is_err() { caught } else { None }
}

/// Returns the message of a function's panic.
#[track_caller]
pub fn message_of<T>(f: impl FnOnce() -> T) -> String {
    panic_of(f).expect("no panic").message
}

/// Returns the message of a panic.
pub fn words(payload: &(dyn Any + Send)) -> String {
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    literal.or(formatted).unwrap_or("").to_owned()
}

/// Returns the value of a function, or the message of its panic. Works with any panic hook.
pub fn tried<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| words(&*payload))
}

pub fn install_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() == Some(QUIET) {
                return;
            }
            let catching = CAUGHT
                .try_with(|caught| caught.borrow().is_some())
                .unwrap_or(false);
            if !catching {
                return default(info);
            }
            let location = info.location().unwrap();
            CAUGHT.set(Some(Some(Panic {
                message: words(info.payload()),
                file: location.file().to_owned(),
                line: location.line(),
            })));
        }));
    });
}
