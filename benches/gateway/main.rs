//! The program: `cargo run --release -p gateway -- --help`

fn main() -> anyhow::Result<()> {
    gateway::command_line()
}
