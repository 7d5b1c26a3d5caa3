//! The protocol revisions, and the table of the wire features that each of them has.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A published revision of the Model Context Protocol, oldest first.
///
/// Source: the `basic/lifecycle` page of each revision; `basic/versioning` for 2026-07-28.
///
/// # Examples
///
/// ```
/// use mcp_proto::Revision;
///
/// let revision: Revision = "2025-06-18".parse()?;
/// assert!(revision.has_elicitation());
/// assert!(!revision.has_elicitation_modes(), "URLs were added in the next revision");
/// assert!(revision < Revision::NEWEST_LEGACY);
///
/// let with_batches: Vec<Revision> = Revision::ALL.into_iter().filter(|revision| revision.has_batches()).collect();
/// assert_eq!(with_batches, [Revision::V2025_03_26]);
/// assert!("2025-06-17".parse::<Revision>().is_err());
/// # Ok::<(), mcp_proto::revision::UnknownRevision>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revision {
    /// Revision 2024-11-05, the first published one.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Revision 2025-03-26: adds batches, audio, tool annotations and the completions capability.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Revision 2025-06-18: adds form elicitation, structured results and resource links, and removes batches.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// Revision 2025-11-25: adds URL elicitation, icons, tools in sampling and experimental tasks.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Revision 2026-07-28: replaces the handshake by metadata in each request, and adds multi-round-trip results.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

use Revision::{V2024_11_05 as A, V2025_03_26 as B, V2025_06_18 as C, V2025_11_25 as D, V2026_07_28 as E};

/// Range of the revisions that have one feature of the wire format: the first and the last of them, both inclusive.
struct RevisionRange(Revision, Revision);

const INITIALIZE_HANDSHAKE: RevisionRange = RevisionRange(A, D);
const BATCHES: RevisionRange = RevisionRange(B, B);
const PING: RevisionRange = RevisionRange(A, D);
const SERVER_REQUESTS: RevisionRange = RevisionRange(A, D);
const SET_LOG_LEVEL: RevisionRange = RevisionRange(A, D);
const RESOURCE_SUBSCRIBE: RevisionRange = RevisionRange(A, D);
const ROOTS_LIST_CHANGED: RevisionRange = RevisionRange(A, D);
const COMPLETIONS_CAPABILITY: RevisionRange = RevisionRange(B, E);
const COMPLETION_CONTEXT: RevisionRange = RevisionRange(C, E);
const ELICITATION: RevisionRange = RevisionRange(C, E);
const ELICITATION_MODES: RevisionRange = RevisionRange(D, E);
const ELICITATION_COMPLETE: RevisionRange = RevisionRange(D, D);
const URL_REQUIRED_ERROR: RevisionRange = RevisionRange(D, D);
const SAMPLING_CONTEXT: RevisionRange = RevisionRange(D, E);
const SAMPLING_TOOLS: RevisionRange = RevisionRange(D, E);
const SAMPLING_CONTENT_LIST: RevisionRange = RevisionRange(D, E);
const MULTI_ROUND_TRIP: RevisionRange = RevisionRange(E, E);
const SUBSCRIPTIONS_LISTEN: RevisionRange = RevisionRange(E, E);
const CORE_TASKS: RevisionRange = RevisionRange(D, D);
const CACHE_HINTS: RevisionRange = RevisionRange(E, E);
const REQUEST_HEADERS: RevisionRange = RevisionRange(E, E);
const REQUEST_META: RevisionRange = RevisionRange(E, E);

impl Revision {
    /// All known revisions, oldest first.
    pub const ALL: [Revision; 5] = [A, B, C, D, E];
    /// Newest revision with an `initialize` handshake.
    pub const NEWEST_LEGACY: Revision = D;
    /// Newest revision of the protocol that this crate implements.
    pub const NEWEST: Revision = E;

    fn is_in_range(self, span: &RevisionRange) -> bool {
        span.0 <= self && self <= span.1
    }

    /// Returns `true` if this revision has no `initialize` handshake, and every request carries the client's metadata
    /// instead.
    pub fn is_modern(self) -> bool {
        !self.is_in_range(&INITIALIZE_HANDSHAKE)
    }
    /// Returns `true` if JSON arrays of messages are allowed (`basic` page of 2025-03-26).
    pub fn has_batches(self) -> bool {
        self.is_in_range(&BATCHES)
    }
    /// Returns `true` if the `ping` request exists (`basic/utilities/ping`).
    pub fn has_ping(self) -> bool {
        self.is_in_range(&PING)
    }
    /// Returns `true` if servers may send JSON-RPC requests to the client.
    pub fn has_server_requests(self) -> bool {
        self.is_in_range(&SERVER_REQUESTS)
    }
    /// Returns `true` if `logging/setLevel` exists. Otherwise each request carries the level in `_meta`.
    pub fn has_set_log_level(self) -> bool {
        self.is_in_range(&SET_LOG_LEVEL)
    }
    /// Returns `true` if the requests `resources/subscribe` and `resources/unsubscribe` exist.
    pub fn has_resource_subscribe(self) -> bool {
        self.is_in_range(&RESOURCE_SUBSCRIBE)
    }
    /// Returns `true` if the client may send `notifications/roots/list_changed`.
    pub fn has_roots_list_changed(self) -> bool {
        self.is_in_range(&ROOTS_LIST_CHANGED)
    }
    /// Returns `true` if servers declare a `completions` capability. In earlier revisions, clients send
    /// `completion/complete` without knowing if the server supports it.
    pub fn has_completions_capability(self) -> bool {
        self.is_in_range(&COMPLETIONS_CAPABILITY)
    }
    /// Returns `true` if `completion/complete` has a `context` with the values of other arguments.
    pub fn has_completion_context(self) -> bool {
        self.is_in_range(&COMPLETION_CONTEXT)
    }
    /// Returns `true` if servers may request input from the user (`client/elicitation`).
    pub fn has_elicitation(self) -> bool {
        self.is_in_range(&ELICITATION)
    }
    /// Returns `true` if elicitation has the modes `form` and `url`. Earlier revisions have forms only.
    pub fn has_elicitation_modes(self) -> bool {
        self.is_in_range(&ELICITATION_MODES)
    }
    /// Returns `true` if `notifications/elicitation/complete` exists.
    pub fn has_elicitation_complete(self) -> bool {
        self.is_in_range(&ELICITATION_COMPLETE)
    }
    /// Returns `true` if error -32042 means that the user must visit URLs before the request can succeed.
    pub fn has_url_required_error(self) -> bool {
        self.is_in_range(&URL_REQUIRED_ERROR)
    }
    /// Returns `true` if clients declare support for `includeContext`.
    pub fn has_sampling_context(self) -> bool {
        self.is_in_range(&SAMPLING_CONTEXT)
    }
    /// Returns `true` if sampling requests may contain tools for the model.
    pub fn has_sampling_tools(self) -> bool {
        self.is_in_range(&SAMPLING_TOOLS)
    }
    /// Returns `true` if a sampling message may have several content blocks.
    pub fn has_sampling_content_list(self) -> bool {
        self.is_in_range(&SAMPLING_CONTENT_LIST)
    }
    /// Returns `true` if servers request input from the client with `input_required` results, instead of JSON-RPC
    /// requests.
    pub fn has_multi_round_trip(self) -> bool {
        self.is_in_range(&MULTI_ROUND_TRIP)
    }
    /// Returns `true` if clients subscribe to change notifications with `subscriptions/listen`.
    pub fn has_subscriptions_listen(self) -> bool {
        self.is_in_range(&SUBSCRIPTIONS_LISTEN)
    }
    /// Returns `true` if tasks are part of the core protocol. In 2026-07-28 they are an extension.
    pub fn has_core_tasks(self) -> bool {
        self.is_in_range(&CORE_TASKS)
    }
    /// Returns `true` if results, such as lists, contain hints on how long they may be cached.
    pub fn has_cache_hints(self) -> bool {
        self.is_in_range(&CACHE_HINTS)
    }
    /// Returns `true` if HTTP headers of each POST repeat the request's method and the name of its target, such as a
    /// tool.
    pub fn has_request_headers(self) -> bool {
        self.is_in_range(&REQUEST_HEADERS)
    }
    /// Returns `true` if each request contains the protocol version and the client's name and capabilities in `_meta`.
    pub fn has_request_meta(self) -> bool {
        self.is_in_range(&REQUEST_META)
    }
    /// Returns the name of the revision on the wire, such as `2025-11-25`.
    pub fn as_str(self) -> &'static str {
        match self {
            A => "2024-11-05",
            B => "2025-03-26",
            C => "2025-06-18",
            D => "2025-11-25",
            E => "2026-07-28",
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for a text that is not the name of a known protocol revision. Contains the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no known protocol revision; known are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28"
)]
pub struct UnknownRevision(pub String);

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text).ok_or_else(|| UnknownRevision(text.into()))
    }
}
