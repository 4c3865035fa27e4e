//! `metadata` requests of russh-sftp over an in-memory stream, under the crate's default timeout of 10 s. 64 callers share
//! one session, or each has its own.

use std::sync::Arc;

use anyhow::Result;
use load::{Counter, Load, on_workers};
use russh_sftp::client::SftpSession;
use russh_sftp::protocol::{Attrs, FileAttributes, StatusCode};
use russh_sftp::server::{self, Handler};

const CALLERS: usize = 64;

struct Server(Counter);

impl Handler for Server {
    type Error = StatusCode;

    fn unimplemented(&self) -> StatusCode {
        StatusCode::OpUnsupported
    }

    /// Reports a file's name as its size.
    async fn stat(&mut self, id: u32, path: String) -> Result<Attrs, StatusCode> {
        self.0.done();
        let mut attrs = FileAttributes::empty();
        attrs.size = Some(path.parse().map_err(|_| StatusCode::NoSuchFile)?);
        Ok(Attrs { id, attrs })
    }
}

fn main() -> Result<()> {
    on_workers(async |seconds, size| {
        let (load, served, mut sessions) = (Load::new(CALLERS), Load::new(size), Vec::new());
        for counter in served.counters() {
            let (client, stream) = tokio::io::duplex(64 * 1024);
            server::run(stream, Server(counter)).await;
            sessions.push(Arc::new(SftpSession::new(client).await?));
        }
        let tasks = load.spawn(|caller| {
            let session = sessions[caller.task() % size].clone();
            requests(caller, session)
        });
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}

async fn requests(caller: Counter, session: Arc<SftpSession>) {
    for number in caller.numbers() {
        let answer = session.metadata(number.to_string()).await;
        assert_eq!(answer.expect("an answer in time").size, Some(number));
    }
}
