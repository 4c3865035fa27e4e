//! Whose timers are underneath. This compiles on both: where `tokio` is the tree's, it has a
//! module `wheel`, and in a block a name that a glob brings goes before one from outside.

/// The real tokio has no such module; then it is this one.
#[allow(dead_code)]
mod wheel {
    pub(super) struct Nothing;

    #[derive(Default)]
    pub(super) struct Snapshot {
        pub(super) registered: u64,
        pub(super) fired: u64,
        pub(super) cancelled: u64,
        pub(super) pending: usize,
    }

    pub(super) fn metrics() -> Nothing {
        Nothing
    }

    impl Nothing {
        pub(super) fn snapshot(&self) -> Snapshot {
            Snapshot::default()
        }
    }
}

/// Timers that were tokio-wheel's so far.
pub(crate) fn registered() -> u64 {
    #[allow(unused_imports)]
    use tokio::*;
    wheel::metrics().snapshot().registered
}

/// Those since `before`, and what became of all.
pub(crate) fn print(before: u64, requests: u64) {
    #[allow(unused_imports)]
    use tokio::*;
    let now = wheel::metrics().snapshot();
    let registered = now.registered - before;
    println!("timers-of-tokio-wheel {registered}");
    println!(
        "timers-per-request {:.2}",
        registered as f64 / requests as f64
    );
    println!("timers-fired {}", now.fired);
    println!("timers-cancelled {}", now.cancelled);
    println!("timers-pending {}", now.pending);
}
