//! Three nodes of openraft in one process, on openraft-memstore and a network of direct calls. The clients write to the
//! leader, which has a timeout of 50 ms around each append to a follower.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, Result, ensure};
use load::{Counter, LIMIT, Load, on_workers};
use openraft::error::{InstallSnapshotError, RPCError, RaftError, RemoteError};
use openraft::network::{RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use openraft::storage::Adaptor;
use openraft::{Config, Raft};
use openraft_memstore::{ClientRequest, MemStore, TypeConfig};

type Node = Raft<TypeConfig>;
type Rpc<T, E = RaftError<u64>> = Result<T, RPCError<u64, (), E>>;

#[derive(Clone, Default)]
struct Network(Arc<Mutex<HashMap<u64, Node>>>);

impl Network {
    fn node(&self, id: u64) -> Node {
        self.0.lock().expect("no panic")[&id].clone()
    }
}

impl RaftNetworkFactory<TypeConfig> for Network {
    type Network = Connection;

    async fn new_client(&mut self, target: u64, _: &()) -> Connection {
        Connection(target, self.node(target))
    }
}

struct Connection(u64, Node);

/// Implements each call with the other node's function of that name.
macro_rules! calls {
    ($($name:ident($request:ty) -> $response:ty, $error:ty;)*) => {
        impl RaftNetwork<TypeConfig> for Connection {
            $(async fn $name(&mut self, request: $request, _: RPCOption) -> Rpc<$response, $error> {
                let answer = self.1.$name(request).await;
                answer.map_err(|error| RemoteError::new(self.0, error).into())
            })*
        }
    };
}

calls! {
    append_entries(AppendEntriesRequest<TypeConfig>) -> AppendEntriesResponse<u64>, RaftError<u64>;
    install_snapshot(InstallSnapshotRequest<TypeConfig>) -> InstallSnapshotResponse<u64>, RaftError<u64, InstallSnapshotError>;
    vote(VoteRequest<u64>) -> VoteResponse<u64>, RaftError<u64>;
}

fn main() -> Result<()> {
    on_workers(async |seconds, size| {
        // The defaults, except that the leader is not replaced when the machine stops for 150 ms.
        let config = Config {
            election_timeout_min: 2000,
            election_timeout_max: 4000,
            ..Config::default()
        };
        let (config, network) = (Arc::new(config.validate()?), Network::default());
        let mut stores = Vec::new();
        for id in 0..3 {
            let store = MemStore::new_async().await;
            let (log, machine) = Adaptor::new(store.clone());
            let node = Node::new(id, config.clone(), network.clone(), log, machine).await?;
            network.0.lock().expect("no panic").insert(id, node);
            stores.push(store);
        }
        let wait = |node: Node| node.wait(Some(10 * LIMIT));
        let first = network.node(0);
        first.initialize(BTreeSet::from([0, 1, 2])).await?;
        let elected = wait(first)
            .metrics(|metrics| metrics.current_leader.is_some(), "a leader")
            .await?;
        let leader = network.node(elected.current_leader.context("a leader")?);
        let load = Load::new(size);
        let tasks = load.spawn(|client| writes(client, leader.clone()));
        let done = load.run(seconds, tasks).await?;
        let last = leader.metrics().borrow().last_log_index;
        for (id, store) in (0..).zip(stores) {
            wait(network.node(id))
                .applied_index_at_least(last, "all applied")
                .await?;
            let machine = store.get_state_machine().await;
            let writes = machine.client_serial_responses.values();
            let written: u64 = writes.map(|(serial, _)| serial + 1).sum();
            ensure!(written == done, "node {id} has {written} of {done} writes");
        }
        Ok(())
    })
}

async fn writes(client: Counter, leader: Node) {
    let (name, mut before) = (client.task().to_string(), None);
    for (serial, _) in (0..).zip(client.numbers()) {
        let status = format!("status {serial}");
        let request = ClientRequest {
            client: name.clone(),
            serial,
            status: status.clone(),
        };
        let answer = leader.client_write(request).await.expect("a write");
        assert_eq!(answer.data.0, before, "the client's status before");
        before = Some(status);
    }
}
