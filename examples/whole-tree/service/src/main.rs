//! Sleeps, and prints whose timer that was: `wheel::sleep::Sleep` on the whole tree.

use tokio::time::{Duration, Sleep, sleep};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    sleep(Duration::from_millis(1)).await;
    println!("{}", std::any::type_name::<Sleep>());
}
