//! A package that is not moved for want of a crate, and a workspace, moved and moved back.

use std::fs;
use std::path::{MAIN_SEPARATOR_STR, Path};

use clap::Parser as _;

use super::{Options, migrate};

#[test]
fn without_a_place_to_take_it_from_nothing_is_written() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = library.join("target/wheel-migrate-nowhere");
    let manifest = "[package]\n[dependencies]\ntokio = \"1\"\n";
    let files = [
        ("Cargo.toml", manifest),
        ("src/main.rs", "use tokio::time;\n"),
    ];
    fs::create_dir_all(root.join("src")).unwrap();
    for (name, text) in files {
        fs::write(root.join(name), text).unwrap();
    }
    let run = |arguments: &[&str]| {
        let all = [&["", root.to_str().unwrap()], arguments].concat();
        migrate(&Options::parse_from(all))
    };
    let is_as_before = |(name, text)| fs::read_to_string(root.join(name)).unwrap() == text;
    let refusal = run(&["--write"]).err().map(|error| error.to_string());
    let refusal = refusal.expect("nothing is published yet");
    assert!(refusal.contains("--path"), "{refusal}");
    assert!(files.into_iter().all(is_as_before));
    // To look is allowed, and so is what takes no published crate.
    assert!(run(&[]).unwrap().1);
    assert!(run(&["--write", "--git", "u"]).unwrap().1);
    assert!(run(&["--write", "--back"]).unwrap().1);
    let time = "tokio = { version = \"1\", features = [\"time\"] }";
    let manifest = &manifest.replace("tokio = \"1\"", time);
    assert!(is_as_before(("Cargo.toml", manifest)) && is_as_before(files[1]));
    // Lines are those of the file as the user then has it.
    let mixed = "use wheel::{time, Wheel};\nfn f(w: wheel::Builder) {}\n";
    fs::write(root.join("src/main.rs"), mixed).unwrap();
    assert!(
        run(&["--back"])
            .unwrap()
            .0
            .contains("main.rs:2: `wheel::Builder`")
    );
    let (told, _) = run(&["--back", "--write"]).unwrap();
    assert!(told.contains("main.rs:3: `wheel::Builder`"), "{told}");
}

const MANIFEST: &str = "[workspace]\n[workspace.dependencies]\n\
    rt = { package = \"tokio\", version = \"1\", features = [\"time\"] }\n";
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
    let public = ["b", "src", "lib.rs:1: pub use"].join(MAIN_SEPARATOR_STR);
    assert!(has_changes && told.contains(&public), "{told}");
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
    // What takes its place is inherited, too.
    let moved = ["Cargo.toml", "a/Cargo.toml"].map(|name| (name, read(name)));
    fs::write(root.join("a/src/lib.rs"), "use wheel::DelayQueue;\n").unwrap();
    run(&["--back", "--write"]);
    let root_has = "tokio-util = { version = \"0.7.16\" }\n";
    assert_eq!(read("Cargo.toml"), format!("{MANIFEST}{root_has}"));
    let inherited = "tokio-util = { workspace = true, features = [\"time\"] }\n";
    assert_eq!(read("a/Cargo.toml"), format!("{}{inherited}", FILES[1].1));
    for (name, text) in moved {
        fs::write(root.join(name), text).unwrap();
    }
    fs::write(root.join("a/src/lib.rs"), "use wheel::time;\n").unwrap();
    run(&["--back", "--write"]);
    assert!(FILES.iter().all(|(name, text)| read(name) == *text));
    // There already.
    let there = format!("{MANIFEST}tokio-wheel = \"1\"\n");
    fs::write(root.join("Cargo.toml"), &there).unwrap();
    run(&["--write"]);
    assert_eq!(read("Cargo.toml"), there);
}
