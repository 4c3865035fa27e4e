//! The line in `Cargo.toml`.

/// What a package needs: where, and with which features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    /// In what is built for users too, and not for tests, examples and benches alone.
    pub(crate) library: bool,
    pub(crate) stream: bool,
    /// For the tests: paused clocks.
    pub(crate) test_util: bool,
}

impl Needs {
    pub(crate) fn add(&mut self, more: &Needs) {
        self.library |= more.library;
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
    let mut features = if needs.stream { vec!["stream"] } else { vec![] };
    if needs.library {
        added.insert("dependencies", &dependency(&features, path));
        features.clear();
    }
    if needs.test_util {
        features.push("test-util");
    }
    if needs.test_util || !needs.library {
        added.insert("dev-dependencies", &dependency(&features, path));
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
        let is_head = |line: &str| line.split('#').next().unwrap_or(line).trim() == head;
        let mut lines: Vec<String> = self.text.split_inclusive('\n').map(str::to_owned).collect();
        // As the other lines end.
        let newline = match self.text.contains("\r\n") {
            true => "\r\n",
            false => "\n",
        };
        let at = lines.iter().position(|line| is_head(line));
        let at = at.unwrap_or_else(|| {
            if !self.text.ends_with('\n') {
                lines.push(newline.to_owned());
            }
            lines.extend([newline.to_owned(), head.clone() + newline]);
            lines.len() - 1
        });
        if !lines[at].ends_with('\n') {
            lines[at] += newline;
        }
        lines.insert(at + 1, format!("{line}{newline}"));
        self.text = lines.concat();
        self.lines.push(format!("{head} {line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Needs, add};

    const LIBRARY: Needs = Needs {
        library: true,
        stream: false,
        test_util: false,
    };
    const TESTS: Needs = Needs {
        library: false,
        stream: true,
        test_util: true,
    };

    fn added(manifest: &str, needs: &Needs) -> String {
        add(manifest, needs, Some("x")).text
    }

    #[test]
    fn a_line_goes_below_the_head_of_its_table_and_ends_as_the_others() {
        let line = "tokio-wheel = { path = \"x\" }";
        for (before, after) in [
            (
                "[dependencies]\na = \"1\"\n",
                format!("[dependencies]\n{line}\na = \"1\"\n"),
            ),
            (
                "[dependencies] # of b\n",
                format!("[dependencies] # of b\n{line}\n"),
            ),
            ("[dependencies]", format!("[dependencies]\n{line}\n")),
            (
                "[a]\r\n",
                format!("[a]\r\n\r\n[dependencies]\r\n{line}\r\n"),
            ),
            ("[a]", format!("[a]\n\n[dependencies]\n{line}\n")),
        ] {
            assert_eq!(added(before, &LIBRARY), after);
        }
    }

    #[test]
    fn what_tests_alone_need_is_a_dependency_of_tests_alone() {
        let line = "tokio-wheel = { path = \"x\", features = [\"stream\", \"test-util\"] }";
        let after = format!("\n[dev-dependencies]\n{line}\n");
        assert_eq!(added("", &TESTS), "\n".to_owned() + &after);
        assert_eq!(added("tokio-wheel = \"1\"", &TESTS), "tokio-wheel = \"1\"");
    }
}
