//! What moves, what stays, and what takes whose place.

use crate::imports::Leaf;

/// What moves, and what takes its place. A path is moved with all that is below it.
const MOVES: [(&[&str], &[&str]); 2] = [
    (&["tokio", "time"], &["wheel"]),
    // Made of an `Interval`, and so it has to be the one that takes ours.
    (
        &["tokio_stream", "wrappers", "IntervalStream"],
        &["wheel", "ext", "stream", "IntervalStream"],
    ),
];

/// What has timers of tokio's and is not moved, and what there is for it here.
const STAYS: [(&[&str], &str); 8] = [
    (
        &["hyper_util", "rt", "TokioTimer"],
        "wheel::ext::hyper::WheelTimer",
    ),
    (&["tokio_util", "time"], "wheel::DelayQueue"),
    (
        &["tokio_util", "future", "FutureExt"],
        "wheel::ext::FutureExt",
    ),
    (
        &["tokio_stream", "StreamExt"],
        "for its time methods wheel::ext::StreamExt",
    ),
    (&["actix_rt", "time"], "tokio's by another name; wheel"),
    (&["tower", "timeout"], "wheel::ext::tower"),
    (&["tower_http", "timeout"], "wheel::ext::tower"),
    (
        &["tower", "ServiceBuilder"],
        "for its timeout() wheel::ext::tower::TimeoutLayer",
    ),
];

fn starts_with(path: &[String], start: &[&str]) -> bool {
    path.len() >= start.len() && path.iter().zip(start).all(|(name, start)| name == start)
}

/// How many names of the path are replaced, and by what.
pub(crate) fn moved(path: &[String]) -> Option<(usize, &'static [&'static str])> {
    let (from, to) = MOVES.iter().find(|(from, _)| starts_with(path, from))?;
    Some((from.len(), to))
}

/// What there is here for what is not moved; `None` if it has no timers.
pub(crate) fn stays(path: &[String]) -> Option<&'static str> {
    let (_, instead) = STAYS.iter().find(|(stays, _)| starts_with(path, stays))?;
    Some(instead)
}

pub(crate) fn is_moved(leaf: &Leaf) -> bool {
    moved(&leaf.path).is_some()
}

/// The tree of a declaration that imports the same from here.
pub(crate) fn render(leaves: &[Leaf]) -> String {
    let all: Vec<String> = leaves.iter().map(below_wheel).collect();
    match &all[..] {
        [only] => match only.strip_prefix("self") {
            Some(rename) => format!("wheel{rename}"),
            None => format!("wheel::{only}"),
        },
        _ => format!("wheel::{{{}}}", all.join(", ")),
    }
}

/// One name, as it stands after `wheel::`.
fn below_wheel(leaf: &Leaf) -> String {
    let Some((from, to)) = moved(&leaf.path) else {
        return leaf.path.join("::");
    };
    let rest = leaf.path[from..].iter().map(String::as_str);
    let mut path: Vec<&str> = to[1..].iter().copied().chain(rest).collect();
    if leaf.is_glob {
        // The root has more than tokio::time.
        path.extend(if path.is_empty() {
            vec!["time", "*"]
        } else {
            vec!["*"]
        });
    }
    match (&leaf.rename, path.is_empty()) {
        (Some(rename), true) => format!("self as {rename}"),
        (None, true) => "self as time".to_owned(),
        (Some(rename), false) => format!("{} as {rename}", path.join("::")),
        (None, false) => path.join("::"),
    }
}
