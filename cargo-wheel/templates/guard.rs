//! Fails to compile if `tokio` is not the whole tree's, and says what to do then.
//!
//! A dependency tree has a single tokio 1: if this crate gets the patched one, all crates do.

/// The whole tree's tokio has a module of this name, which takes precedence over this one: inside a
/// block, a name that a glob imports there shadows a name from outside of the block.
#[allow(dead_code)]
mod wheel {
    pub(super) const fn guard() {
        panic!(
            "`tokio` is the registry's, not the whole tree's: run `cargo update --recursive tokio`. \
             If it still is, run `cargo update tokio --precise VERSION` with the VERSION below \
             `[[patch.unused]]` in Cargo.lock, and update the crate that its error names"
        );
    }
}

const _: () = {
    #[allow(unused_imports)]
    use tokio::*;
    wheel::guard()
};
