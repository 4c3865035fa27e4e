//! Fails to compile where `tokio` is not the one of the whole tree.

/// Of the tree's tokio, the module of this name goes before this one: in a block, a name that a
/// glob brings goes before one from outside.
#[allow(dead_code)]
mod wheel {
    pub(super) const fn guard() {
        panic!(
            "`tokio` is the registry's, not the whole tree's: run `cargo update tokio`. \
             If that does not help, `cargo tree --invert tokio` shows who wants another version"
        );
    }
}

const _: () = {
    #[allow(unused_imports)]
    use tokio::*;
    wheel::guard()
};
