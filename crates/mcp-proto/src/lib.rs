#![doc = include_str!("../README.md")]

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
