//! The packages in `examples/whole-tree`, and what the guide's page promises about them.
#![cfg(unix)]

#[allow(dead_code, reason = "the tests of the commands use all of it")]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toml_edit::DocumentMut;

use support::{MAIN, Service, alone, printed};

/// The folder of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The version of tokio that the tree follows.
fn tokio() -> String {
    let manifest = fs::read_to_string(examples().join("tokio/Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \"")).unwrap();
    version.replace("+wheel\"", "")
}

fn examples() -> PathBuf {
    root().join("examples/whole-tree")
}

/// A service with a copy of an example, whose paths lead to a tree in its folder.
fn example(name: &str, at: &str) -> Service {
    let service = Service::new(at, "", MAIN);
    service.run("patch", 0);
    fs::remove_file(service.0.join("Cargo.lock")).unwrap();
    copy(&examples().join(name), &service.0);
    let manifest = service.read("Cargo.toml");
    let manifest = manifest.replace("\"../../..\"", &format!("\"{}\"", root().display()));
    service.write("Cargo.toml", &manifest.replace("\"../", "\"whole-tree/"));
    service
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-RPp").arg(from.join(".")).arg(to).status();
    assert!(status.unwrap().success());
}

fn bash(service: &Service, script: &str) -> String {
    let mut bash = service.command("bash", "-euo pipefail -c");
    let output = bash.arg(script).output().unwrap();
    assert!(output.status.success(), "{}", printed(&output).1);
    printed(&output).0
}

const COMMIT: &str = "git init --quiet && git add --all --force && \
    git -c user.name=ci -c user.email=ci@localhost -c commit.gpgsign=false commit --quiet --message all";

#[test]
fn the_manifests_are_what_the_command_writes() {
    let _alone = alone();
    let service = Service::new("service", "", MAIN);
    service.run("patch", 0);
    let version = tokio();
    let by_git = format!("git = \"https://github.com/tokio-rs/tokio\", tag = \"tokio-{version}\"");
    for package in ["tokio", "wheel", "guard"] {
        let manifest = format!("{package}/Cargo.toml");
        let committed = fs::read_to_string(examples().join(&manifest)).unwrap();
        let written = service.read(&format!("whole-tree/{manifest}"));
        assert_eq!(
            written.replace("path = \"../real\"", &by_git),
            committed,
            "run .ci/whole-tree follow"
        );
    }
}

/// The tree's copy of this crate has its features and dependencies, except that its tokio is the
/// real one, and that it lacks `default`, `full`, `high-resolution` and what needs hyper, which
/// depends on tokio.
#[test]
fn the_copy_has_what_this_crate_depends_on() {
    let parse = |manifest: PathBuf| -> DocumentMut {
        fs::read_to_string(manifest).unwrap().parse().unwrap()
    };
    let ours = parse(root().join("Cargo.toml"));
    let copy = parse(examples().join("wheel/Cargo.toml"));
    assert_eq!(ours["package"]["version"].as_str(), copy["package"]["version"].as_str());
    let rows = |manifest: &DocumentMut, table: &str| -> Vec<String> {
        let rows = manifest[table].as_table_like().unwrap();
        let rows = rows.iter().map(|(name, item)| match name {
            "tokio" => format!("tokio: {}", item["features"]),
            _ => format!("{name}: {item}"),
        });
        rows.collect()
    };
    for (table, absent) in [
        ("dependencies", &["hyper: "][..]),
        ("features", &["default: ", "full: ", "high-resolution: ", "hyper: "]),
    ] {
        let mut ours = rows(&ours, table);
        ours.retain(|row| !absent.iter().any(|name| row.starts_with(name)));
        assert_eq!(ours, rows(&copy, table));
    }
}

#[test]
fn the_guard_fails_to_build_on_another_tokio() {
    let _alone = alone();
    let service = example("service", "service");
    let manifest = service.read("Cargo.toml");
    assert_eq!(service.cargo("run"), "wheel::sleep::Sleep\n");
    // An older tokio, and the same one, in a lock file from before the patch.
    for version in ["1.49.0".to_owned(), tokio()] {
        fs::remove_file(service.0.join("Cargo.lock")).unwrap();
        let off = manifest.split("[dependencies.tokio-wheel-guard]").next().unwrap();
        service.write("Cargo.toml", off);
        service.cargo(&format!("update tokio --precise {version}"));
        service.write("Cargo.toml", &manifest);
        let (_, err) = printed(&service.command(env!("CARGO"), "build").output().unwrap());
        assert!(
            err.contains("not the whole tree's: run `cargo update --recursive tokio`"),
            "{err}"
        );
        service.cargo("update --recursive tokio");
        assert_eq!(service.cargo("run"), "wheel::sleep::Sleep\n");
    }
}

#[test]
fn the_differences_are_those_of_the_page() {
    let _alone = alone();
    let service = example("differences", "service");
    let config = "patch.crates-io.tokio.path='whole-tree/tokio'";
    service.cargo(&format!("--config {config} test"));
    let unstable = format!("--config {config} test --test driver_task");
    let unstable =
        service.command(env!("CARGO"), &unstable).env("RUSTFLAGS", "--cfg tokio_unstable").output();
    assert!(unstable.as_ref().unwrap().status.success(), "{}", printed(&unstable.unwrap()).1);
}

/// The manifests as they are committed: the patch by git, tokio by its tag, and both vendored. A
/// repository that is made of the registry's package takes the place of tokio's. Cargo has a home
/// of its own, so that no other build sees that.
#[test]
fn the_committed_manifests_work_by_git() {
    let _alone = alone();
    let service = example("service", "service");
    let [real, ours] = ["tokio.git", "ours.git"].map(|name| service.0.join(name));
    fs::create_dir(&real).unwrap();
    copy(&service.0.join("whole-tree/real"), &real);
    for folder in ["src", "cargo-wheel/templates", "examples/whole-tree"] {
        fs::create_dir_all(ours.join(folder)).unwrap();
        copy(&root().join(folder), &ours.join(folder));
    }
    for file in ["Cargo.toml", "README.md"] {
        fs::copy(root().join(file), ours.join(file)).unwrap();
    }
    let version = tokio();
    bash(
        &service,
        &format!(
            "cd tokio.git && {COMMIT} && git tag tokio-{version} && cd ../ours.git && {COMMIT} && git tag v0"
        ),
    );
    let off = service.read("Cargo.toml");
    service.write("Cargo.toml", off.split("[dependencies.tokio-wheel-guard]").next().unwrap());
    fs::remove_dir_all(service.0.join("whole-tree")).unwrap();
    let script = format!(
        "home=$PWD/home shared=${{CARGO_HOME:-$HOME/.cargo}}
        mkdir $home
        for name in registry config.toml; do [ ! -e $shared/$name ] || ln -s $shared/$name $home; done
        export CARGO_HOME=$home CARGO_NET_GIT_FETCH_WITH_CLI=true GIT_CONFIG_COUNT=1
        export GIT_CONFIG_KEY_0='url.file://{}.insteadOf' GIT_CONFIG_VALUE_0=https://github.com/tokio-rs/tokio
        printf '\\n[patch.crates-io.tokio]\\ngit = \"file://{}\"\\ntag = \"v0\"\\n' >>Cargo.toml
        cargo run
        mkdir .cargo
        cargo vendor --quiet vendor >.cargo/config.toml
        cargo run --offline",
        real.display(), ours.display()
    );
    let script = script.replace("$home", "\"$home\"").replace("$shared", "\"$shared\"");
    let printed = bash(&service, &script.replace("home=\"$PWD\"", "home=$PWD"));
    assert_eq!(printed, "wheel::sleep::Sleep\n".repeat(2));
}

/// The commands of a page of the guide and of the folder's README, one block after the other, in a service beside a clone.
#[test]
fn the_commands_of_the_page_work() {
    let _alone = alone();
    let service = example("service", "guide/service");
    let clone = service.0.join("../tokio-wheel/examples/whole-tree");
    fs::create_dir_all(clone.parent().unwrap()).unwrap();
    let _ = fs::remove_dir_all(&clone);
    fs::rename(service.0.join("whole-tree"), &clone).unwrap();
    let off = service.read("Cargo.toml");
    service.write("Cargo.toml", off.split("[dependencies.tokio-wheel-guard]").next().unwrap());
    service.cargo("update tokio --precise 1.49.0");
    let read = |page: &str| fs::read_to_string(root().join(page)).unwrap();
    let pages = ["src/docs/whole_tree.md", "examples/whole-tree/README.md"].map(read).concat();
    let blocks = pages.split("```sh\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let commands: String = blocks.collect();
    assert!(commands.lines().count() > 10, "{commands}");
    let bin = Path::new(env!("CARGO_BIN_EXE_cargo-wheel")).parent().unwrap();
    bash(&service, &format!("{COMMIT} && PATH='{}':$PATH && set -x\n{commands}", bin.display()));
}
