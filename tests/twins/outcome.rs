//! How a body ended, and the panics on the way: as a line between two processes, and for readers.

use std::fmt;

use serde_json::{Value, json};

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With this value, as `Debug` shows it.
    Finished(String),
    Panicked(Panic),
    /// Not within the watchdog's patience.
    Hung,
    /// By the first panic, where it ends the process.
    Aborted(Panic),
    /// In another way, and said nothing.
    Died(String),
}

/// A panic's words; and the line, if it is one of a body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Panic {
    pub(crate) words: String,
    pub(crate) line: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    /// All of them, on all threads, in alphabetical order.
    pub(crate) panics: Vec<Panic>,
}

impl End {
    pub(crate) fn is(&self, expected: &End) -> bool {
        match (self, expected) {
            (End::Panicked(panic), End::Panicked(expected)) => panic.words == expected.words,
            _ => self == expected,
        }
    }
}

impl Panic {
    fn to_json(&self) -> Value {
        json!([self.words, self.line])
    }

    fn of_json(value: &Value) -> Option<Self> {
        Some(Panic {
            words: value[0].as_str()?.to_owned(),
            line: value[1].as_str().map(str::to_owned),
        })
    }
}

impl Outcome {
    /// Ours may name the caller's line where tokio's names one of its own.
    pub(crate) fn agrees_with(&self, theirs: &Outcome) -> bool {
        let mut ours = self.clone();
        let end = match (&mut ours.end, &theirs.end) {
            (End::Panicked(ours), End::Panicked(theirs))
            | (End::Aborted(ours), End::Aborted(theirs)) => Some((ours, theirs)),
            _ => None,
        };
        for (ours, theirs) in end
            .into_iter()
            .chain(ours.panics.iter_mut().zip(&theirs.panics))
        {
            if theirs.line.is_none() {
                ours.line = None;
            }
        }
        ours == *theirs
    }

    pub(crate) fn to_line(&self) -> String {
        let panics: Vec<_> = self.panics.iter().map(Panic::to_json).collect();
        let end = match &self.end {
            End::Finished(value) => json!(["finished", value]),
            End::Panicked(panic) => json!(["panicked", panic.to_json()]),
            End::Aborted(panic) => json!(["aborted", panic.to_json()]),
            End::Died(status) => json!(["died", status]),
            End::Hung => json!(["hung", null]),
        };
        json!([end, panics]).to_string()
    }

    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let what = &value[0][1];
        let end = match value[0][0].as_str()? {
            "finished" => End::Finished(what.as_str()?.to_owned()),
            "panicked" => End::Panicked(Panic::of_json(what)?),
            "aborted" => End::Aborted(Panic::of_json(what)?),
            "died" => End::Died(what.as_str()?.to_owned()),
            _ => End::Hung,
        };
        let panics = value[1]
            .as_array()?
            .iter()
            .map(Panic::of_json)
            .collect::<Option<_>>()?;
        Some(Outcome { end, panics })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.end)?;
        let mut panics = &self.panics[..];
        while let Some(first) = panics.first() {
            let like = panics.iter().take_while(|panic| *panic == first).count();
            write!(f, "\n    {like} × {first}")?;
            panics = &panics[like..];
        }
        Ok(())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Finished(value) => write!(f, "finished: {value}"),
            End::Panicked(panic) => write!(f, "panicked: {panic}"),
            End::Aborted(panic) => write!(f, "aborted: {panic}"),
            End::Died(status) => write!(f, "died: {status}"),
            End::Hung => write!(f, "hung"),
        }
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "“{}”", self.words)?;
        self.line
            .iter()
            .try_for_each(|line| write!(f, " at {line}"))
    }
}
