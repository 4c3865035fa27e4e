//! The implementations that are compared, and how a program is built on each.
//!
//! The patched tree is built from a copy of the manifest and the lock file, so that the committed ones do not change.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use self::Side::{Alt, Bare, Import, Other, Tokio, Tree};
use crate::Options;
use crate::program::Program;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The timers that a program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    Tokio,
    /// Tokio's alternative timer: `--cfg tokio_unstable` and `enable_alt_timer`
    Alt,
    /// Calls without a timeout, of `actor` and `ractor` only, if asked for
    Bare,
    /// tokio-wheel in the program's own code, by changing the import
    Import,
    /// tokio-wheel in the whole tree, by patching it
    Tree,
    /// The same with the tokio-wheel of another checkout, which `--other` names
    #[value(skip)]
    Other,
}

/// All of them, in the order of the tables.
pub(crate) const ALL: [Side; 6] = [Tokio, Bare, Alt, Import, Tree, Other];

/// Builds the program on each side that it runs on, and returns the paths of the binaries.
pub(crate) fn build_all(program: &Program, options: &Options) -> Result<Vec<(Side, PathBuf)>> {
    let asked = |side| match side {
        Tokio => true,
        Other => options.other.is_some(),
        Bare => options.sides.contains(&Bare),
        _ => options.sides.is_empty() || options.sides.contains(&side),
    };
    let sides = ALL.into_iter();
    let sides = sides.filter(|side| side.runs(program) && asked(*side));
    sides
        .map(|side| Ok((side, side.build(program, options)?)))
        .collect()
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tokio => "tokio",
            Bare => "no timeouts",
            Alt => "alternative timer",
            Import => "import changed",
            Tree => "tree patched",
            Other => "tree patched, other checkout",
        }
    }

    /// Whether it has tokio-wheel's timers.
    pub(crate) fn is_wheel(self) -> bool {
        matches!(self, Import | Tree | Other)
    }

    fn runs(self, program: &Program) -> bool {
        match self {
            Tokio | Tree | Other => true,
            Bare => program.has_bare(),
            Alt => program.has_workers(),
            Import => program.imports,
        }
    }

    fn build(self, program: &Program, options: &Options) -> Result<PathBuf> {
        let runner = env::current_exe()?;
        let target = runner.ancestors().nth(2).context("a target directory")?;
        let mut cargo = Command::new("cargo");
        let (binary, _) = program.binary();
        let (mut folder, mut features) = (HERE.into(), binary.to_owned());
        let target = match self {
            Tokio => target.to_owned(),
            Alt => {
                cargo.env("RUSTFLAGS", "--cfg tokio_unstable");
                target.join("alt")
            }
            Bare => {
                features += ",bare";
                target.join("bare")
            }
            Import => {
                features += ",import";
                target.join("import")
            }
            Tree | Other => {
                let checkout = match (&options.other, self) {
                    (Some(path), Other) => path,
                    _ => &Path::new(HERE).join("../.."),
                };
                let checkout = fs::canonicalize(checkout)?;
                let name = checkout.file_name().context("a folder's name")?;
                let tool = ["run", "--quiet", "--package", "cargo-wheel"];
                cargo.args(tool).arg("--manifest-path");
                cargo.arg(checkout.join("Cargo.toml"));
                // In one folder, Cargo would take the tool of one checkout for another's.
                folder = copy(&target.join("tree").join(name))?;
                cargo.arg("--target-dir").arg(folder.join("tool"));
                cargo.args(["--", "try", "--"]);
                folder.join("target")
            }
        };
        cargo.args(["build", "--release", "--bin", binary]);
        cargo.args(["--features", &features]);
        // Without this, `cargo wheel` would build in a folder of its own.
        cargo.arg("--target-dir").arg(&target);
        finished(cargo.current_dir(folder).env("CARGO_TARGET_DIR", &target))?;
        Ok(target.join("release").join(binary))
    }
}

/// Creates a folder with the sources, the lock file and the manifest, except its lines about tokio-wheel, which the patched
/// Tokio brings.
fn copy(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let here = Path::new(HERE);
    let manifest = fs::read_to_string(here.join("Cargo.toml"))?;
    let kept = manifest.lines().filter(|line| !line.contains("wheel"));
    let kept: Vec<_> = kept.collect();
    let manifest = kept
        .join("\n")
        .replace("path = \"", &format!("path = \"{HERE}/"));
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(here.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    // A checkout elsewhere may have left a link to its own sources.
    let _ = fs::remove_file(folder.join("src"));
    symlink(here.join("src"), folder.join("src"))?;
    Ok(folder.to_owned())
}

fn finished(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}
