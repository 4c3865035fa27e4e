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
#[derive(Clone, Copy)]
pub(crate) struct Timers {
    registered: u64,
    fired: u64,
    cancelled: u64,
}

impl Timers {
    pub(crate) fn now() -> Self {
        #[allow(unused_imports)]
        use tokio::*;
        let now = wheel::metrics().snapshot();
        Timers {
            registered: now.registered,
            fired: now.fired,
            cancelled: now.cancelled,
        }
    }

    /// Those since `before`.
    pub(crate) fn print_since(self, before: Timers, requests: u64) {
        let registered = self.registered - before.registered;
        println!("timers-of-tokio-wheel {registered}");
        println!(
            "timers-per-request {:.2}",
            registered as f64 / requests as f64
        );
        println!("timers-fired {}", self.fired - before.fired);
        println!("timers-cancelled {}", self.cancelled - before.cancelled);
    }
}
