//! Each command, on small services.
#![cfg(unix)]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use support::{MAIN, Service, alone, printed};

#[test]
fn try_leaves_nothing_behind() {
    let _alone = alone();
    let service = Service::new("try", "\n[patch.crates-io]\nspin = { path = \"spin\" }\n", MAIN);
    service.write("spin/Cargo.toml", "[package]\nname = \"spin\"\nversion = \"9.0.0\"\n");
    service.write("spin/src/lib.rs", "");
    let (out, err) = service.unchanged(|| service.run("try -- run --features extra", 0));
    assert_eq!(out, "wheel::sleep::Sleep\n");
    assert!(err.contains("timers moved: those of service\n"), "{err}");
    service.cargo("update tokio --precise 1.49.0");
    assert!(service.read("Cargo.lock").contains("1.49.0"));
    let path = service.0.join("Cargo.toml");
    let mut elsewhere = service.wheel("--manifest-path");
    elsewhere.arg(&path).args(["try", "--", "run"]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    let output = service.unchanged(|| elsewhere.output().unwrap());
    assert_eq!(printed(&output).0, "wheel::sleep::Sleep\n", "{}", printed(&output).1);
    let (_, err) = service.unchanged(|| service.run("try -- run --manifest-path Cargo.toml", 2));
    assert!(err.contains("before the --"), "{err}");
    service.unchanged(|| service.run("try -- run --bin absent", 101));
}

#[test]
fn patch_and_undo() {
    let _alone = alone();
    let service = Service::new("patch", "", MAIN);
    service.cargo("update tokio --precise 1.49.0");
    service.unchanged(|| {
        service.run("patch", 0);
        assert_eq!(service.cargo("run --locked"), "wheel::sleep::Sleep\n");
        let (_, err) = service.run("patch", 2);
        assert!(err.contains("Cargo.toml:11 patches tokio already"), "{err}");
        let manifest = service.read("Cargo.toml");
        let guard = "\n[dependencies.tokio-wheel-guard]\npath = \"whole-tree/guard\"\n";
        service.write("Cargo.toml", &(manifest.clone() + guard));
        let (_, err) = service.run("patch --undo", 2);
        assert!(err.contains("remove the dependency on whole-tree/guard first"), "{err}");
        service.write("Cargo.toml", &manifest);
        service.run("patch --undo", 0);
    });
    service.unchanged(|| service.run("patch --undo", 2));
    // What changes in between is kept.
    service.run("patch", 0);
    let manifest =
        service.read("Cargo.toml").replace("[dependencies]", "[dependencies]\nslab = \"0.4\"");
    service.write("Cargo.toml", &manifest);
    service.cargo("check");
    service.run("patch --undo", 0);
    assert!(
        service.read("Cargo.toml").contains("slab")
            && !service.read("Cargo.toml").contains("patch")
    );
    assert_eq!(service.cargo("run"), "tokio::time::sleep::Sleep\n");
    assert!(!service.read("Cargo.lock").contains("wheel"));
}

/// The obstacles that the page about the whole tree has, and a service without tokio.
#[test]
fn obstacles() {
    let _alone = alone();
    // A requirement that excludes the tree's version.
    let service = Service::new("obstacles", "older = { path = \"older\" }\n", MAIN);
    service.older("~1.49");
    service.cargo("generate-lockfile");
    let wanted = "older/Cargo.toml:7: older 1.2.3 requires tokio ~1.49, and the tree has";
    for (command, status) in [("check", 1), ("try -- run", 2), ("patch", 2), ("compare -- run", 2)]
    {
        let (out, err) = service.unchanged(|| service.run(command, status));
        assert!((out + &err).contains(wanted), "{command}");
    }
    // A lock file from before the patch, and another locked package that is old.
    let service = Service::new("held", "slab = \"0.4\"\n", MAIN);
    service.cargo("update slab --precise 0.4.1");
    service.cargo("update tokio --precise 1.44.0");
    let (out, _) = service.unchanged(|| service.run("check", 1));
    assert!(out.contains("Cargo.lock has tokio 1.44.0"), "{out}");
    service.unchanged(|| service.run("try -- check", 0));
    // Two versions of tokio.
    let service = Service::new("two", "old = { package = \"tokio\", version = \"0.2\" }\n", MAIN);
    service.cargo("update tokio@1 --precise 1.49.0");
    service.unchanged(|| service.run("try -- check", 0));
    // A copy of tokio-wheel, and the alternative timer.
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display();
    let on = format!(
        "tokio-wheel = {{ path = \"{clone}\" }}\n[dev-dependencies]\ntokio-wheel = {{ path = \"{clone}\" }}\n"
    );
    let main = MAIN.replace("async", "// builder.enable_alt_timer();\n    async");
    let service = Service::new("copies", &on, &main);
    let (out, _) = service.unchanged(|| service.run("check", 1));
    assert!(out.contains("\n  src/main.rs:3: enable_alt_timer: remove this call"), "{out}");
    assert!(out.contains("\n  Cargo.toml:10: service 0.1.0 depends on tokio-wheel."), "{out}");
    assert!(out.contains("\n  Cargo.toml:12: service 0.1.0 depends on tokio-wheel."), "{out}");
    assert!(!out.contains("  tokio-wheel 0"), "{out}");
    let (_, err) = service.unchanged(|| service.run("try -- check", 0));
    assert!(err.contains("WARNING: Cargo.toml:10: service 0.1.0 depends on tokio-wheel."), "{err}");
    // No tokio at all.
    let service = Service::new("none", "", "fn main() {}");
    service.write("Cargo.toml", &service.read("Cargo.toml").replace("tokio =", "# tokio ="));
    let (_, err) = service.unchanged(|| service.run("try -- run", 2));
    assert!(err.contains("Cargo.lock: there is no tokio 1"), "{err}");
}

/// The audited lock file is the service's without the tree, plus what tokio-wheel depends on.
#[test]
fn audit() {
    let _alone = alone();
    let service = Service::new("audit", "", MAIN);
    let packages = |lock: &str| -> Vec<String> {
        let lines = lock.replace("\n \"", " \"").replace("\n]", "]");
        let packages = lines.split("\n[[package]]\n").skip(1);
        let mut packages: Vec<_> = packages
            .map(|package| {
                let kept = package.trim().lines().filter(|line| !line.starts_with("checksum"));
                let mut kept: Vec<_> =
                    kept.map(|line| line.replace([' ', ',', '\n'], "")).collect();
                kept.sort();
                kept.join(" ").replace("\"tokio1.54.1\"", "\"tokio\"")
            })
            .collect();
        packages.sort();
        packages
    };
    service.cargo("generate-lockfile");
    let off = packages(&service.read("Cargo.lock"));
    service.run("patch", 0);
    let tool = service.0.join("bin/cargo-audit");
    service.write(
        "bin/cargo-audit",
        "#!/bin/sh\n[ \"$2\" = --file ] && [ \"$4\" = --json ] && cat \"$3\" && exit 7\n",
    );
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", service.0.join("bin").display(), env::var("PATH").unwrap());
    let audited = || {
        let output = service.wheel("audit -- --json").env("PATH", &path).output().unwrap();
        let (out, err) = printed(&output);
        assert_eq!(output.status.code(), Some(7), "{err}");
        out
    };
    let out = audited();
    let without = packages(&out);
    assert!(!out.contains("wheel"), "{out}");
    assert!(off.iter().all(|package| without.contains(package)), "{off:#?}\n{without:#?}");
    // A release of Tokio that is newer than this command.
    service.write("Cargo.lock", &service.read("Cargo.lock").replace("1.54.1", "1.54.99"));
    let real = "name = \"tokio\"\nversion = \"1.54.99\"\nsource = \"registry+";
    assert!(audited().contains(real));
}

#[test]
fn compare_says_which_is_faster() {
    let _alone = alone();
    let main = r#"
        use std::time::Duration;
        use tokio::{task::yield_now, time::timeout};

        #[tokio::main(worker_threads = 2)]
        async fn main() {
            let one = async || {
                for _ in 0..60_000 {
                    timeout(Duration::from_secs(5), yield_now()).await.unwrap();
                }
            };
            let tasks: Vec<_> = (0..64).map(|_| tokio::spawn(one())).collect();
            for task in tasks {
                task.await.unwrap();
            }
            println!("timers: 3,840,000");
        }
    "#;
    let service = Service::new("faster", "", main);
    let metric = r"compare --rounds 3 --metric timers:\s+([0-9,]+) -- run --release";
    // Other programs may take a processor for some rounds.
    let mut runs = (0..3).map(|_| service.unchanged(|| service.run(metric, 0)).0);
    let out = runs.find(|out| out.contains("\nFaster on tokio-wheel: ")).expect("it is faster");
    let row = |name: &str| out.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("timers:").contains("3,840,000 "), "{out}");
    assert!(row("timers armed per second").contains(" - "), "{out}");
    let service = Service::new(
        "same",
        "",
        "fn main() { std::thread::sleep(std::time::Duration::from_millis(200)) }",
    );
    let (out, _) =
        service.unchanged(|| service.run("compare --rounds 2 -- run --release --locked", 0));
    assert_eq!(
        out.lines().last().unwrap(),
        "No difference beyond the spread of the rounds.",
        "{out}"
    );
    let (_, err) = service.unchanged(|| service.run("compare -- build --release", 2));
    assert!(err.contains("cargo has run no program"), "{err}");
}

#[test]
fn compare_a_server_under_load() {
    let _alone = alone();
    let main = r#"
        use tokio::signal::unix::{SignalKind, signal};

        #[tokio::main]
        async fn main() {
            let mut end = signal(SignalKind::hangup()).unwrap();
            std::fs::write("ready", "").unwrap();
            end.recv().await;
            println!("served 5");
        }
    "#;
    let service = Service::new("server", "", main);
    service
        .write("Cargo.toml", &service.read("Cargo.toml").replace("macros", "macros\", \"signal"));
    let run = |load: &str, status| {
        let mut command = service.wheel("compare --rounds 1 --signal SIGHUP");
        command.args([
            "--load",
            load,
            "--metric",
            "served ([0-9]+)",
            "--less",
            "took ([0-9]+)",
            "--",
            "run",
        ]);
        let output = service.unchanged(|| command.output().unwrap());
        assert_eq!(
            output.status.code(),
            Some(status),
            "{}{}",
            printed(&output).0,
            printed(&output).1
        );
        printed(&output)
    };
    let (out, _) = run("ls ready && rm ready && echo took 7", 0);
    assert!(out.contains("served") && out.contains("7 (7–7)"), "{out}");
    assert!(run("echo missed; exit 3", 2).1.contains("the load has failed"));
}

#[test]
fn timers_names_the_lines() {
    let _alone = alone();
    let main = r#"use std::time::Duration;
        use tokio::{task::yield_now, time::{sleep, timeout}};

        #[tokio::main]
        async fn main() {
            for _ in 0..100 {
                timeout(Duration::from_secs(5), yield_now()).await.unwrap();
                sleep(Duration::from_millis(10)).await;
            }
        }
    "#;
    let service = Service::new("timers", "", main);
    let (out, err) = service.unchanged(|| service.run("timers -- run", 0));
    let table = out.rsplit_once("have armed timers:\n").unwrap().1;
    let row = |line: &str| {
        table.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{out}{err}"))
    };
    let ends = |line: &str, ends: [&str; 3]| {
        let cells: Vec<_> =
            row(line).split('┆').map(|cell| cell.trim_matches([' ', '│'])).collect();
        assert_eq!([cells[2], cells[3], cells[4]], ends, "{out}");
    };
    ends("src/main.rs:7 ", ["100 %", "0 %", "5s"]);
    ends("src/main.rs:8 ", ["0 %", "100 %", "10ms"]);
    assert!(out.contains("2 lines of code"), "{out}");
}

#[test]
fn an_interruption_restores_everything() {
    let _alone = alone();
    let main = r#"
        fn main() {
            println!("it runs");
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
    "#;
    let service = Service::new("interrupted", "", main);
    service.cargo("update tokio --precise 1.49.0");
    for (command, at) in [
        ("try -- run", "it runs"),
        ("try -- build --release", "running "),
        ("compare --rounds 1 -- run", "tokio-wheel/"),
    ] {
        let start = Instant::now();
        let log = service.unchanged(|| service.interrupted(command, at));
        assert!(start.elapsed() < Duration::from_secs(50), "{log}");
    }
}
