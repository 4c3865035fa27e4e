//! Commands on redis's `MultiplexedConnection`, each under the client's default response timeout, to a responder in
//! another process.

use anyhow::Result;
use load::peer::{against_peer, serve};
use load::{Caller, Load};
use redis::RedisResult;
use redis::aio::MultiplexedConnection;

fn main() -> Result<()> {
    let start = async |port, load: &Load| {
        let client = redis::Client::open(format!("redis://127.0.0.1:{port}"))?;
        let connection = client.get_multiplexed_async_connection().await?;
        Ok(load.spawn(|counter| get(counter, connection.clone())))
    };
    against_peer(start, peer)
}

async fn get(mut caller: Caller, mut connection: MultiplexedConnection) {
    while let Some(number) = caller.next().await {
        let mut command = redis::cmd("GET");
        let value: RedisResult<u64> = command.arg(number).query_async(&mut connection).await;
        assert_eq!(value.expect("a value in time"), number);
    }
}

/// Answers each `GET` with its key, and anything else, such as what the client sends first, with `OK`.
fn peer() -> Result<()> {
    serve(|requests, answers| {
        let (mut length, mut count) = (0, 0);
        while let Some((end, arguments)) = command(&requests[length..]) {
            match arguments[..] {
                [b"GET", key] => {
                    answers.extend_from_slice(format!("${}\r\n", key.len()).as_bytes());
                    answers.extend_from_slice(key);
                    answers.extend_from_slice(b"\r\n");
                    count += 1;
                }
                _ => answers.extend_from_slice(b"+OK\r\n"),
            }
            length += end;
        }
        (length, count)
    })
}

/// The length and the arguments of the first command, if all of it is there: `*2 $3 GET $1 7`, with a line for each word.
fn command(requests: &[u8]) -> Option<(usize, Vec<&[u8]>)> {
    let (mut at, arguments) = number(requests, 0)?;
    let mut words = Vec::with_capacity(arguments);
    for _ in 0..arguments {
        let (start, length) = number(requests, at)?;
        at = start + length + 2;
        words.push(requests.get(start..at)?.strip_suffix(b"\r\n")?);
    }
    Some((at, words))
}

/// Returns the start of the next line, and the number that follows the first byte of this line.
fn number(requests: &[u8], line: usize) -> Option<(usize, usize)> {
    let rest = requests.get(line + 1..)?;
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let digits = str::from_utf8(rest[..end].trim_ascii_end()).ok()?;
    Some((line + 1 + end + 1, digits.parse().ok()?))
}
