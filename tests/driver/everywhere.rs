//! Where the tests of this folder run: inside a runtime, with each kind of runtime, for a limited time.

use std::time::Duration;

use support::{runtimes, within};
use tokio::runtime::Runtime;
use wheel::Wheel;

/// More than any machine takes for any of these tests.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Calls a function where a runtime is the current one.
pub(crate) fn inside<R>(runtime: &Runtime, f: impl FnOnce() -> R) -> R {
    let _guard = runtime.enter();
    f()
}

/// A runtime's usual driver.
pub(crate) fn wheel_of(runtime: &Runtime) -> Wheel {
    inside(runtime, Wheel::current)
}

/// Gives a test one runtime of each kind after the other.
pub(crate) fn with_each(test: impl Fn(Runtime) + Send + 'static) {
    within(LIMIT, move || {
        for (name, runtime) in runtimes() {
            // Shown where the test fails.
            println!("with {name}");
            test(runtime);
        }
    });
}

/// Runs a test in each kind of runtime, where its timers can fire.
pub(crate) fn in_each(test: impl AsyncFn(&Runtime) + Send + 'static) {
    with_each(move |runtime| runtime.block_on(test(&runtime)));
}
