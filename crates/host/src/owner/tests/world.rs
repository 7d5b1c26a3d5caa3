//! A host with one server that is ready. The server's connection is a channel that the test reads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use domain::call::CallFailure;
use mcp_proto::Revision;
use mcp_proto::session::{CallError, ServerFacts, ServerResult};
use mcp_proto::types::{CallToolResult, ListEntry, ServerCapabilities, Tool};
use offers::catalog::ServerCatalog;
use policy::{ApprovalScope, Hash};
use ports::secrets::SecretsInMemory;
use ports::{Document, Ports};
use serde_json::{Map, json};
use testkit::app::TestPlatform;
use testkit::time::ManualClock;
use tokio::sync::{mpsc, oneshot};

use super::memory::{MemoryDocuments, MemoryLog};
use crate::connection::{CallTicket, Connection, ConnectionCommand, ConnectionEvent, RunId};
use crate::owner::{CallOrigin, Owner};
use crate::view::{ConsentRequestView, ServerState, UserDecision};
use crate::{Host, HostOptions};

/// Name of the test server.
pub(in crate::owner) const SERVER: &str = "s";
/// Tool that the user has allowed permanently.
pub(in crate::owner) const GRANTED_TOOL: &str = "granted";
/// Tool whose calls require the user's consent each time.
pub(in crate::owner) const ASKING_TOOL: &str = "asking";
/// Current run of the test server.
pub(in crate::owner) const RUN: RunId = RunId(1);
/// Documents that the owner writes in these tests.
const WRITTEN_DOCUMENTS: [Document; 3] = [Document::Grants, Document::Policy, Document::Pins];
/// Capacity of the command channel that replaces the server's connection.
const MAX_PENDING_COMMANDS: usize = 64;

/// A future of an operation on the host, polled by the test.
pub(in crate::owner) type CallerFuture<T> = std::pin::Pin<Box<dyn Future<Output = T>>>;

/// A host with one server, whose connection and storage the test controls.
pub(in crate::owner) struct HostFixture {
    pub(in crate::owner) host: Host,
    pub(in crate::owner) log: Arc<MemoryLog>,
    pub(in crate::owner) documents: Arc<MemoryDocuments>,
    pub(in crate::owner) clock: Arc<ManualClock>,
    /// Commands that the server's connection has received.
    pub(in crate::owner) commands: mpsc::Receiver<Box<ConnectionCommand>>,
    _folder: tempfile::TempDir,
}

/// Returns a catalog whose tools have this description.
pub(in crate::owner) fn catalog(description: &str) -> Arc<ServerCatalog> {
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        input_schema: json!({ "type": "object" }),
        ..Tool::default()
    };
    let tools = [GRANTED_TOOL, ASKING_TOOL].map(|name| ListEntry::from(&tool(name))).into();
    Arc::new(ServerCatalog { tools, is_read: true, ..ServerCatalog::default() })
}

/// Returns what the server states about itself in each of its sessions.
pub(in crate::owner) fn server_facts() -> ServerFacts {
    ServerFacts {
        revision: Revision::V2025_11_25,
        server: None,
        capabilities: ServerCapabilities::default(),
        instructions: None,
    }
}

impl HostFixture {
    /// Starts a host with a server that is ready and a permanent grant for [`GRANTED_TOOL`]. Later writes wait for the
    /// test's permission.
    pub(in crate::owner) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("mcp.json");
        std::fs::write(&config, json!({ "mcpServers": { SERVER: { "command": "unused" } } }).to_string()).unwrap();
        let (platform, secrets) = (Arc::new(TestPlatform::default()), Arc::new(SecretsInMemory::default()));
        let (log, documents) = (Arc::new(MemoryLog::default()), Arc::new(MemoryDocuments::default()));
        let clock = ManualClock::new();
        let ports = Ports {
            audit: log.clone(),
            documents: documents.clone(),
            clock: clock.clone(),
            managed: Arc::new(store::SystemPolicyFile::with_path(folder.path().join("managed.json"))),
            ..store::open_with(&config, &folder.path().join("data"), platform, secrets).unwrap()
        };
        let host = Host::start(ports, HostOptions::default()).await;
        let (sender, commands) = mpsc::channel(MAX_PENDING_COMMANDS);
        let connect = move |owner: &mut Owner| {
            owner.servers.runs.insert(RUN, SERVER.to_owned());
            let record = &mut owner.servers.records[SERVER];
            record.set_state(ServerState::Ready);
            record.offer.identity = Some(Hash::of_bytes(b"the approved command"));
            record.session.connection = Some(Connection { run: RUN, sender });
            record.session.facts = Some(server_facts());
            owner.on_connection_event(RUN, ConnectionEvent::Catalog(catalog("as reviewed")));
        };
        host.with_owner(connect).await.unwrap();
        let mut world = Self { host, log, documents, clock, commands, _folder: folder };
        world.allow_permanently().await;
        world.log.delays.store(true, Ordering::SeqCst);
        world.documents.hold_document_writes();
        // From now on, only steps of the test change the state.
        tokio::time::pause();
        world
    }

    async fn allow_permanently(&mut self) {
        let mut call = self.call("setup", GRANTED_TOOL, 0);
        assert!(poll_once(&mut call).await.is_none(), "a new tool requires consent");
        let request = self.requests().await.remove(0);
        self.decide(&request, UserDecision::Allow(ApprovalScope::Always)).await.unwrap();
        let command = self.commands.try_recv().expect("the call is sent");
        let ConnectionCommand::Call { ticket, .. } = *command else { panic!("{command:?} is not a call") };
        self.respond_to_call(ticket).await;
        assert!(call.await.is_ok(), "the call ends with a result");
    }

    /// Returns the future of a tool call, with a number as the only argument. The call begins when the future is
    /// polled.
    pub(in crate::owner) fn call(
        &self,
        id: &str,
        tool: &str,
        number: usize,
    ) -> CallerFuture<Result<CallToolResult, CallFailure>> {
        let (host, id, tool) = (self.host.clone(), id.to_owned(), tool.to_owned());
        let arguments = Map::from_iter([("n".to_owned(), json!(number))]);
        let (sent, _) = oneshot::channel();
        let origin = CallOrigin::User { conversation: None };
        Box::pin(async move { host.call_tool_as(origin, id, SERVER.to_owned(), tool, arguments, sent).await })
    }

    /// Returns the future of a user's decision. The decision is made when the future is polled.
    pub(in crate::owner) fn decide(
        &self,
        request: &ConsentRequestView,
        decision: UserDecision,
    ) -> CallerFuture<Result<(), crate::DecisionError>> {
        let (host, id, hash) = (self.host.clone(), request.id, request.hash.to_string());
        Box::pin(async move { host.decide(id, hash, decision).await })
    }

    /// Returns the pending consent requests.
    pub(in crate::owner) async fn requests(&self) -> Vec<ConsentRequestView> {
        self.host.snapshot().await.unwrap().consent_requests
    }

    /// Delivers a response of the server to the call with this ticket.
    pub(in crate::owner) async fn respond_to_call(&self, ticket: CallTicket) {
        let result = ServerResult::Tool(Box::default());
        self.report(ConnectionEvent::Done { ticket, result: Box::new(Ok::<_, CallError>(result)) }).await;
    }

    /// Delivers a report of the connection to the owner.
    pub(in crate::owner) async fn report(&self, event: ConnectionEvent) {
        self.host.with_owner(move |owner| owner.on_connection_event(RUN, event)).await.unwrap();
    }

    /// Returns `true` if the write of a document waits for permission.
    pub(in crate::owner) async fn is_document_write_delayed(&self) -> bool {
        let is_unwritten = |owner: &mut Owner| {
            WRITTEN_DOCUMENTS.iter().any(|document| owner.documents.writer.has_pending_writes(*document))
        };
        self.host.with_owner(is_unwritten).await.unwrap()
    }

    /// Permits the next write of a document, and waits until the owner has handled its result.
    pub(in crate::owner) async fn write_document(&self) {
        // The writer runs on another thread, so the test waits for it. Otherwise the order of steps would vary.
        while !self.documents.begun_document_writes().1 {
            std::thread::yield_now();
        }
        let before = self.documents.permit_next_document_write();
        while self.documents.begun_document_writes().0 == before && self.is_document_write_delayed().await {
            std::thread::yield_now();
        }
    }

    /// Writes the queued audit entries, ends the connection, and waits until the host has shut down.
    pub(in crate::owner) async fn close(self) {
        tokio::time::resume();
        self.documents.release_document_writes();
        self.log.delays.store(false, Ordering::SeqCst);
        while self.log.queued_entries() > 0 {
            self.log.write_next_entry();
        }
        drop(self.commands);
        self.host.with_owner(|owner| owner.on_connection_event(RUN, ConnectionEvent::Ended(None))).await.unwrap();
        self.host.close().await;
    }
}

/// Polls a future once, and returns its output if it is ready.
pub(in crate::owner) async fn poll_once<T>(future: &mut CallerFuture<T>) -> Option<T> {
    match futures_util::poll!(future.as_mut()) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
