//! Identifiers of server runs, and of requests to connections.

/// Identifier of one run of a server. Each start of the server has a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub u64);

/// Identifier of a request that the owner sends to a server's connection. The connection reports the result under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallTicket(pub u64);
