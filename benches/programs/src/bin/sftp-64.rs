//! `metadata` requests of russh-sftp over an in-memory stream, under the crate's default timeout of 10 s. Each caller
//! has a session of its own.

use anyhow::Result;
use load::{CALLERS, Caller, Counter, Load, on_workers};
use russh_sftp::client::SftpSession;
use russh_sftp::protocol::{Attrs, FileAttributes, StatusCode};
use russh_sftp::server::{self, Handler};

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
    on_workers(async |seconds| {
        let [load, served] = [(); 2].map(|()| Load::new(CALLERS));
        let mut sessions = Vec::new();
        for counter in served.counters() {
            let (client, stream) = tokio::io::duplex(64 * 1024);
            server::run(stream, Server(counter)).await;
            sessions.push(SftpSession::new(client).await?);
        }
        let mut sessions = sessions.into_iter();
        let tasks = load.spawn(|caller| requests(caller, sessions.next().expect("a session")));
        load.finish(seconds, tasks, || Ok(served.total())).await
    })
}

async fn requests(mut caller: Caller, session: SftpSession) {
    while let Some(number) = caller.next().await {
        let answer = session.metadata(number.to_string()).await;
        assert_eq!(answer.expect("an answer in time").size, Some(number));
    }
}
