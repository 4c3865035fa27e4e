//! A single error for everything that is late.

use std::fmt;

use tokio::time::error::Elapsed;

#[derive(Debug)]
pub enum Error {
    Late,
    Upstream(String),
}

impl From<Elapsed> for Error {
    fn from(_: Elapsed) -> Self {
        Error::Late
    }
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        Error::Upstream(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Late => f.write_str("late"),
            Error::Upstream(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for Error {}

/// Whether an error from anywhere says that something was late.
pub fn is_late(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<Elapsed>()
        || error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_an_error() {
    let never = tokio::time::timeout(
        tokio::time::Duration::from_secs(1),
        std::future::pending::<()>(),
    );
    let elapsed = never.await.unwrap_err();
    assert!(is_late(&elapsed));
    assert!(is_late(&std::io::Error::from(elapsed)));
}
