//! The words of a function's panic, and the place.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

/// A panic as its hook has seen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    pub message: String,
    pub file: String,
    pub line: u32,
}

/// The name of threads whose panics are not reported, once the hook is installed.
pub const QUIET: &str = "quiet";

thread_local! {
    static CAUGHT: RefCell<Option<Option<Panic>>> = const { RefCell::new(None) };
}

/// The panic of `f`, which is not reported. Other threads' panics are reported as ever.
pub fn panic_of<T>(f: impl FnOnce() -> T) -> Option<Panic> {
    install_hook();
    CAUGHT.set(Some(None));
    let result = catch_unwind(AssertUnwindSafe(f));
    let caught = CAUGHT.take().flatten();
    if result.is_err() { caught } else { None }
}

/// [`panic_of`], the message only.
#[track_caller]
pub fn message_of<T>(f: impl FnOnce() -> T) -> String {
    panic_of(f).expect("no panic").message
}

/// The words of a panic.
pub fn words(payload: &(dyn Any + Send)) -> String {
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = payload.downcast_ref::<String>().map(String::as_str);
    literal.or(formatted).unwrap_or("").to_owned()
}

/// The value that `f` returns, or the words of its panic, under any hook.
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
