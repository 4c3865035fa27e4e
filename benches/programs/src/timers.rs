//! Counts the timers of tokio-wheel, in code that compiles on both implementations.
//!
//! In the whole tree, `tokio` has a module `wheel`. In a block, a name from a glob import shadows a name from outside the
//! block, so the module below is used only if Tokio has none. If the import alone has changed, `wheel` is the crate.

#[allow(dead_code)]
#[cfg(not(feature = "import"))]
mod wheel {
    pub(super) struct Metrics {
        pub(super) armed: u64,
    }

    pub(super) fn metrics() -> Metrics {
        Metrics { armed: 0 }
    }

    impl Metrics {
        pub(super) fn snapshot(self) -> Self {
            self
        }
    }
}

/// Returns how many timers the current runtime has armed with tokio-wheel; 0 on Tokio's own timers.
pub fn armed() -> u64 {
    #[allow(unused_imports)]
    use tokio::*;
    wheel::metrics().snapshot().armed
}
