//! What moves, and where to.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

pub(crate) const WHEEL: &str = "tokio-wheel";

/// A module of tokio's or of a companion's, the module of tokio-wheel that takes its place, the
/// items that both have, and the feature of tokio-wheel that these need.
struct Move {
    theirs: &'static str,
    ours: &'static str,
    items: &'static [&'static str],
    feature: Option<&'static str>,
}

#[rustfmt::skip]
const MOVES: [Move; 5] = [
    Move { theirs: "tokio", ours: "wheel", items: &["time"], feature: None },
    Move { theirs: "tokio_util::time", ours: "wheel", items: &["DelayQueue", "delay_queue"], feature: Some("stream") },
    Move { theirs: "tokio_util::future", ours: "wheel::ext", items: &["FutureExt"], feature: None },
    Move { theirs: "tokio_util::time", ours: "wheel::ext", items: &["FutureExt"], feature: None },
    Move { theirs: "tokio_stream::wrappers", ours: "wheel::ext::stream", items: &["IntervalStream"], feature: Some("stream") },
];

/// Code that was written for tokio-wheel names the items of `wheel::time` by the crate's root.
#[rustfmt::skip]
const ROOT: Move = Move {
    theirs: "tokio::time",
    ours: "wheel",
    items: &[
        "Duration", "Instant", "Interval", "MissedTickBehavior", "Sleep", "Timeout", "advance", "error",
        "interval", "interval_at", "pause", "resume", "sleep", "sleep_until", "timeout", "timeout_at",
    ],
    feature: None,
};

/// What stays on tokio's timers, and what tokio-wheel has instead.
#[rustfmt::skip]
const STAYS: [(&str, &str); 8] = [
    ("hyper_util::rt::TokioTimer", "wheel::ext::hyper::WheelTimer"),
    ("tokio::*", "wheel::time, which the glob does not import"),
    ("tokio_io_timeout", "wheel::ext::io"),
    ("tokio_stream::Elapsed", "wheel::error::Elapsed"),
    ("tokio_util::future", "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens"),
    ("tokio_util::time", "wheel::DelayQueue, wheel::delay_queue and wheel::ext::FutureExt"),
    ("tower::timeout", "wheel::ext::tower"),
    ("tower_http::timeout", "wheel::ext::tower"),
];

/// What only tokio-wheel has, and what to do about it.
#[rustfmt::skip]
const ONLY_HERE: [(&str, &str); 10] = [
    ("wheel::Builder", "tokio's timers have no settings"),
    ("wheel::TimingWheel", "it needs no runtime and may stay"),
    ("wheel::timing_wheel", "it needs no runtime and may stay"),
    ("wheel::Wheel", "call the functions of tokio::time instead of its methods"),
    ("wheel::metrics", "tokio does not count its timers"),
    ("wheel::ext::StreamExt", "tokio_stream::StreamExt has the same methods"),
    ("wheel::ext::hyper", "hyper_util::rt::TokioTimer takes its place"),
    ("wheel::ext::io", "the crate tokio-io-timeout has the same types"),
    ("wheel::ext::tower", "tower::timeout and tower_http::timeout take its place"),
    ("wheel", "tokio's timers have nothing like it"),
];

const STREAM: &str = "if this is a stream's method, use wheel::ext::StreamExt";

/// Methods to look at, in files that contain the second text.
#[rustfmt::skip]
const CALLS_FORTH: [(&str, &str, &str); 6] = [
    ("enable_alt_timer", "", "remove this call, because tokio-wheel does not run on tokio's alternative timer"),
    ("chunks_timeout", "tokio_stream", STREAM),
    ("throttle", "tokio_stream", STREAM),
    ("timeout", "tokio_stream", STREAM),
    ("timeout_repeating", "tokio_stream", STREAM),
    ("timeout", "ServiceBuilder", "if this is tower's, use .layer(wheel::ext::tower::TimeoutLayer::new(…))"),
];
const CALLS_BACK: [(&str, &str, &str); 1] = [(
    "reset_unpin",
    "",
    "tokio's Sleep is not Unpin: keep it in Box::pin(…), and call .as_mut().reset(…)",
)];

/// What becomes of a path.
pub(crate) struct Moved {
    /// How many of its names are replaced.
    pub(crate) count: usize,
    /// What they are replaced by: a module, and an item in it.
    pub(crate) module: &'static str,
    pub(crate) item: String,
    /// The feature of tokio-wheel, or going back the package, that the item needs.
    pub(crate) need: Option<&'static str>,
}

impl Direction {
    /// Returns where a path moves, or `None` if it stays.
    pub(crate) fn moves(self, path: &[&str]) -> Option<Moved> {
        let root = Some(&ROOT).filter(|_| self == Direction::Back);
        MOVES.iter().chain(root).find_map(|row| {
            let (from, to, need) = match self {
                Direction::Forth => (row.theirs, row.ours, row.feature),
                Direction::Back => (row.ours, row.theirs, companion(row.theirs)),
            };
            let count = from.split("::").count();
            let item = *path.get(count)?;
            let moves = starts_with(path, from) && row.items.contains(&item);
            moves.then(|| Moved {
                count: count + 1,
                module: to,
                item: item.to_owned(),
                need,
            })
        })
    }

    /// Returns what to say of a path that stays, or `None` if it has nothing to do with timers.
    pub(crate) fn advice(self, path: &[&str]) -> Option<String> {
        if (1..path.len()).any(|from| self.moves(&path[from..]).is_some()) {
            return Some(" is part of a longer path".to_owned());
        }
        let (table, introduction): (&[_], _) = match self {
            Direction::Forth => (&STAYS, " stays on tokio's timers; use "),
            Direction::Back => (&ONLY_HERE, " stays on tokio-wheel: "),
        };
        let (_, instead) = table.iter().find(|(start, _)| starts_with(path, start))?;
        Some(format!("{introduction}{instead}")).filter(|_| path.len() > 1)
    }

    /// Returns what to say of a method's call in `source`.
    pub(crate) fn advice_on_call(self, method: &str, source: &str) -> Option<String> {
        let table: &[_] = match self {
            Direction::Forth => &CALLS_FORTH,
            Direction::Back => &CALLS_BACK,
        };
        let is_meant =
            |(name, mention, _): &&(&str, &str, _)| *name == method && source.contains(mention);
        table
            .iter()
            .find(is_meant)
            .map(|(_, _, what)| format!(": {what}"))
    }

    /// Returns the text that a string or a doc comment with an old path contains.
    pub(crate) fn old_path(self) -> &'static str {
        match self {
            Direction::Forth => "tokio::time",
            Direction::Back => "wheel::",
        }
    }
}

fn starts_with(path: &[&str], start: &str) -> bool {
    let mut names = path.iter();
    start.split("::").all(|start| names.next() == Some(&start))
}

/// The packages that timers come from, and the version to depend on.
#[rustfmt::skip]
pub(crate) const COMPANIONS: [(&str, &str); 3] = [
    ("tokio", "1.54"),
    ("tokio-util", "0.7.16"),
    ("tokio-stream", "0.1"),
];

fn companion(path: &str) -> Option<&'static str> {
    let library = path.split("::").next()?.replace('_', "-");
    let mut packages = COMPANIONS.iter().map(|(package, _)| *package);
    packages.find(|package| *package == library)
}
