//! A glob takes from this crate what it takes from `tokio::time`, and nothing that hides a crate; that it compiles is
//! most of the test. That each name is there, `drop_in.rs` proves.
#![cfg(feature = "full")]

/// A module of a service that said `use tokio::time::*;`, and uses the crates whose names
/// are those of this crate's features.
macro_rules! service {
    ($module:ident, $glob:path) => {
        mod $module {
            use $glob::*;

            use hyper::body::Bytes;
            use tower::ServiceExt as _;

            pub(super) async fn serve() -> Result<Bytes, tower::BoxError> {
                let echo = tower::service_fn(async |body: Bytes| Ok::<_, tower::BoxError>(body));
                metrics::counter!("requests").increment(1);
                sleep(Duration::from_millis(1)).await;
                let body = echo.oneshot(Bytes::from_static(b"hello"));
                timeout(Duration::from_secs(60), body).await?
            }

            /// The methods of other crates' traits, unambiguous.
            pub(super) async fn others() -> Option<u8> {
                use futures::FutureExt as _;
                use tokio_util::future::FutureExt as _;

                let limit = tokio::time::Duration::from_secs(60);
                async { 5 }.boxed().timeout(limit).await.ok()
            }
        }
    };
}

service!(root, wheel);
service!(module, wheel::time);

#[tokio::test]
async fn what_stood_beside_tokios_glob_stands_beside_ours() {
    assert_eq!(root::serve().await.unwrap(), "hello");
    assert_eq!(module::serve().await.unwrap(), "hello");
    assert_eq!(root::others().await, Some(5));
    assert_eq!(module::others().await, Some(5));
}

/// Every form of import, with one word replaced: this compiles against both.
macro_rules! imports {
    ($module:ident, $tokio:ident) => {
        mod $module {
            use ::$tokio::{
                time,
                time::{self as clock, error, error::Elapsed, sleep as nap},
            };

            pub(super) async fn late() -> Result<(), Elapsed> {
                let late: Result<(), error::Elapsed> =
                    time::timeout(clock::Duration::ZERO, std::future::pending()).await;
                nap(time::Duration::ZERO).await;
                $tokio::time::sleep($tokio::time::Duration::ZERO).await;
                late
            }
        }
    };
}

imports!(on_tokio, tokio);
imports!(on_wheel, wheel);

#[tokio::test]
async fn one_word_moves_every_form_of_import() {
    assert!(on_tokio::late().await.is_err());
    assert!(on_wheel::late().await.is_err());
}

/// Two globs with one name between them do not compile where that is used. Here the other
/// glob has what this crate has besides.
mod other {
    pub(super) struct Wheel;
    pub(super) struct Builder;
    pub(super) struct DelayQueue;
    pub(super) struct TimingWheel;
    pub(super) struct WheelMetrics;
    pub(super) struct FutureExt;
    pub(super) struct StreamExt;
    pub(super) fn metrics() {}
    pub(super) mod ext {}
    pub(super) mod stats {}
    pub(super) mod time {}
}

#[test]
#[allow(unused_imports, reason = "to see that they are not ambiguous")]
fn wheel_time_has_no_more_than_tokio_time() {
    use other::*;
    use wheel::time::*;

    // As types: a unit struct is a value, too, which ours are not.
    let _: Option<(Wheel, Builder, DelayQueue, TimingWheel, WheelMetrics)> = None;
    let _: Option<(FutureExt, StreamExt)> = None;
    metrics();
    {
        use {ext as _, stats as _, time as _};
    }
    let _: Duration = Duration::ZERO;
}
