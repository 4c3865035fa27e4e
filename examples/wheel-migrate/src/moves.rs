//! What moves, where to, and by which names a package calls the crates.

/// A path, and the path that takes its place. Both end in the same name, so an import goes on
/// importing that name.
type Move = (&'static str, &'static str);

const MOVES: [Move; 13] = [
    ("tokio::time", "wheel::time"),
    ("tokio_util::time::DelayQueue", "wheel::DelayQueue"),
    ("tokio_util::time::delay_queue", "wheel::delay_queue"),
    (FUTURE_EXT, "wheel::ext::FutureExt"),
    ("tokio_util::time::FutureExt", "wheel::ext::FutureExt"),
    (
        "tokio_stream::wrappers::IntervalStream",
        "wheel::ext::stream::IntervalStream",
    ),
    (
        "tokio_stream::adapters::Timeout",
        "wheel::ext::stream::Timeout",
    ),
    (
        "tokio_stream::adapters::TimeoutRepeating",
        "wheel::ext::stream::TimeoutRepeating",
    ),
    (
        "tokio_stream::adapters::ChunksTimeout",
        "wheel::ext::stream::ChunksTimeout",
    ),
    // A call by the trait's name: the form that a method of a stream is given.
    (
        "tokio_stream::StreamExt::timeout",
        "wheel::ext::StreamExt::timeout",
    ),
    (
        "tokio_stream::StreamExt::timeout_repeating",
        "wheel::ext::StreamExt::timeout_repeating",
    ),
    (
        "tokio_stream::StreamExt::throttle",
        "wheel::ext::StreamExt::throttle",
    ),
    (
        "tokio_stream::StreamExt::chunks_timeout",
        "wheel::ext::StreamExt::chunks_timeout",
    ),
];

/// Has methods for cancellation tokens too: moved only where a file calls none of these.
const FUTURE_EXT: &str = "tokio_util::future::FutureExt";

/// There is one error here for all that is late, so this has no way back.
const FORTH_ALONE: Move = ("tokio_stream::Elapsed", "wheel::error::Elapsed");

/// Names of the crate's root, for code that says `wheel::sleep`.
const BACK_ALONE: [Move; 16] = [
    ("tokio::time::Duration", "wheel::Duration"),
    ("tokio::time::Instant", "wheel::Instant"),
    ("tokio::time::Interval", "wheel::Interval"),
    (
        "tokio::time::MissedTickBehavior",
        "wheel::MissedTickBehavior",
    ),
    ("tokio::time::Sleep", "wheel::Sleep"),
    ("tokio::time::Timeout", "wheel::Timeout"),
    ("tokio::time::advance", "wheel::advance"),
    ("tokio::time::error", "wheel::error"),
    ("tokio::time::interval", "wheel::interval"),
    ("tokio::time::interval_at", "wheel::interval_at"),
    ("tokio::time::pause", "wheel::pause"),
    ("tokio::time::resume", "wheel::resume"),
    ("tokio::time::sleep", "wheel::sleep"),
    ("tokio::time::sleep_until", "wheel::sleep_until"),
    ("tokio::time::timeout", "wheel::timeout"),
    ("tokio::time::timeout_at", "wheel::timeout_at"),
];

/// What has timers of tokio's and stays, and what tokio-wheel has for it.
const STAYS: [(&str, &str); 7] = [
    (
        "hyper_util::rt::TokioTimer",
        "wheel::ext::hyper::WheelTimer",
    ),
    ("tower::timeout", "wheel::ext::tower"),
    ("tower_http::timeout", "wheel::ext::tower"),
    (
        FUTURE_EXT,
        "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens",
    ),
    (
        "tokio_util::time::FutureExt",
        "wheel::ext::FutureExt, or wheel::timeout beside cancellation tokens",
    ),
    (
        "tokio_util::time",
        "the module wheel::delay_queue and wheel::DelayQueue, each by its name",
    ),
    ("actix_rt::time", "wheel::time; this is tokio's"),
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forth,
    Back,
}

impl Direction {
    /// How many names of a path are replaced, and by what.
    pub(crate) fn moves(self, path: &[String]) -> Option<(usize, &'static str)> {
        let (more, back) = match self {
            Direction::Forth => (std::slice::from_ref(&FORTH_ALONE), false),
            Direction::Back => (&BACK_ALONE[..], true),
        };
        let mut all = MOVES.iter().chain(more);
        all.find_map(|&(tokio, wheel)| {
            let (from, to) = if back { (wheel, tokio) } else { (tokio, wheel) };
            starts_with(path, from).then(|| (from.split("::").count(), to))
        })
    }
}

/// What there is here for what is not moved; `None` if it has no timers.
pub(crate) fn stays(path: &[String]) -> Option<&'static str> {
    let (_, instead) = STAYS.iter().find(|(stays, _)| starts_with(path, stays))?;
    Some(instead)
}

pub(crate) fn is_future_ext(path: &[String]) -> bool {
    starts_with(path, FUTURE_EXT) || starts_with(path, "tokio_util::time::FutureExt")
}

pub(crate) fn is_own_type(path: &[String]) -> bool {
    OWN_TYPES.contains(&path.join("::").as_str())
}

/// The types that a glob of this module brings.
pub(crate) fn own_types_in(module: &[String]) -> impl Iterator<Item = &'static str> {
    let module = module.join("::") + "::";
    OWN_TYPES.into_iter().filter(move |name| {
        let rest = name.strip_prefix(&module);
        rest.is_some_and(|rest| !rest.contains("::"))
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

#[cfg(test)]
mod tests {
    use super::{BACK_ALONE, Direction, FORTH_ALONE, MOVES};

    fn last(path: &str) -> &str {
        path.rsplit("::").next().unwrap()
    }

    #[test]
    fn every_path_keeps_its_last_name() {
        for (from, to) in MOVES.iter().chain(&BACK_ALONE).chain([&FORTH_ALONE]) {
            assert_eq!(last(from), last(to));
        }
    }

    #[test]
    fn a_path_is_moved_with_what_is_below_it() {
        let path: Vec<String> = ["tokio", "time", "error", "Elapsed"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(Direction::Forth.moves(&path), Some((2, "wheel::time")));
        assert_eq!(Direction::Forth.moves(&path[..1]), None);
        assert_eq!(Direction::Back.moves(&path), None);
    }
}
