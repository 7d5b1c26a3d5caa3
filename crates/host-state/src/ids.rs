//! Identifiers of server runs, of requests to connections, and of requests that the host responds to.

use mcp_proto::session::ServerRequestId;
use policy::UsedBy;

/// Identifier of one run of a server. Each start of the server has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u64);

/// Identifier of a request that the host passes to the connection of a server. The connection reports the result with
/// the same identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallTicket(pub u64);

/// Sender of a request that the host responds to: a server, or an app that a server provides (MCP Apps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requester {
    /// A server, in its session.
    Server {
        /// Run of the server that sent the request.
        run: RunId,
        /// Identifier of the request in its session.
        request: ServerRequestId,
    },
    /// An MCP app that a server provides. Such apps can only request sampling.
    App {
        /// Run of the server in which its app sent the request.
        run: RunId,
        /// Number of the request, unique in the process.
        number: u64,
    },
}

impl Requester {
    /// Returns the run of the requesting server, or of the server that provides the requesting app. When the run ends,
    /// so does the request.
    pub const fn run(self) -> RunId {
        match self {
            Self::Server { run, .. } | Self::App { run, .. } => run,
        }
    }

    /// Returns the name of the requester in the audit log.
    pub const fn audit_name(self) -> &'static str {
        match self {
            Self::Server { .. } => "server",
            Self::App { .. } => "app",
        }
    }

    /// Returns the originator to record as the last user of a rule that allowed a request of this requester.
    pub const fn originator(self) -> UsedBy {
        match self {
            Self::Server { .. } => UsedBy::Server,
            Self::App { .. } => UsedBy::App,
        }
    }
}
