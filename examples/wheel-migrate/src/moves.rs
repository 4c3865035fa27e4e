//! What moves, where to, and by which names a package calls the crates.

use Direction::{Back, Forth};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

/// A package, and the feature that what has moved there needs. Without one it is empty.
pub(crate) type Need = (&'static str, &'static str);

pub(crate) const WHEEL: &str = "tokio-wheel";

/// Packages that timers come from, and the versions to depend on where there are none yet.
pub(crate) const COMPANIONS: [(&str, &str); 6] = [
    ("hyper-util", "0.1.20"),
    ("tokio", "1.54"),
    ("tokio-stream", "0.1"),
    ("tokio-util", "0.7.16"),
    ("tower", "0.5"),
    ("tower-http", "0.7"),
];

/// A path, and the feature of its package that it needs.
type Module = (&'static str, &'static str);

/// A module of tokio's or its companions' and the module here that takes its place; and what both
/// have, so that an import goes on importing the same name. With [`ITSELF`] the two are no modules.
/// Some of it moves in one direction.
#[rustfmt::skip]
const MOVES: [(&[Direction], Module, Module, &[&str]); 15] = [
    (BOTH, ("tokio", "time"), ("wheel", ""), &["time"]),
    (BOTH, ("tokio_util::time", "time"), ("wheel", "stream"), &["DelayQueue", "delay_queue"]),
    (BOTH, ("tokio_util::future", "time"), ("wheel::ext", ""), FUTURE_EXT),
    (BOTH, ("tokio_util::time", "time"), ("wheel::ext", ""), FUTURE_EXT),
    (BOTH, ("tokio_stream::wrappers", "time"), ("wheel::ext::stream", "stream"), &["IntervalStream"]),
    (BOTH, ("tokio_stream::adapters", "time"), ("wheel::ext::stream", "stream"), ADAPTERS),
    (BOTH, ("tokio_stream::StreamExt", "time"), ("wheel::ext::StreamExt", "stream"), METHODS),
    (BOTH, ("hyper_util::rt::TokioTimer", "tokio"), ("wheel::ext::hyper::WheelTimer", "hyper"), ITSELF),
    (BOTH, ("tower::timeout", "timeout"), ("wheel::ext::tower", "tower"), OF_TOWER),
    (BOTH, ("tower_http::timeout", "timeout"), ("wheel::ext::tower", "tower"), OF_TOWER_HTTP),
    // There is one error here for all that is late.
    (&[Forth], ("tokio_stream", "time"), ("wheel::error", ""), &["Elapsed"]),
    // For code that was written for this crate.
    (&[Back], ("tokio::time", "time"), ("wheel", ""), OF_THE_ROOT),
    (&[Back], ("tokio_stream", "time"), ("wheel::ext", "stream"), &["StreamExt"]),
    (&[Back], ("tokio_stream", "time"), ("wheel::ext::stream", "stream"), &["StreamExt"]),
    (&[Back], ("tower", "timeout"), ("wheel::ext::tower", "tower"), &["BoxError"]),
];

const BOTH: &[Direction] = &[Forth, Back];
const ITSELF: &[&str] = &[];
/// Has methods for cancellation tokens too: moved only where a file calls none of these.
const FUTURE_EXT: &[&str] = &["FutureExt"];
const ADAPTERS: &[&str] = &["ChunksTimeout", "Timeout", "TimeoutRepeating"];
/// Called by the trait's name: the form that a method of a stream is given.
pub(crate) const METHODS: &[&str] = &["chunks_timeout", "throttle", "timeout", "timeout_repeating"];
const OF_TOWER: &[&str] = &["Timeout", "TimeoutLayer", "error", "future"];
#[rustfmt::skip]
const OF_TOWER_HTTP: &[&str] = &[
    "Timeout", "TimeoutLayer", "TimeoutBody", "DeadlineBody",
    "RequestBodyTimeout", "RequestBodyTimeoutLayer", "RequestBodyDeadline", "RequestBodyDeadlineLayer",
    "ResponseBodyTimeout", "ResponseBodyTimeoutLayer", "ResponseBodyDeadline", "ResponseBodyDeadlineLayer",
];

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
    ("tokio_io_timeout", "wheel::ext::io"),
    ("tokio_util::future::FutureExt", BESIDE_TOKENS),
    ("tokio_util::time::FutureExt", BESIDE_TOKENS),
    ("tokio_util::time", "the module wheel::delay_queue and wheel::DelayQueue, each by its name"),
    ("tower::ServiceBuilder", TOWERS_TIMEOUT),
    ("tower::timeout", "wheel::ext::tower"),
    ("tower_http::timeout", "wheel::ext::tower"),
];

/// Of interest only where `timeout` is called.
pub(crate) const TOWERS_TIMEOUT: &str = "for its timeout() wheel::ext::tower::TimeoutLayer";
const BESIDE_TOKENS: &str = "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens";

/// What there is here alone, and what to do to be rid of it. The last is for all the rest.
#[rustfmt::skip]
const ONLY_HERE: [(&str, &str); 10] = [
    ("wheel::BuildError", "tokio's timers have no settings: take the driver's out"),
    ("wheel::Builder", "tokio's timers have no settings: take the driver's out"),
    ("wheel::DelayQueue", "without `with_wheel` it is tokio-util's"),
    ("wheel::TimingWheel", "no timer of a runtime's: it may stay"),
    ("wheel::timing_wheel", "no timer of a runtime's: it may stay"),
    ("wheel::Wheel", "in place of its methods the functions of tokio::time"),
    ("wheel::ext::io", "the crate tokio-io-timeout has the same"),
    ("wheel::ext::stream::Throttle", "tokio-stream has no name for it: impl Stream"),
    ("wheel::ext::tower", "tower::timeout has what ends with an error, tower_http::timeout with a status code"),
    ("wheel", "tokio's timers have none: take it out"),
];

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

/// What becomes of a path.
#[derive(Debug, PartialEq)]
pub(crate) struct Moved {
    /// How many of its names are replaced.
    pub(crate) count: usize,
    pub(crate) to: String,
    pub(crate) need: Need,
}

impl Direction {
    /// `takes` is told the path that tokio or its companions have for what would move.
    pub(crate) fn moves(self, path: &[String], takes: impl Fn(&str) -> bool) -> Option<Moved> {
        let mut moves = MOVES.iter().filter(|(ways, ..)| ways.contains(&self));
        moves.find_map(|(_, theirs, ours, names)| {
            let ((from, _), (to, feature)) = match self {
                Forth => (theirs, ours),
                Back => (ours, theirs),
            };
            let mut count = from.split("::").count();
            let mut name = String::new();
            if *names != ITSELF {
                let is_known = |name: &&String| names.contains(&name.as_str());
                name = format!("::{}", path.get(count).filter(is_known)?);
                count += 1;
            }
            let moves = starts_with(path, from) && takes(&format!("{}{name}", theirs.0));
            moves.then(|| Moved {
                count,
                to: format!("{to}{name}"),
                need: (package(to), feature),
            })
        })
    }
}

/// What a path is from.
fn package(path: &str) -> &'static str {
    let library = path.split("::").next().unwrap_or(path);
    let mut packages = COMPANIONS.iter().map(|(package, _)| *package);
    let companion = packages.find(|package| package.replace('-', "_") == library);
    companion.unwrap_or(WHEEL)
}

/// What there is here for what is not moved; `None` if it has no timers.
pub(crate) fn stays(path: &[String]) -> Option<&'static str> {
    instead(&STAYS, path)
}

/// What to do about what has no counterpart there; `None` if it is not of tokio-wheel.
pub(crate) fn only_here(path: &[String]) -> Option<&'static str> {
    instead(&ONLY_HERE, path)
}

fn instead(table: &[(&str, &'static str)], path: &[String]) -> Option<&'static str> {
    let (_, instead) = table.iter().find(|(start, _)| starts_with(path, start))?;
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

pub(crate) fn starts_with(path: &[String], start: &str) -> bool {
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
