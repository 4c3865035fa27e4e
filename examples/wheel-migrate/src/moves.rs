//! What moves, where to, and by which names a package calls the crates.

/// A module of tokio's or its companions', the module here that takes its place, and what both have. So an import goes
/// on importing the same name.
type Move = (&'static str, &'static str, &'static [&'static str]);

const MOVES: [Move; 7] = [
    ("tokio", "wheel", &["time"]),
    ("tokio_util::time", "wheel", &["DelayQueue", "delay_queue"]),
    ("tokio_util::future", "wheel::ext", FUTURE_EXT),
    ("tokio_util::time", "wheel::ext", FUTURE_EXT),
    (
        "tokio_stream::wrappers",
        "wheel::ext::stream",
        &["IntervalStream"],
    ),
    ("tokio_stream::adapters", "wheel::ext::stream", ADAPTERS),
    ("tokio_stream::StreamExt", "wheel::ext::StreamExt", METHODS),
];

/// Has methods for cancellation tokens too: moved only where a file calls none of these.
const FUTURE_EXT: &[&str] = &["FutureExt"];
const ADAPTERS: &[&str] = &["ChunksTimeout", "Timeout", "TimeoutRepeating"];
/// Called by the trait's name: the form that a method of a stream is given.
const METHODS: &[&str] = &["chunks_timeout", "throttle", "timeout", "timeout_repeating"];

/// There is one error here for all that is late, so this has no way back.
const FORTH_ALONE: Move = ("tokio_stream", "wheel::error", &["Elapsed"]);

/// Names of the crate's root, for code that says `wheel::sleep`.
#[rustfmt::skip]
const BACK_ALONE: Move = ("tokio::time", "wheel", &[
    "Duration", "Instant", "Interval", "MissedTickBehavior", "Sleep", "Timeout",
    "advance", "error", "interval", "interval_at", "pause", "resume",
    "sleep", "sleep_until", "timeout", "timeout_at",
]);

/// What has timers of tokio's and stays, and what tokio-wheel has for it.
const STAYS: [(&str, &str); 7] = [
    (
        "hyper_util::rt::TokioTimer",
        "wheel::ext::hyper::WheelTimer",
    ),
    ("tower::timeout", "wheel::ext::tower"),
    ("tower_http::timeout", "wheel::ext::tower"),
    ("tokio_util::future::FutureExt", BESIDE_TOKENS),
    ("tokio_util::time::FutureExt", BESIDE_TOKENS),
    (
        "tokio_util::time",
        "the module wheel::delay_queue and wheel::DelayQueue, each by its name",
    ),
    ("actix_rt::time", "wheel::time; this is tokio's"),
];

const BESIDE_TOKENS: &str = "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens";

/// Types of which tokio-wheel has its own, by tokio's names.
const OWN_TYPES: [&str; 10] = [
    "tokio::time::Interval",
    "tokio::time::Sleep",
    "tokio::time::Timeout",
    "tokio::time::error::Elapsed",
    "tokio::time::error::Error",
    "tokio_stream::Elapsed",
    "tokio_stream::wrappers::IntervalStream",
    "tokio_util::time::DelayQueue",
    "tokio_util::time::delay_queue::Expired",
    "tokio_util::time::delay_queue::Key",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

impl Direction {
    /// How many names of a path are replaced, and by what.
    pub(crate) fn moves(self, path: &[String]) -> Option<(usize, String)> {
        let more = match self {
            Direction::Forth => FORTH_ALONE,
            Direction::Back => BACK_ALONE,
        };
        MOVES
            .into_iter()
            .chain([more])
            .find_map(|(tokio, wheel, names)| {
                let (from, to) = match self {
                    Direction::Forth => (tokio, wheel),
                    Direction::Back => (wheel, tokio),
                };
                let count = from.split("::").count();
                let name = path.get(count)?;
                let moves = starts_with(path, from) && names.contains(&name.as_str());
                moves.then(|| (count + 1, format!("{to}::{name}")))
            })
    }
}

/// What there is here for what is not moved; `None` if it has no timers.
pub(crate) fn stays(path: &[String]) -> Option<&'static str> {
    let (_, instead) = STAYS.iter().find(|(stays, _)| starts_with(path, stays))?;
    Some(instead)
}

pub(crate) fn is_future_ext(path: &[String]) -> bool {
    stays(path) == Some(BESIDE_TOKENS)
}

pub(crate) fn is_own_type(path: &[String]) -> bool {
    OWN_TYPES.contains(&path.join("::").as_str())
}

/// The names of the types that a glob of this module brings.
pub(crate) fn own_types_in(module: &[String]) -> impl Iterator<Item = &'static str> {
    let module = module.join("::");
    OWN_TYPES.into_iter().filter_map(move |path| {
        let (above, name) = path.rsplit_once("::")?;
        (above == module).then_some(name)
    })
}

fn starts_with(path: &[String], start: &str) -> bool {
    let mut names = path.iter();
    start
        .split("::")
        .all(|start| names.next().is_some_and(|name| name == start))
}

/// What a package calls the crates. A renamed dependency has another name than its library.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The name here, and the library's.
    renamed: Vec<(String, String)>,
}

impl Names {
    pub(crate) fn add(&mut self, here: &str, library: &str) {
        self.renamed.push((here.to_owned(), library.to_owned()));
    }

    /// The library that has this name here.
    pub(crate) fn library<'a>(&'a self, here: &'a str) -> &'a str {
        let renamed = self.renamed.iter().find(|(name, _)| name == here);
        renamed.map_or(here, |(_, library)| library)
    }

    /// What the first name of a path is here.
    pub(crate) fn localize(&self, path: &str) -> String {
        let (first, rest) = path.split_once("::").unwrap_or((path, ""));
        let renamed = self.renamed.iter().find(|(_, library)| library == first);
        match renamed {
            Some((here, _)) => format!("{here}::{rest}"),
            None => path.to_owned(),
        }
    }
}
