//! A program on the whole tree.

mod guard;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::time::sleep(tokio::time::Duration::from_millis(1)).await;
    println!("{}", std::any::type_name::<tokio::time::Sleep>());
}
