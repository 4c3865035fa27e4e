//! [`Fuse`]: a wrapper that does not poll its stream again after the stream has ended.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use pin_project_lite::pin_project;

pin_project! {
    #[derive(Debug)]
    pub(super) struct Fuse<S> {
        #[pin]
        // `None` after the end, because an ended stream is dropped.
        stream: Option<S>,
    }
}

impl<S> Fuse<S> {
    pub(super) fn new(stream: S) -> Self {
        let stream = Some(stream);
        Fuse { stream }
    }
}

impl<S: Stream> Stream for Fuse<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stream = self.project().stream;
        let Some(running) = stream.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let item = ready!(running.poll_next(cx));
        if item.is_none() {
            stream.set(None);
        }
        Poll::Ready(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let running = self.stream.as_ref();
        running.map_or((0, Some(0)), Stream::size_hint)
    }
}
