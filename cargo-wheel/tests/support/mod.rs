//! A small service, and the commands that run on it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

/// The builds share their dependencies, and some tests measure. So one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

pub(crate) const MAIN: &str = r#"
    #[tokio::main]
    async fn main() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        println!("{}", std::any::type_name::<tokio::time::Sleep>());
    }
"#;

/// A package in a folder of its own.
pub(crate) struct Service(pub(crate) PathBuf);

impl Service {
    pub(crate) fn new(name: &str, dependencies: &str, main: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("with a space").join(name);
        let _ = fs::remove_dir_all(&folder);
        let service = Service(folder);
        let head = "[package]\nname = \"service\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[features]\nextra = []\n";
        let tokio =
            "tokio = { version = \"1\", features = [\"macros\", \"rt-multi-thread\", \"time\"] }";
        service.write("Cargo.toml", &format!("{head}[dependencies]\n{tokio}\n{dependencies}"));
        service.write("src/main.rs", main);
        service
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.0.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap()
    }

    /// A dependency of the service's that requires a tokio.
    pub(crate) fn older(&self, requirement: &str) {
        let manifest = "[package]\nname = \"older\"\nversion = \"1.2.3\"\nedition = \"2021\"\n\n[dependencies]\n";
        self.write("older/Cargo.toml", &format!("{manifest}tokio = \"{requirement}\"\n"));
        self.write("older/src/lib.rs", "");
    }

    pub(crate) fn command(&self, program: &str, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command.args(arguments.split(' ')).current_dir(&self.0).stdin(Stdio::null());
        command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("a build"));
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
        command
    }

    pub(crate) fn cargo(&self, arguments: &str) -> String {
        let output = self.command(env!("CARGO"), arguments).output().unwrap();
        assert!(output.status.success(), "{arguments}: {}", printed(&output).1);
        printed(&output).0
    }

    pub(crate) fn wheel(&self, arguments: &str) -> Command {
        self.command(env!("CARGO_BIN_EXE_cargo-wheel"), &format!("wheel {arguments}"))
    }

    /// Returns what a command prints, after checking its exit status.
    pub(crate) fn run(&self, arguments: &str, status: i32) -> (String, String) {
        let output = self.wheel(arguments).output().unwrap();
        let (out, err) = printed(&output);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {out}{err}");
        (out, err)
    }

    /// Returns the files of the service, and their texts.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        found
    }

    /// Fails if a command changes a file of the service, or adds one.
    pub(crate) fn unchanged<T>(&self, command: impl FnOnce() -> T) -> T {
        let before = self.files();
        let result = command();
        let after = self.files();
        let changed = after.iter().filter(|(path, text)| before.get(*path) != Some(*text));
        assert_eq!(Vec::from_iter(changed.map(|(path, _)| path)), Vec::<&PathBuf>::new());
        assert_eq!(before.len(), after.len());
        result
    }

    pub(crate) fn signal(&self, child: &Child, signal: &str) {
        let killed = Command::new("kill").arg(signal).arg(child.id().to_string()).status();
        assert!(killed.unwrap().success());
    }
}

pub(crate) fn printed(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

pub(crate) fn alone() -> impl Drop {
    ALONE.lock().unwrap_or_else(|error| error.into_inner())
}
