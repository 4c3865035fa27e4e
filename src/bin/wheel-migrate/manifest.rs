//! The line in `Cargo.toml`.

/// The features that a package needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) stream: bool,
    /// For the tests: paused clocks.
    pub(crate) test_util: bool,
}

impl Needs {
    pub(crate) fn add(&mut self, more: &Needs) {
        self.stream |= more.stream;
        self.test_util |= more.test_util;
    }
}

pub(crate) struct Added {
    pub(crate) text: String,
    pub(crate) lines: Vec<String>,
}

/// Adds the dependency, unless there is one: then somebody has settled its features.
pub(crate) fn add(manifest: &str, needs: &Needs, path: Option<&str>) -> Added {
    let mut added = Added {
        text: manifest.to_owned(),
        lines: Vec::new(),
    };
    if manifest.contains("tokio-wheel") {
        return added;
    }
    let features = if needs.stream { vec!["stream"] } else { vec![] };
    added.insert("dependencies", &dependency(&features, path));
    if needs.test_util {
        added.insert("dev-dependencies", &dependency(&["test-util"], path));
    }
    added
}

fn dependency(features: &[&str], path: Option<&str>) -> String {
    let from = match path {
        Some(path) => format!("path = {path:?}"),
        None => format!("version = {:?}", env!("CARGO_PKG_VERSION")),
    };
    match features {
        [] => format!("tokio-wheel = {{ {from} }}"),
        _ => format!("tokio-wheel = {{ {from}, features = {features:?} }}"),
    }
}

impl Added {
    /// Below the table's head, which is made at the end if there is none.
    fn insert(&mut self, table: &str, line: &str) {
        let head = format!("[{table}]");
        let mut lines: Vec<&str> = self.text.lines().collect();
        match lines.iter().position(|line| line.trim() == head) {
            Some(at) => lines.insert(at + 1, line),
            None => lines.extend(["", &head, line]),
        }
        self.text = lines.join("\n") + "\n";
        self.lines.push(format!("{head} {line}"));
    }
}
