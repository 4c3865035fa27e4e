//! Tables of the paths that move, and advice on those that stay.

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Direction {
    #[default]
    Forth,
    Back,
}

/// A module of tokio or of a companion, the module of tokio-wheel that replaces it, and the items
/// that both have.
struct Move {
    theirs: &'static str,
    ours: &'static str,
    items: &'static [&'static str],
    package: &'static str,
    /// The feature of tokio-wheel that the items need.
    feature: Option<&'static str>,
}

/// The first row that has an item is used. The last row is for the way back: code written for
/// tokio-wheel may name the items of `wheel::time` at the crate's root.
#[rustfmt::skip]
const MOVES: [Move; 6] = [
    Move { theirs: "tokio", ours: "wheel", items: &["time"], package: "tokio", feature: None },
    Move { theirs: "tokio_util::time", ours: "wheel", items: &["DelayQueue", "delay_queue"], package: "tokio-util", feature: Some("stream") },
    Move { theirs: "tokio_util::future", ours: "wheel::ext", items: &["FutureExt"], package: "tokio-util", feature: None },
    Move { theirs: "tokio_util::time", ours: "wheel::ext", items: &["FutureExt"], package: "tokio-util", feature: None },
    Move { theirs: "tokio_stream::wrappers", ours: "wheel::ext::stream", items: &["IntervalStream"], package: "tokio-stream", feature: Some("stream") },
    Move { theirs: "tokio::time", ours: "wheel", package: "tokio", feature: None, items: &[
        "Duration", "Instant", "Interval", "MissedTickBehavior", "Sleep", "Timeout", "advance", "error",
        "interval", "interval_at", "pause", "resume", "sleep", "sleep_until", "timeout", "timeout_at",
    ] },
];

/// Paths that stay on tokio's timers, and what to use instead.
#[rustfmt::skip]
const STAYS: [(&str, &str); 9] = [
    ("enable_alt_timer", "remove this call, because tokio-wheel does not run on tokio's alternative timer"),
    ("hyper_util::rt::TokioTimer", "use wheel::ext::hyper::WheelTimer"),
    ("tokio::*", "use wheel::time, which the glob does not import"),
    ("tokio_io_timeout", "use wheel::ext::io"),
    ("tokio_stream::Elapsed", "use wheel::error::Elapsed"),
    ("tokio_util::future", "use wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens"),
    ("tokio_util::time", "use wheel::DelayQueue, wheel::delay_queue and wheel::ext::FutureExt"),
    ("tower::timeout", "use wheel::ext::tower, and in the same change where the error is named or downcast"),
    ("tower_http::timeout", "use wheel::ext::tower"),
];

/// What to check where the type of an error is asked for, in either direction.
pub(crate) const CHECK: &str = "check which crate makes this error. tokio, tokio-wheel, tower and tokio-stream have an Elapsed each";

/// Paths that only tokio-wheel has, and what to use instead.
#[rustfmt::skip]
const ONLY_HERE: [(&str, &str); 5] = [
    ("wheel::ext::StreamExt", "use tokio_stream::StreamExt, which has the same methods"),
    ("wheel::ext::hyper", "use hyper_util::rt::TokioTimer"),
    ("wheel::ext::io", "use the crate tokio-io-timeout, which has the same types"),
    ("wheel::ext::tower", "use tower::timeout and tower_http::timeout, and tower's error where it is named or downcast"),
    ("wheel", "tokio's timers have nothing like it"),
];

/// The new place of a path.
pub(crate) struct Moved {
    /// How many of its names are the module.
    pub(crate) count: usize,
    /// The module that takes their place.
    pub(crate) module: &'static str,
    /// The feature of tokio-wheel that the item needs, or on the way back its package.
    pub(crate) need: Option<&'static str>,
}

impl Direction {
    /// Returns the new place of a path, or `None` if it stays.
    pub(crate) fn moves(self, path: &[&str]) -> Option<Moved> {
        MOVES.iter().find_map(|row| {
            let (from, module, need) = match self {
                Direction::Forth => (row.theirs, row.ours, row.feature),
                Direction::Back => (row.ours, row.theirs, Some(row.package)),
            };
            let count = from.split("::").count();
            let item = path.get(count)?;
            let moves = starts_with(path, from) && row.items.contains(item);
            moves.then_some(Moved { count, module, need })
        })
    }

    /// Returns advice on a path that stays, or `None` if it has nothing to do with timers.
    pub(crate) fn advice(self, path: &[&str]) -> Option<&'static str> {
        if (1..path.len()).any(|from| self.moves(&path[from..]).is_some()) {
            return Some("this is part of a longer path");
        }
        let table = if self == Direction::Forth { &STAYS[..] } else { &ONLY_HERE };
        let row = table.iter().find(|(start, _)| starts_with(path, start))?;
        // The crate's name alone may be a module's or a variable's.
        Some(row.1).filter(|_| path != ["wheel"])
    }

    /// Returns the text by which an old path in a string or a doc comment is found.
    pub(crate) fn old_path(self) -> &'static str {
        if self == Direction::Forth { "tokio::time" } else { "wheel::" }
    }
}

fn starts_with(path: &[&str], start: &str) -> bool {
    let mut names = path.iter();
    start.split("::").all(|start| names.next() == Some(&start))
}
