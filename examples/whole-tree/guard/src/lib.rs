//! Fails to compile where `tokio` is not the one of the whole tree, and says what to do.
//!
//! There is one tokio 1 in a dependency tree. So if this crate has the tree's, all crates have.

/// The tree's tokio has a module of this name, which goes before this one: in a block, a name that
/// a glob brings goes before a name from outside.
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
