//! Pages, their links, comments and the table of hazards are true. These tests read the sources, which
//! a copy of the crate alone may not have.

mod hazards;
mod pages;
mod stale;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the project, as a path from its root, with `/` on every system.
fn files() -> Vec<PathBuf> {
    let mut folders = vec![root().to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_symlink() {
                continue;
            }
            if !path.is_dir() {
                let path = path.strip_prefix(root()).unwrap();
                let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
                files.push(PathBuf::from(parts.join("/")));
            } else if !["target", ".git"].contains(&name) {
                folders.push(path);
            }
        }
    }
    files
}
