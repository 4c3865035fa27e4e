//! Whose timers are underneath. This compiles on both: where `tokio` is the tree's, it has a
//! module `wheel`, and in a block a name that a glob brings goes before one from outside.

/// The real tokio has no such module; then it is this one.
#[allow(dead_code)]
mod wheel {
    pub(super) struct Metrics {
        pub(super) registered: u64,
    }

    pub(super) fn metrics() -> Metrics {
        Metrics { registered: 0 }
    }

    impl Metrics {
        pub(super) fn snapshot(self) -> Self {
            self
        }
    }
}

/// Timers that were tokio-wheel's so far.
pub(crate) fn registered() -> u64 {
    #[allow(unused_imports)]
    use tokio::*;
    wheel::metrics().snapshot().registered
}
