//! Each command, on small services.
#![cfg(unix)]

mod support;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, UNIX_EPOCH};
use std::{env, fs, io, thread};

use support::{MAIN, Service, alone, printed};

#[test]
fn try_leaves_nothing_behind() {
    let _alone = alone();
    let service =
        Service::new("service", "\n[patch.crates-io]\nspin = { path = \"spin\" }\n", MAIN);
    service.write("spin/Cargo.toml", "[package]\nname = \"spin\"\nversion = \"9.0.0\"\n");
    service.write("spin/src/lib.rs", "");
    let (out, err) = service.unchanged(|| service.run("try -- run --features extra", 0));
    assert_eq!(out, "wheel::sleep::Sleep\n");
    assert!(err.contains("timers moved: those of service\n"), "{err}");
    service.cargo("update tokio --precise 1.49.0");
    assert!(service.read("Cargo.lock").contains("1.49.0"));
    fs::set_permissions(service.0.join("Cargo.lock"), Permissions::from_mode(0o444)).unwrap();
    let path = service.0.join("Cargo.toml");
    let mut elsewhere = service.wheel("--manifest-path");
    elsewhere.arg(&path).args(["try", "--", "run"]).current_dir(env!("CARGO_TARGET_TMPDIR"));
    let output = service.unchanged(|| elsewhere.output().unwrap());
    assert_eq!(printed(&output).0, "wheel::sleep::Sleep\n", "{}", printed(&output).1);
    let (_, err) = service.unchanged(|| service.run("try -- run --manifest-path Cargo.toml", 2));
    assert!(err.contains("before the --"), "{err}");
    for command in ["add serde", "rm tokio", "fmt", "clippy --fix"] {
        let (_, err) = service.unchanged(|| service.run(&format!("try -- {command}"), 2));
        assert!(err.contains(&format!("cargo {command} would change the service itself")), "{err}");
    }
    service.unchanged(|| service.run("try -- run --bin absent", 101));
}

#[test]
fn patch_and_undo() {
    let _alone = alone();
    let service = Service::new("service", "", MAIN);
    service.cargo("update tokio --precise 1.49.0");
    service.unchanged(|| {
        service.run("patch", 0);
        assert_eq!(service.cargo("run --locked"), "wheel::sleep::Sleep\n");
        let (_, err) = service.run("patch", 2);
        assert!(err.contains("Cargo.toml:11 patches tokio already"), "{err}");
        assert!(service.run("check", 0).0.contains("Cargo.toml:11: patched: "));
        // The guard changes the lock file, which is restored all the same.
        let manifest = service.read("Cargo.toml");
        let guard = "\n[dependencies.tokio-wheel-guard]\npath = \"whole-tree/guard\"\n";
        service.write("Cargo.toml", &(manifest.clone() + guard));
        service.cargo("metadata --format-version 1");
        assert!(service.read("Cargo.lock").contains("guard"));
        let (_, err) = service.run("patch --undo", 2);
        assert!(err.contains("Cargo.toml:15: remove the dependency on tokio-wheel-guard"), "{err}");
        service.write("Cargo.toml", &manifest);
        let (out, _) = service.run("patch --undo", 0);
        assert!(out.contains("Cargo.lock is as before"), "{out}");
    });
    service.unchanged(|| service.run("patch --undo", 2));
    let mut offline = service.wheel("patch");
    offline.env("CARGO_HOME", service.0.join("../no home")).env("CARGO_NET_OFFLINE", "true");
    let (_, err) = printed(&service.unchanged(|| offline.output().unwrap()));
    assert!(err.contains("error: cargo cannot get tokio 1.54.1 from the registry"), "{err}");
    // What changes in between is kept.
    service.run("patch", 0);
    let manifest =
        service.read("Cargo.toml").replace("[dependencies]", "[dependencies]\nslab = \"0.4\"");
    service.write("Cargo.toml", &(manifest + "\n# The end\n").replace('\n', "\r\n"));
    service.cargo("check");
    // An earlier run may have ended here.
    fs::remove_dir_all(service.0.join("whole-tree")).unwrap();
    let (out, _) = service.run("patch --undo", 0);
    assert!(out.contains("Cargo.lock has changed since"), "{out}");
    let manifest = service.read("Cargo.toml");
    assert!(manifest.contains("slab") && !manifest.contains("patch"), "{manifest}");
    assert!(manifest.ends_with("] }\r\n\r\n# The end\r\n"), "{manifest}");
    assert_eq!(service.cargo("run"), "tokio::time::sleep::Sleep\n");
    assert!(!service.read("Cargo.lock").contains("wheel"));
}

/// The guard in a member of the workspace: its path is right, and `--undo` sees it.
#[test]
fn a_guard_in_a_member() {
    let _alone = alone();
    let service = Service::new("service", "", MAIN);
    let member = service.read("Cargo.toml").replace("[workspace]\n", "");
    service.write("a/b/Cargo.toml", &member);
    service.write("a/b/src/main.rs", MAIN);
    service.write("Cargo.toml", "[workspace]\nmembers = [\"a/b\"]\nresolver = \"3\"\n");
    let (out, _) = service.run("patch", 0);
    let (_, guard) = out.split_once("in a/b/Cargo.toml, below [dependencies]:\n    ").unwrap();
    let guard = guard.lines().next().unwrap();
    assert!(guard.contains("\"../../whole-tree/guard\""), "{guard}");
    service.write("a/b/Cargo.toml", &(member.clone() + guard + "\n"));
    service.cargo("metadata --format-version 1");
    let (_, err) = service.run("patch --undo", 2);
    assert!(err.contains("a/b/Cargo.toml:9: remove the dependency"), "{err}");
    service.cargo("metadata --format-version 1");
}

/// The copy of Tokio is proved, has no tests, and says what it is. The lock file for cargo-audit is
/// the service's without the patch, plus what tokio-wheel depends on.
#[test]
fn verify() {
    let _alone = alone();
    let service = Service::new("service", "", MAIN);
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
    assert!(service.run("patch --verify", 2).1.contains("not patched"));
    let off = packages(&service.read("Cargo.lock"));
    service.run("patch", 0);
    assert!(!service.0.join("whole-tree/real/tests").exists());
    assert_eq!(service.read("whole-tree/README.md").lines().count(), 3);
    let (out, _) = service.run("patch --verify", 0);
    let (_, file) = out.trim_end().split_once("cargo audit --file ").unwrap();
    let audited = fs::read_to_string(service.0.join(file.trim_matches('\''))).unwrap();
    let without = packages(&audited);
    assert!(!audited.contains("wheel"), "{audited}");
    assert!(off.iter().all(|package| without.contains(package)), "{off:#?}\n{without:#?}");
    // What is changed, added or removed.
    let builder = "whole-tree/real/src/runtime/builder.rs";
    service.write(builder, &service.read(builder).replace("61", "62"));
    service.write("whole-tree/real/src/added.rs", "");
    fs::remove_file(service.0.join("whole-tree/wheel/src/lib.rs")).unwrap();
    let (out, _) = service.run("patch --verify", 1);
    let differing = ["real/src/added.rs", "real/src/runtime/builder.rs", "wheel/src/lib.rs"];
    let differing = differing.map(|file| format!("whole-tree/{file}: this differs"));
    assert_eq!(Vec::from_iter(out.lines().skip(1).take(3)), differing);
}

/// The obstacles that the page about the whole tree has, and a service without tokio.
#[test]
fn obstacles() {
    let _alone = alone();
    // A requirement that excludes the tree's version.
    let service = Service::new("service", "older = { path = \"older\" }\n", MAIN);
    service.older("~1.49");
    service.cargo("generate-lockfile");
    let wanted =
        "older/Cargo.toml:7: older 1.2.3 requires tokio ~1.49, which excludes 1.54.1: change that";
    for (command, status) in [("check", 1), ("try -- run", 2), ("patch", 2), ("compare -- run", 2)]
    {
        let (out, err) = service.unchanged(|| service.run(command, status));
        assert!((out + &err).contains(wanted), "{command}");
    }
    // A lock file from before the patch, and another locked package that is old.
    let service = Service::new("service", "slab = \"0.4\"\n", MAIN);
    service.cargo("update slab --precise 0.4.1");
    service.cargo("update tokio --precise 1.44.0");
    let (out, _) = service.unchanged(|| service.run("check", 0));
    assert!(out.contains("Cargo.lock has tokio 1.44.0. compare and try use"), "{out}");
    service.unchanged(|| service.run("try -- check", 0));
    // Two versions of tokio.
    let service =
        Service::new("service", "old = { package = \"tokio\", version = \"0.2\" }\n", MAIN);
    service.cargo("update tokio@1 --precise 1.49.0");
    service.unchanged(|| service.run("try -- check", 0));
    // A copy of tokio-wheel, which is a note, and the alternative timer, which is an obstacle.
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().display();
    let on = format!(
        "tokio-wheel = {{ path = \"{clone}\" }}\n[dev-dependencies]\ntokio-wheel = {{ path = \"{clone}\" }}\n"
    );
    let main = MAIN
        .replace("async", "// a.enable_alt_timer()\nfn f() { a.enable_alt_timer() }\n    async");
    let service = Service::new("service", &on, &main);
    let (out, _) = service.unchanged(|| service.run("check", 1));
    assert!(out.contains("\n  src/main.rs:4: enable_alt_timer: remove this call"), "{out}");
    assert_eq!(out.matches("enable_alt_timer").count(), 1, "{out}");
    service.write("src/main.rs", MAIN);
    let (out, _) = service.unchanged(|| service.run("check", 0));
    assert!(out.contains("\n  Cargo.toml:10: service 0.1.0 depends on tokio-wheel"), "{out}");
    assert!(out.contains("\n  Cargo.toml:12: service 0.1.0 depends on tokio-wheel"), "{out}");
    assert!(!out.contains("  tokio-wheel 0") && !out.contains("Obstacles"), "{out}");
    let (_, err) = service.unchanged(|| service.run("try -- check", 0));
    assert!(err.contains("note: Cargo.toml:10: service 0.1.0 depends on tokio-wheel"), "{err}");
    // A patch in cargo's configuration.
    let service = Service::new("service", "", MAIN);
    service.write(".cargo/config.toml", "[patch.crates-io]\ntokio.path = \"fork\"\n");
    let fork = "[package]\nname = \"tokio\"\nversion = \"1.99.0\"\n[features]\nmacros = []\nrt-multi-thread = []\ntime = []\n";
    service.write("fork/Cargo.toml", fork);
    service.write("fork/src/lib.rs", "");
    let (out, _) = service.unchanged(|| service.run("check", 1));
    assert!(out.contains("fork#tokio@1.99.0 is not the tokio of crates.io: remove"), "{out}");
    // The same into a closed pipe.
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let status = service.wheel("check").stdout(writer).status().unwrap();
    assert_eq!(status.code(), Some(1));
    // No tokio at all.
    let service = Service::new("service", "", "fn main() {}");
    service.write("Cargo.toml", &service.read("Cargo.toml").replace("tokio =", "# tokio ="));
    let (_, err) = service.unchanged(|| service.run("try -- run", 2));
    assert!(err.contains("no package of this workspace depends on tokio 1"), "{err}");
}

#[test]
fn compare_has_a_column_and_a_verdict_for_each_side() {
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
    let service = Service::new("service", "", main);
    let metric = "compare --rounds 6 --alternative --metric timers -- run --release";
    let output = service.unchanged(|| service.wheel(metric).output().unwrap());
    let (out, err) = printed(&output);
    // Which side is faster depends on the machine and on what else it does. The status is 1 if tokio-wheel is slower.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{out}{err}");
    let verdicts = ["is faster than tokio", "is slower than tokio", "No clear difference between"];
    assert!(verdicts.iter().any(|verdict| out.contains(verdict)), "{out}");
    let row = |name: &str| out.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("│ timers ").contains("3,840,000 "), "{out}");
    assert_eq!(row("timers armed per second").matches(" - ").count(), 4, "{out}");
    assert!(row("│ seconds ").matches('┆').count() == 5 && out.contains("alternative"), "{out}");
}

#[test]
fn compare_without_a_verdict() {
    let _alone = alone();
    let main = "fn main() { std::thread::sleep(std::time::Duration::from_millis(100)); println!(\"it ends\") }";
    let service = Service::new("service", "", main);
    let (out, _) = service.unchanged(|| service.run("compare --rounds 10 -- run --locked", 0));
    let last = |out: &str| out.lines().last().unwrap().to_owned();
    assert_eq!(last(&out), "No clear difference between tokio and tokio-wheel.", "{out}");
    assert!(out.contains("\n0 timers are armed per second. Gains begin at"), "{out}");
    let (out, _) = service.run("compare --rounds 1 -- run", 0);
    assert_eq!(last(&out), "No verdict: that takes 6 rounds or more.", "{out}");
    // What is wrong is found before the second build, and the cause stands first.
    let fails = |command: &str, cause: &str| {
        let (_, err) = service.unchanged(|| service.run(command, 2));
        assert!(!err.contains("building on tokio-wheel"), "{err}");
        let (_, error) = err.split_once("error: ").unwrap();
        assert!(error.starts_with(cause), "{err}");
    };
    fails("compare -- build", "cargo has run no program");
    fails("compare --metric absent -- run", "no number follows 'absent' in what was printed");
    fails("compare --load true --signal SIGWHAT -- run", "invalid value 'SIGWHAT'");
    service.write("src/main.rs", &main.replace("println!", "panic!"));
    fails("compare -- run", "the program has failed: exit status: 101\n");
}

#[test]
fn compare_a_server_under_load() {
    const WAIT: &str = "for _ in $(seq 400); do test -e ready && break; sleep 0.05; done";
    let _alone = alone();
    let main = r#"
        use tokio::signal::unix::{SignalKind, signal};

        #[tokio::main]
        async fn main() {
            let mut end = signal(SignalKind::hangup()).unwrap();
            std::fs::write("ready", "").unwrap();
            let timer = std::time::Duration::from_secs(300);
            let _ = tokio::time::timeout(timer, end.recv()).await;
            println!("served 5");
        }
    "#;
    let service = Service::new("service", "", main);
    service
        .write("Cargo.toml", &service.read("Cargo.toml").replace("macros", "macros\", \"signal"));
    let run = |load: &str, status| {
        let mut command = service.wheel("compare --rounds 6 --signal SIGHUP");
        command.args(["--load", load, "--metric", "served", "--less", "took", "--", "run"]);
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
    let (out, _) = run(&format!("{WAIT}; ls ready && rm ready && echo took 7"), 0);
    assert!(out.contains("served") && out.contains("7 (7–7)"), "{out}");
    // Without a number, there is no verdict.
    let load = format!("{WAIT}; rm ready");
    let mut command = service.wheel("compare --rounds 6 --signal SIGHUP --load");
    let output = service.unchanged(|| command.args([&load, "--", "run"]).output().unwrap());
    assert!(printed(&output).0.contains("No verdict: a load may take a fixed time."));
    let (_, err) = run(&format!("{load}; echo missed; exit 3"), 2);
    assert!(err.contains("error: the load has failed: exit status: 3\n"), "{err}");
    let mut command = service.wheel("timers --signal SIGHUP --load");
    let output = service.unchanged(|| command.args([&load, "--", "run"]).output().unwrap());
    let (out, err) = printed(&output);
    assert!(out.contains("src/main.rs:9 "), "{out}{err}");
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
                // On a loaded machine, it elapses.
                let _ = timeout(Duration::from_micros(300), yield_now()).await;
            }
        }
    "#;
    let service = Service::new("service", "", main);
    let (out, err) = service.unchanged(|| service.run("timers -- run", 0));
    let table = out.rsplit_once(" seconds:\n").unwrap().1;
    let row = |line: &str| {
        table.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{out}{err}"))
    };
    let cells = |line: &str| -> Vec<_> {
        row(line).split('┆').map(|cell| cell.trim_matches([' ', '│'])).collect()
    };
    let seventh = cells("src/main.rs:7 ");
    assert_eq!(seventh[2..4], ["100 %", "0 %"], "{out}");
    // On a loaded machine, timers are armed late.
    assert!(seventh[4] == "5s" || seventh[4].starts_with("4.9"), "{out}");
    assert_eq!(cells("src/main.rs:8 ")[2..], ["0 %", "100 %", "10ms"], "{out}");
    assert!(row("src/main.rs:10 ").contains("µs │"), "{out}");
    // No empty tables.
    service.write("src/main.rs", "fn main() { std::process::exit(3) }");
    assert_eq!(service.unchanged(|| service.run("timers -- run", 3)).0, "");
    service.write("src/main.rs", "fn main() {}");
    assert_eq!(service.run("timers -- run", 0).0, "No timer was armed.\n");
}

/// A command that is killed or interrupted leaves nothing behind but its own folder in `target`.
#[test]
fn ten_ends_at_random() {
    let _alone = alone();
    let main = r#"
        #[tokio::main]
        async fn main() {
            // An orphan of `try` is not measured.
            if std::env::var_os("CARGO_WHEEL_REPORT").is_some() {
                std::fs::write("../id", std::process::id().to_string()).unwrap();
            }
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        }
    "#;
    let service = Service::new("service", "", main);
    service.write("../id", "");
    service.cargo("update tokio --precise 1.49.0");
    let commands =
        ["try -- run", "timers -- run", "compare --rounds 1 -- run", "check", "try -- check"];
    for number in 0..10 {
        let nanos = UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
        let pause = Duration::from_millis(u64::from(nanos / 1000 % 2000));
        let command = commands[number % commands.len()];
        eprintln!("{command}: killed after {pause:?}");
        service.unchanged(|| {
            let mut child = service.wheel(command).spawn().unwrap();
            thread::sleep(pause);
            service.signal(&child, ["-KILL", "-INT"][number % 2]);
            child.wait().unwrap();
        });
    }
    // A program that is measured ends with the command that measures it.
    service.write("../id", "");
    let mut child = service.wheel("compare --rounds 1 -- run").spawn().unwrap();
    while service.read("../id").is_empty() {
        assert!(child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(20));
    }
    service.signal(&child, "-KILL");
    child.wait().unwrap();
    let (start, id) = (Instant::now(), service.read("../id"));
    while service.command("kill", "-0").arg(&id).output().unwrap().status.success() {
        assert!(start.elapsed() < Duration::from_secs(50), "{id}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn two_at_once() {
    let _alone = alone();
    let main = MAIN.replace("from_millis(1)", "from_secs(2)");
    let service = Service::new("service", "", &main);
    service.cargo("update tokio --precise 1.49.0");
    service.unchanged(|| {
        let both = [0, 1].map(|_| {
            let mut command = service.wheel("try -- run");
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        });
        let both = both.map(|child| child.wait_with_output().unwrap());
        for output in &both {
            assert_eq!(printed(output).0, "wheel::sleep::Sleep\n", "{}", printed(output).1);
        }
        let waited = both.iter().filter(|output| printed(output).1.contains("waiting for another"));
        assert_eq!(waited.count(), 1);
    });
}
