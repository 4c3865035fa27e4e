//! `cargo run --release -p gateway -- --help`

use std::process::ExitCode;

fn main() -> ExitCode {
    gateway::command_line()
}
