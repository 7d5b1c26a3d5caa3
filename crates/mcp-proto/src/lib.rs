#![doc = include_str!("../README.md")]

pub mod http;
pub mod jsonrpc;
pub mod revision;
pub mod session;
pub mod types;

pub use http::{HttpPostHeaders, encode_header_value};
pub use jsonrpc::{
    IncomingMessage, InvalidMessage, InvalidMessageCause, OutgoingMessage, OutgoingMessageKind, RawJson, RequestId,
    RpcError,
};
pub use revision::Revision;
pub use session::{
    CacheHint, CacheScope, CallDeadline, CallError, CallId, CancelReason, ClientNotification, ClientRequest,
    ClientResponse, ClientResponseError, CloseReason, DeliveryFault, DroppedListEntry, HandshakeFault, HandshakeMode,
    ListKind, ServerFacts, ServerRequest, ServerRequestId, ServerResult, Session, SessionConfig, SessionEvent,
    SessionLimits, SessionTimeouts, StreamOrigin, TaskState, TraceContext, TransportKind, WithdrawalReason,
};
