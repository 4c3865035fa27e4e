//! Reading another runtime's clock: no test from outside reads a clock within tokio's calls.

use std::sync::mpsc::{Sender, channel};

use tokio::runtime::{Builder, Handle};

use super::now_in;

/// When it is dropped, sends whether that runtime's clock can be read.
struct Asks(Handle, Sender<bool>);

impl Drop for Asks {
    fn drop(&mut self) {
        let _ = self.1.send(now_in(&self.0).is_some());
    }
}

/// A runtime that has shut down drops a task that is spawned on it, and tokio keeps the current
/// handle borrowed meanwhile.
#[test]
fn a_clock_is_not_read_while_tokio_lends_the_current_handle() {
    let runtime = || Builder::new_current_thread().enable_time().build().unwrap();
    let (asked, ended) = (runtime(), runtime());
    let (sender, answers) = channel();
    let asks = |handle: &Handle| Asks(handle.clone(), sender.clone());
    drop(asks(asked.handle()));
    assert_eq!(answers.try_recv(), Ok(true));
    let current = ended.handle().clone();
    let _inside = current.enter();
    drop(ended);
    let dropped = asks(asked.handle());
    drop(tokio::spawn(async move { drop(dropped) }));
    assert_eq!(answers.try_recv(), Ok(false));
}
