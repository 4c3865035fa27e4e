//! What moves, where to, and by which names a package calls the crates.

use Direction::{Back, Forth};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

/// A module of tokio's or its companions', the module here that takes its place, and what both
/// have, so that an import goes on importing the same name. Some of it moves in one direction.
#[rustfmt::skip]
const MOVES: [(&[Direction], &str, &str, &[&str]); 9] = [
    (&[Forth, Back], "tokio", "wheel", &["time"]),
    (&[Forth, Back], "tokio_util::time", "wheel", &["DelayQueue", "delay_queue"]),
    (&[Forth, Back], "tokio_util::future", "wheel::ext", FUTURE_EXT),
    (&[Forth, Back], "tokio_util::time", "wheel::ext", FUTURE_EXT),
    (&[Forth, Back], "tokio_stream::wrappers", "wheel::ext::stream", &["IntervalStream"]),
    (&[Forth, Back], "tokio_stream::adapters", "wheel::ext::stream", ADAPTERS),
    (&[Forth, Back], "tokio_stream::StreamExt", "wheel::ext::StreamExt", METHODS),
    // There is one error here for all that is late.
    (&[Forth], "tokio_stream", "wheel::error", &["Elapsed"]),
    // For code that says `wheel::sleep`.
    (&[Back], "tokio::time", "wheel", OF_THE_ROOT),
];

/// Has methods for cancellation tokens too: moved only where a file calls none of these.
const FUTURE_EXT: &[&str] = &["FutureExt"];
const ADAPTERS: &[&str] = &["ChunksTimeout", "Timeout", "TimeoutRepeating"];
/// Called by the trait's name: the form that a method of a stream is given.
pub(crate) const METHODS: &[&str] = &["chunks_timeout", "throttle", "timeout", "timeout_repeating"];

/// What `wheel::time` and the crate's root both have.
#[rustfmt::skip]
const OF_THE_ROOT: &[&str] = &[
    "Duration", "Instant", "Interval", "MissedTickBehavior", "Sleep", "Timeout",
    "advance", "error", "interval", "interval_at", "pause", "resume",
    "sleep", "sleep_until", "timeout", "timeout_at",
];

/// What has timers of tokio's and stays, and what tokio-wheel has for it.
#[rustfmt::skip]
const STAYS: [(&str, &str); 8] = [
    ("actix_rt::time", "wheel::time; this is tokio's"),
    ("hyper_util::rt::TokioTimer", "wheel::ext::hyper::WheelTimer"),
    ("tokio_util::future::FutureExt", BESIDE_TOKENS),
    ("tokio_util::time::FutureExt", BESIDE_TOKENS),
    ("tokio_util::time", "the module wheel::delay_queue and wheel::DelayQueue, each by its name"),
    ("tower::ServiceBuilder", TOWERS_TIMEOUT),
    ("tower::timeout", "wheel::ext::tower"),
    ("tower_http::timeout", "wheel::ext::tower"),
];

/// Of interest only where `timeout` is called.
pub(crate) const TOWERS_TIMEOUT: &str = "for its timeout() wheel::ext::tower::TimeoutLayer";
/// Not moved where a file calls the trait's methods for cancellation tokens.
pub(crate) const BESIDE_TOKENS: &str =
    "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens";

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

impl Direction {
    /// How many names of a path are replaced, and by what.
    pub(crate) fn moves(self, path: &[String]) -> Option<(usize, String)> {
        let moves = MOVES.iter().filter(|(ways, ..)| ways.contains(&self));
        let mut moves = moves.map(|(_, tokio, wheel, names)| match self {
            Forth => (tokio, wheel, names),
            Back => (wheel, tokio, names),
        });
        moves.find_map(|(from, to, names)| {
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

pub(crate) fn is_own_type(path: &[String]) -> bool {
    OWN_TYPES.contains(&path.join("::").as_str())
}

/// Whether something of which this is the path is a type that tokio-wheel has its own of, or has
/// one in it.
pub(crate) fn has_own_type(path: &[String]) -> bool {
    let module = format!("{}::", path.join("::"));
    is_own_type(path) || OWN_TYPES.iter().any(|own| own.starts_with(&module))
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

    /// A path from the library on, with the name that this has itself.
    pub(crate) fn by_library(&self, path: &[String]) -> Vec<String> {
        let mut path = path.strip_prefix(&[String::new()]).unwrap_or(path).to_vec();
        let renamed = self
            .renamed
            .iter()
            .find(|(here, _)| path.first() == Some(here));
        if let Some((_, library)) = renamed {
            path[0].clone_from(library);
        }
        path
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
