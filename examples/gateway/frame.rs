//! The protocol: every message, both ways and on every connection, is a frame of 16 bytes.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const SIZE: usize = 16;

/// Enough for what usually waits in a socket; more is read in turns.
const BUFFER: usize = 64 * SIZE;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// Which request or call this is, or answers.
    pub(crate) number: u64,
    /// From the gateway to a client: how many backends answered. Zero elsewhere.
    pub(crate) value: u64,
}

impl Frame {
    pub(crate) fn new(number: u64) -> Self {
        Frame { number, value: 0 }
    }

    fn encode(self) -> [u8; SIZE] {
        let both = u128::from(self.number) << 64 | u128::from(self.value);
        both.to_be_bytes()
    }

    fn decode(bytes: [u8; SIZE]) -> Self {
        let both = u128::from_be_bytes(bytes);
        Frame {
            number: (both >> 64) as u64,
            value: both as u64,
        }
    }
}

/// Writes frames with one system call, as far as the socket takes them.
pub(crate) async fn send(
    socket: &mut (impl AsyncWrite + Unpin),
    frames: &[Frame],
) -> io::Result<()> {
    let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.encode()).collect();
    socket.write_all(&bytes).await
}

/// Reads frames. `next` may be dropped at any await and loses nothing, which a `select!` loop
/// needs and `read_exact` does not give: half a frame stays in the buffer.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    socket: R,
    buffer: Box<[u8; BUFFER]>,
    start: usize,
    end: usize,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(socket: R) -> Self {
        Frames {
            socket,
            buffer: Box::new([0; BUFFER]),
            start: 0,
            end: 0,
        }
    }

    /// The next frame, or `None` once the other side has closed.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take() {
                return Ok(Some(frame));
            }
            self.make_room();
            let read = self.socket.read(&mut self.buffer[self.end..]).await?;
            if read == 0 {
                return self.closed();
            }
            self.end += read;
        }
    }

    fn take(&mut self) -> Option<Frame> {
        let bytes = self.buffer[self.start..self.end].first_chunk()?;
        let frame = Frame::decode(*bytes);
        self.start += SIZE;
        Some(frame)
    }

    /// Moves what is left, less than a frame, to the front.
    fn make_room(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    fn closed(&self) -> io::Result<Option<Frame>> {
        match self.end {
            0 => Ok(None),
            _ => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "closed inside a frame",
            )),
        }
    }
}
