//! A workspace, moved and moved back.

use std::fs;
use std::path::Path;

use clap::Parser as _;

use super::{Options, migrate};

const MANIFEST: &str = "[workspace]\n[workspace.dependencies]\n\
    rt = { package = \"tokio\", version = \"1\" }\n";
const FILES: [(&str, &str); 7] = [
    ("Cargo.toml", MANIFEST),
    (
        "a/Cargo.toml",
        "[package]\n[dependencies]\nrt.workspace = true\n",
    ),
    ("a/src/lib.rs", "use rt::time;\n"),
    (
        "b/Cargo.toml",
        "[package]\n[dependencies]\nrt = { workspace = true, optional = true }\n\
         [features]\nb = [\"dep:rt\"]\n",
    ),
    ("b/src/lib.rs", "pub use rt::time::Sleep;\n"),
    (
        "c/Cargo.toml",
        "[package]\n[dev-dependencies]\nrt.workspace = true\n",
    ),
    ("c/src/lib.rs", ""),
];

#[test]
fn what_is_inherited_is_inherited() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = library.join("target/wheel-migrate");
    for (name, text) in FILES {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let run = |arguments: &[&str]| {
        // Relative to where the test runs, and written relative to the manifest.
        let all = [&["", "--path", "../..", root.to_str().unwrap()], arguments].concat();
        migrate(&Options::parse_from(all)).unwrap()
    };
    let (told, has_changes) = run(&["--check"]);
    assert!(
        has_changes && told.contains("b/src/lib.rs:1: pub use"),
        "{told}"
    );
    assert!(FILES.iter().all(|(name, text)| read(name) == *text));
    assert!(run(&["--write"]).1 && !run(&["--check"]).1);
    let inherited = "tokio-wheel = { workspace = true";
    let root_has = "tokio-wheel = { path = \"../..\" }\n";
    assert_eq!(read("Cargo.toml"), format!("{MANIFEST}{root_has}"));
    assert!(read("a/Cargo.toml").ends_with(&format!("{inherited} }}\n")));
    assert!(read("b/Cargo.toml").contains(&format!("{inherited}, optional = true }}\n")));
    assert_eq!(read("c/Cargo.toml"), FILES[5].1);
    // A package keeps it, and so does its workspace.
    fs::write(root.join("a/src/lib.rs"), "use wheel::Builder;\n").unwrap();
    run(&["--back", "--write"]);
    assert!(read("Cargo.toml").contains(root_has) && read("a/Cargo.toml").contains(inherited));
    assert_eq!(read("b/Cargo.toml"), FILES[3].1);
    fs::write(root.join("a/src/lib.rs"), "use wheel::time;\n").unwrap();
    run(&["--back", "--write"]);
    assert!(FILES.iter().all(|(name, text)| read(name) == *text));
    // There already.
    let there = format!("{MANIFEST}tokio-wheel = \"1\"\n");
    fs::write(root.join("Cargo.toml"), &there).unwrap();
    run(&["--write"]);
    assert_eq!(read("Cargo.toml"), there);
}
