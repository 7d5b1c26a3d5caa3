//! Events that a session reports to its caller, and the data that callers pass in response.

use std::fmt;

use crate::jsonrpc::RequestId;
use crate::revision::Revision;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Implementation, LogMessage, Root,
    ServerCapabilities,
};

use super::{CallError, CloseReason, ServerResult, TaskState};

/// Identifier of a call, unique in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(super) u64);

/// Identifier of a request of the server, unique in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for ServerRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Source of a message from the server: a pipe or an HTTP response stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StreamOrigin {
    /// Standard output of a local server.
    Stdio,
    /// Response body or event stream of the POST that carried this request of the client.
    Post(RequestId),
    /// GET stream of Streamable HTTP, or the stream of HTTP+SSE.
    Get,
}

/// Reason for the cancellation of a call, sent to the server as `reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelReason {
    /// The user cancelled the call.
    User,
    /// A newer call replaces this one, such as the next completion while the user types.
    Superseded,
    /// The client is closing.
    Shutdown,
    /// Another reason, which is sent to the server as this text.
    Other(String),
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CancelReason::User => "cancelled by the user",
            CancelReason::Superseded => "superseded by a newer request",
            CancelReason::Shutdown => "the client is closing",
            CancelReason::Other(reason) => reason,
        })
    }
}

/// Facts about the server that the handshake determined.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerFacts {
    /// Negotiated revision of the protocol.
    pub revision: Revision,
    /// Name and version of the server: an unverified claim, for display only.
    pub server: Option<Implementation>,
    /// Capabilities that the server declared.
    pub capabilities: ServerCapabilities,
    /// Instructions for a model on using the server. Untrusted text.
    pub instructions: Option<String>,
}

/// A request from the server to the client, in the same form for every revision.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerRequest {
    /// Request for a model's response (`client/sampling`).
    Sampling(Box<CreateMessageParams>),
    /// Request for input from the user (`client/elicitation`).
    Elicitation(ElicitParams),
    /// Request for the folders that the server may use (`client/roots`).
    Roots,
}

/// Response of the client to a [`ServerRequest`].
///
/// # Examples
///
/// Answers a server that requests input from the user:
///
/// ```
/// # use std::time::Instant;
/// # use bytes::Bytes;
/// # use mcp_proto::types::{ClientCapabilities, ElicitationCapability};
/// # use mcp_proto::{HandshakeMode, IncomingMessage, Session, SessionConfig, StreamOrigin};
/// # fn receive(session: &mut Session, json: &str, now: Instant) {
/// #     let message = IncomingMessage::decode(&Bytes::from(json.to_owned())).expect("a valid message");
/// #     session.handle_message(message, StreamOrigin::Stdio, now);
/// # }
/// # fn open_session(now: Instant) -> Session {
/// #     let elicitation = Some(ElicitationCapability { form: Some(Default::default()), url: None });
/// #     let capabilities = ClientCapabilities { elicitation, ..ClientCapabilities::default() };
/// #     let handshake = HandshakeMode::Initialize;
/// #     let config = SessionConfig { handshake, capabilities, ..SessionConfig::default() };
/// #     let mut session = Session::new(config, now);
/// #     let response = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
/// #         "capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}}"#;
/// #     receive(&mut session, response, now);
/// #     while session.poll_transmit().is_some() || session.poll_event().is_some() {}
/// #     session
/// # }
/// use mcp_proto::types::{ElicitAction, ElicitParams, ElicitResult, Map};
/// use mcp_proto::{ClientResponse, OutgoingMessageKind, ServerRequest, SessionEvent};
///
/// let now = Instant::now();
/// let mut session = open_session(now);
/// let message = r#"{"jsonrpc":"2.0","id":"ask-1","method":"elicitation/create","params":{"message":"Which branch?",
///     "requestedSchema":{"type":"object","properties":{"branch":{"type":"string"}}}}}"#;
/// receive(&mut session, message, now);
///
/// let Some(SessionEvent::RequestReceived { request, server_request, .. }) = session.poll_event() else {
///     panic!("the request is reported")
/// };
/// let ServerRequest::Elicitation(ElicitParams::Form { message, .. }) = *server_request else {
///     panic!("the server requests a form")
/// };
/// assert_eq!(message, "Which branch?");
///
/// let content = Map::from_iter([("branch".to_owned(), "main".into())]);
/// let result = ElicitResult { action: ElicitAction::Accept, content: Some(content) };
/// session.answer(request, ClientResponse::Elicitation(result.clone()), now)?;
/// let sent = session.poll_transmit().expect("the response is sent");
/// assert_eq!(sent.about, OutgoingMessageKind::Response { id: "ask-1".into() });
/// assert!(sent.json.contains(r#""content":{"branch":"main"}"#));
///
/// // A request is answered once.
/// assert!(session.answer(request, ClientResponse::Elicitation(result), now).is_err());
/// # Ok::<(), mcp_proto::ClientResponseError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ClientResponse {
    /// Response of a model to [`ServerRequest::Sampling`].
    Sampling(Box<CreateMessageResult>),
    /// Decision of the user on [`ServerRequest::Elicitation`], also if the user declined or cancelled.
    Elicitation(ElicitResult),
    /// List of folders for [`ServerRequest::Roots`].
    Roots(Vec<Root>),
    /// Refusal of a request of any kind. Up to 2025-11-25 the server receives this error. 2026-07-28 has no response
    /// that refuses sampling or roots, so the call that caused the request ends with [`CallError::Refused`].
    Refused {
        /// Error code, for instance -1 if the user rejected the request.
        code: i64,
        /// Human-readable reason of the refusal.
        message: String,
    },
}

/// Notification of the client to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientNotification {
    /// The list of roots changed. Not sent in revisions without this notification (2026-07-28).
    RootsListChanged,
}

/// Kind of list that a server provides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and of their templates.
    Resources,
}

/// Reason why a request from the server no longer needs the client's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithdrawalReason {
    /// The server cancelled the request.
    CancelledByServer,
    /// The call that caused the request has ended.
    CallEnded,
    /// The session has ended.
    SessionEnded,
}

/// Reason why a handshake failed, from which the caller decides on the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandshakeFault {
    /// The server exited after it had received `server/discover`. The caller should start it again with
    /// [`HandshakeMode::Initialize`](super::HandshakeMode::Initialize).
    ExitedOnProbe,
    /// The server did not respond to `server/discover` or `initialize` in time.
    NoAnswer,
    /// The server process exited, or the connection was closed.
    Exited,
    /// `initialize` failed with an HTTP status of 4xx, so the server may support HTTP+SSE only.
    NotStreamable,
    /// The server requires authorization (HTTP status 401 or 403).
    Unauthorized,
    /// No request reached the server.
    Unreachable,
    /// The server failed temporarily (HTTP status 408, 425, 429 or 5xx, or an interrupted response). The caller may
    /// retry later.
    ServerError,
    /// The server refused the handshake, supports no revision of this client, or violated the protocol.
    Refused,
}

/// An invalid entry of a list, which the session dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedListEntry {
    /// Name or URI of the dropped entry, or its index in the received page of the list if neither can be read.
    /// Untrusted text.
    pub name: String,
    /// Reason why the entry is invalid.
    pub cause: String,
}

/// Event that a session reports to its caller.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// The handshake is complete, and calls are possible.
    Ready(Box<ServerFacts>),
    /// The handshake failed. The caller should close the transport.
    HandshakeFailed {
        /// Human-readable reason of the failure.
        cause: String,
        /// Reason for the failure in a form that the caller can act on.
        fault: HandshakeFault,
    },
    /// The server sent a request. The caller responds once with [`Session::answer`](super::Session::answer).
    RequestReceived {
        /// Identifier to pass to [`Session::answer`](super::Session::answer).
        request: ServerRequestId,
        /// Call that caused the server's request, or `None` if unknown.
        call: Option<CallId>,
        /// Kind and validated parameters of the request. Texts in it are untrusted.
        server_request: Box<ServerRequest>,
    },
    /// A request from the server no longer needs a response.
    Withdrawn {
        /// Identifier of the request from the earlier [`SessionEvent::RequestReceived`].
        request: ServerRequestId,
        /// Reason why the response became unnecessary.
        why: WithdrawalReason,
    },
    /// Progress of a call. Only the latest progress of a call is queued; `count` includes the notifications that it
    /// replaced.
    Progress {
        /// Identifier that [`Session::call`](super::Session::call) returned.
        call: CallId,
        /// Number of progress notifications of the call so far, including this one.
        count: u64,
        /// Current progress. Greater than the progress of earlier notifications.
        progress: f64,
        /// Value that `progress` will have at completion, if known.
        total: Option<f64>,
        /// Description of the current step. Untrusted text.
        message: Option<String>,
    },
    /// A call has ended. Reported exactly once for each call.
    Done {
        /// Identifier that [`Session::call`](super::Session::call) returned.
        call: CallId,
        /// Decoded result of the server, or the reason why the call has none.
        result: Result<ServerResult, CallError>,
    },
    /// The server reports that a list changed. The caller should read it again.
    ListChanged(ListKind),
    /// The server reports that a subscribed resource, or a sub-resource of it, changed.
    ResourceUpdated {
        /// URI that the server reports. May be a sub-resource of the subscribed URI.
        uri: String,
    },
    /// A log message of the server.
    Log {
        /// Level, logger and logged value. All are untrusted.
        message: Box<LogMessage>,
        /// Call whose response stream carried the message, or `None` for transports with one stream.
        call: Option<CallId>,
    },
    /// The subscription to change notifications was lost, and changes since then were not reported. The session
    /// subscribes again, after a delay that increases with repeated failures.
    SubscriptionsLost {
        /// Human-readable reason of the loss.
        cause: String,
    },
    /// The session restored the subscription to change notifications, after [`SessionEvent::SubscriptionsLost`].
    SubscriptionsRenewed,
    /// The session has made a new handshake, because the server discarded the previous session (HTTP status 404) or
    /// changed its revision. The caller should read all lists again.
    Reopened(Box<ServerFacts>),
    /// The server continues a call as a task, or the state of the task changed. Only the latest state of a call is
    /// queued.
    TaskChanged {
        /// Call that continues as the task. It still ends with [`SessionEvent::Done`].
        call: CallId,
        /// Latest state of the task, as reported by the server.
        task: Box<TaskState>,
    },
    /// The session dropped invalid entries of a list.
    ItemsDropped {
        /// Kind of the list that contained the entries.
        list: ListKind,
        /// Entries that the session dropped, each with the reason.
        items: Vec<DroppedListEntry>,
    },
    /// The server reports that the user has completed the interaction at a URL.
    ElicitationComplete {
        /// Identifier of the interaction, from the [`ElicitParams::Url`] request.
        elicitation_id: String,
    },
    /// The session received invalid input, or discarded input that exceeded a limit. The session continues.
    Anomaly {
        /// Human-readable description of the anomaly.
        cause: String,
        /// JSON-RPC id of the affected message, if known.
        id: Option<RequestId>,
    },
    /// The session has ended. No event follows.
    Closed(CloseReason),
}
