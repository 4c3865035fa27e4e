//! The marks between which the benchmark counts.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The benchmark sees the addresses of all accesses. An access to `begin` opens a window, an access to `end` closes it.
#[repr(align(64))]
pub(crate) struct Window {
    begin: AtomicU64,
    end: AtomicU64,
}

/// The benchmark counts between these marks.
pub(crate) static COUNTED: Window = Window::new();

/// Marks that the benchmark does not know: the warm-up runs the same instructions uncounted.
pub(crate) static WARM_UP: Window = Window::new();

impl Window {
    const fn new() -> Self {
        Self {
            begin: AtomicU64::new(0),
            end: AtomicU64::new(0),
        }
    }

    /// Tells the benchmark where the marks are.
    pub(crate) fn announce(&self) {
        let address = |mark: &AtomicU64| ptr::from_ref(mark).addr();
        tell(format!(
            "marks {:x} {:x}",
            address(&self.begin),
            address(&self.end)
        ));
    }

    /// Touches a mark. This is a swap, because it orders all memory accesses, so the compiler moves none across it.
    #[inline(always)]
    pub(crate) fn begin(&self) {
        self.begin.swap(1, Ordering::SeqCst);
    }

    #[inline(always)]
    pub(crate) fn end(&self) {
        self.end.swap(1, Ordering::SeqCst);
    }

    /// Runs `operation` between the marks.
    #[inline(always)]
    pub(crate) fn around<R>(&self, operation: impl FnOnce() -> R) -> R {
        self.begin();
        let result = operation();
        self.end();
        result
    }
}

/// Prints a line for the benchmark. The simulator also prints to standard error, so a line must be written in one piece.
pub(crate) fn tell(mut line: String) {
    line.push('\n');
    eprint!("{line}");
}
