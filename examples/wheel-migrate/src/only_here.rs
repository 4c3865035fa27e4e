//! Going back: what types of this crate can do, and tokio's and its companions' cannot.

use std::collections::HashSet;
use std::ops::Range;

use crate::moves::is_own_type;
use crate::rewrite::File;
use crate::syntax::{Path, Public, Variable};

const UNPINNED: [&str; 4] = [
    "tokio::time::sleep",
    "tokio::time::sleep_until",
    "tokio::time::timeout",
    "tokio::time::timeout_at",
];
/// Types that a `Wheel` makes.
const OF_HANDLES: [&str; 4] = [
    "tokio::time::Interval",
    "tokio::time::Sleep",
    "tokio::time::Timeout",
    ELAPSED,
];
const ELAPSED: &str = "tokio::time::error::Elapsed";

impl File<'_> {
    pub(crate) fn only_here(&mut self) {
        self.timers();
        self.pinned();
        self.queues();
        self.errors();
        self.handles();
        self.implementations();
    }

    fn by_hand(&mut self, at: usize, what: &str) {
        self.found.by_hand.push((at, what.to_owned()));
    }

    /// Where paths are that come to stand for one of these.
    fn places(&self, theirs: &[&str]) -> Vec<usize> {
        let is_one = |path: &&Path| {
            self.scope.changes(&path.names) && self.scope.is_any(&path.names, theirs)
        };
        let paths = self.syntax.paths.iter().filter(is_one);
        paths.map(|path| path.ranges[0].start).collect()
    }

    /// hyper-util's timer is made by a function alone.
    fn timers(&mut self) {
        let theirs = ["hyper_util::rt::TokioTimer"];
        for path in self.syntax.paths.iter().filter(|path| path.is_value) {
            if self.scope.is_any(&path.names, &theirs) {
                let end = path.ranges[path.ranges.len() - 1].end;
                self.edits.push((end..end, "::new()".to_owned()));
            }
        }
    }

    /// `Sleep` and `Timeout` are `Unpin` here. What is made in a variable is pinned there.
    fn pinned(&mut self) {
        let made = self.places(&UNPINNED);
        let is_pinned = |name: &str| self.source.contains(&format!("pin!({name})"));
        let variables = self.syntax.variables.iter();
        let variables = variables
            .filter(|variable| made.contains(&variable.value.start) && !is_pinned(&variable.name));
        let variables: Vec<&Variable> = variables.collect();
        for variable in &variables {
            let (start, end) = (variable.value.start, variable.value.end);
            self.edits.push((start..start, "Box::pin(".to_owned()));
            self.edits.push((end..end, ")".to_owned()));
        }
        let calls = self.syntax.calls.iter();
        for call in calls.filter(|call| call.method == "reset_unpin") {
            let on = call.receiver.clone().map(|on| &self.source[on]);
            if variables.iter().any(|variable| Some(&*variable.name) == on) {
                let reset = ".as_mut().reset(".to_owned();
                self.edits.push((call.opening.clone(), reset));
            } else {
                let what = "`reset_unpin`: of a Pin<Box<Sleep>> .as_mut().reset(…)";
                self.by_hand(call.opening.start, what);
            }
        }
        let types = self.places(&["tokio::time::Sleep", "tokio::time::Timeout"]);
        let pins = |path: &&Path| path.names.join("::").ends_with("Pin::new");
        let paths = self.syntax.paths.iter();
        for path in paths.filter(|path| !types.is_empty() && pins(path)) {
            let what = "`Pin::new`: a Sleep or a Timeout is to be a Pin<Box<_>>, and .as_mut()";
            self.by_hand(path.ranges[0].start, what);
        }
    }

    /// tokio-util's `DelayQueue` is a stream, and has no `next` of its own.
    fn queues(&mut self) {
        let calls = self.syntax.calls.iter();
        let nexts = calls.filter(|call| call.method == "next" && call.awaits());
        let is_there = |path: &Path| {
            self.scope
                .is_below(&path.names, "tokio_util::time::DelayQueue")
        };
        let has_queue = self.syntax.paths.iter().any(is_there) && !self.scope.has_other_streams();
        for call in nexts.filter(|_| has_queue) {
            let what =
                "`next` of a DelayQueue: std::future::poll_fn(|cx| queue.poll_expired(cx)).await";
            self.by_hand(call.opening.start, what);
        }
    }

    /// A stream's error is another type there.
    fn errors(&mut self) {
        if !self.scope.has_streams() {
            return;
        }
        for at in self.places(&[ELAPSED]) {
            self.by_hand(
                at,
                "`Elapsed`: where it is a stream's, tokio_stream::Elapsed",
            );
        }
    }

    /// A `Wheel` stays, and so does what its timers are.
    fn handles(&mut self) {
        let is_handle = |path: &Path| self.scope.is_below(&path.names, "wheel::Wheel");
        if !self.syntax.paths.iter().any(is_handle) {
            return;
        }
        for at in self.places(&OF_HANDLES) {
            self.by_hand(at, "a `Wheel` makes what wheel calls so, and not tokio");
        }
    }

    /// Of two types that become one, a trait is implemented once.
    fn implementations(&mut self) {
        let syntax = self.syntax;
        let mut known = HashSet::new();
        let types = syntax.paths.iter();
        let types = types.filter(|path| {
            self.scope
                .theirs(&path.names)
                .any(|path| is_own_type(&path))
        });
        let types: Vec<usize> = types.map(|path| path.ranges[0].start).collect();
        let is_impl = |item: &&Public| {
            let mut types = types.iter();
            self.source[item.range.clone()].starts_with("impl")
                && types.any(|at| item.range.contains(at))
        };
        let items: Vec<&Public> = syntax.public.iter().filter(is_impl).collect();
        for item in items {
            if !known.insert(self.with_their_names(item.range.clone())) {
                self.by_hand(
                    item.range.start,
                    "implemented twice for the same type: take one out",
                );
            }
        }
    }

    /// Without spaces.
    fn with_their_names(&self, range: Range<usize>) -> String {
        let mut text = self.source[range.clone()].to_owned();
        for path in self.syntax.paths.iter().rev() {
            let last = path.ranges.len() - 1;
            let (start, end) = (path.ranges[0].start, path.ranges[last].end);
            if range.contains(&start) {
                let theirs = self.scope.theirs(&path.names).next().unwrap_or_default();
                text.replace_range(start - range.start..end - range.start, &theirs.join("::"));
            }
        }
        text.split_whitespace().collect()
    }
}
