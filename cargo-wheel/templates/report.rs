//! Writes what was counted to a file of this process, five times a second and when a driver ends.
//! `cargo wheel` reads the files.

use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, path::PathBuf, process, thread};

use tokio::runtime::Handle;

use super::{counts, original};

const PAUSE: Duration = Duration::from_millis(200);

static DRIVERS: Mutex<Vec<crate::Metrics>> = Mutex::new(Vec::new());

/// When the first driver has started.
static START: LazyLock<Instant> = LazyLock::new(|| {
    thread::spawn(|| {
        loop {
            thread::sleep(PAUSE);
            write();
        }
    });
    Instant::now()
});

#[track_caller]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static, handle: &Handle) {
    DRIVERS.lock().expect("not poisoned").push(crate::metrics());
    LazyLock::force(&START);
    let reported = async {
        // Dropped after the task, which is the driver.
        let _end = End;
        task.await;
    };
    original::spawn(reported, handle);
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        write();
    }
}

/// A file appears as a whole, because it is renamed.
fn write() {
    let Some(folder) = env::var_os("CARGO_WHEEL_REPORT").map(PathBuf::from) else {
        return;
    };
    // The lock is held until the end, so that one thread writes at a time.
    let drivers = DRIVERS.lock().expect("not poisoned");
    let text = format!("{}\n{}", START.elapsed().as_micros(), counts::text(&drivers));
    let file = folder.join(process::id().to_string());
    let new = file.with_extension("new");
    // A folder that is gone means that nobody reads any more.
    let _ = fs::write(&new, text).and_then(|()| fs::rename(&new, &file));
}
