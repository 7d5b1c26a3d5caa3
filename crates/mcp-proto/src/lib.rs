//! The Model Context Protocol, seen from the client, without any input or output.
//!
//! - [`revision`]: the five protocol revisions and a table of what differs between them
//! - [`http`]: what goes into the headers of HTTP
//! - [`jsonrpc`]: messages as they stand on the wire, read with bounds and named causes
//! - [`types`]: the objects that servers and clients exchange
//! - [`session`]: one connection to one server as a pure state machine
//!
//! Nothing here reads a clock, a file or a socket: time is a parameter, bytes come in through
//! [`jsonrpc::Incoming::decode`] and go out through [`session::Session::poll_transmit`].

pub mod http;
pub mod jsonrpc;
pub mod revision;
pub mod session;
pub mod types;

pub use http::{HttpHead, header_value};
pub use jsonrpc::{Incoming, InvalidCause, InvalidMessage, Outgoing, OutgoingKind, RawJson, RequestId, RpcError};
pub use revision::Revision;
pub use session::{
    Answer, CacheHint, CacheScope, CallError, CallId, CancelReason, Carrier, ClientNotification, ClientRequest,
    CloseReason, Deadline, DeliveryFault, DroppedItem, Facts, Limits, ListKind, Opening, OpeningFault, ServerQuestion,
    ServerRequestId, ServerResult, Session, SessionConfig, SessionEvent, StreamOrigin, TaskView, Timeouts,
    TraceContext, UnknownRequest, Withdrawal,
};
