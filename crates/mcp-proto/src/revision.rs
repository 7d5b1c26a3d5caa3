//! The protocol revisions, and the one table of what differs between them on the wire.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A published revision of the Model Context Protocol, oldest first.
///
/// Source: the `basic/lifecycle` page of each revision; `basic/versioning` for 2026-07-28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revision {
    /// 2024-11-05, the first published one.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26: batches, audio, tool annotations, the completions capability.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18: form elicitation, structured results, resource links; batches removed.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25: URL elicitation, icons, tools in sampling, experimental tasks.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28: no handshake, metadata in each request, multi-round-trip results.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

use Revision::{V2024_11_05 as A, V2025_03_26 as B, V2025_06_18 as C, V2025_11_25 as D, V2026_07_28 as E};

/// One line of the table: from which revision on, and up to which, a feature exists.
struct Span(Revision, Revision);

const HANDSHAKE: Span = Span(A, D);
const BATCHES: Span = Span(B, B);
const PING: Span = Span(A, D);
const SERVER_REQUESTS: Span = Span(A, D);
const SET_LOG_LEVEL: Span = Span(A, D);
const RESOURCE_SUBSCRIBE: Span = Span(A, D);
const ROOTS_LIST_CHANGED: Span = Span(A, D);
const COMPLETIONS_CAPABILITY: Span = Span(B, E);
const COMPLETION_CONTEXT: Span = Span(C, E);
const ELICITATION: Span = Span(C, E);
const ELICITATION_MODES: Span = Span(D, E);
const ELICITATION_COMPLETE: Span = Span(D, D);
const URL_REQUIRED_ERROR: Span = Span(D, D);
const SAMPLING_CONTEXT: Span = Span(D, E);
const SAMPLING_TOOLS: Span = Span(D, E);
const SAMPLING_CONTENT_LIST: Span = Span(D, E);
const MULTI_ROUND_TRIP: Span = Span(E, E);
const LISTEN: Span = Span(E, E);
const CORE_TASKS: Span = Span(D, D);
const CACHE_HINTS: Span = Span(E, E);
const REQUEST_HEADERS: Span = Span(E, E);
const REQUEST_META: Span = Span(E, E);

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Revision; 5] = [A, B, C, D, E];
    /// The newest revision that opens with `initialize`.
    pub const NEWEST_LEGACY: Revision = D;
    /// The newest revision.
    pub const NEWEST: Revision = E;

    fn has(self, span: &Span) -> bool {
        span.0 <= self && self <= span.1
    }

    /// Whether this revision has no handshake and carries its metadata in every request.
    pub fn is_modern(self) -> bool {
        !self.has(&HANDSHAKE)
    }
    /// Whether JSON arrays of messages are allowed (`basic` page of 2025-03-26).
    pub fn has_batches(self) -> bool {
        self.has(&BATCHES)
    }
    /// Whether `ping` exists (`basic/utilities/ping`).
    pub fn has_ping(self) -> bool {
        self.has(&PING)
    }
    /// Whether the server may send requests of its own and gets responses.
    pub fn has_server_requests(self) -> bool {
        self.has(&SERVER_REQUESTS)
    }
    /// Whether `logging/setLevel` exists; otherwise the level stands in each request's `_meta`.
    pub fn has_set_log_level(self) -> bool {
        self.has(&SET_LOG_LEVEL)
    }
    /// Whether `resources/subscribe` and `resources/unsubscribe` exist.
    pub fn has_resource_subscribe(self) -> bool {
        self.has(&RESOURCE_SUBSCRIBE)
    }
    /// Whether the client may announce changed roots.
    pub fn has_roots_list_changed(self) -> bool {
        self.has(&ROOTS_LIST_CHANGED)
    }
    /// Whether servers declare a `completions` capability; before, clients simply try.
    pub fn has_completions_capability(self) -> bool {
        self.has(&COMPLETIONS_CAPABILITY)
    }
    /// Whether `completion/complete` takes the arguments that are already known.
    pub fn has_completion_context(self) -> bool {
        self.has(&COMPLETION_CONTEXT)
    }
    /// Whether servers may ask the user for input (`client/elicitation`).
    pub fn has_elicitation(self) -> bool {
        self.has(&ELICITATION)
    }
    /// Whether elicitation has the modes `form` and `url`; before, there are only forms.
    pub fn has_elicitation_modes(self) -> bool {
        self.has(&ELICITATION_MODES)
    }
    /// Whether `notifications/elicitation/complete` exists.
    pub fn has_elicitation_complete(self) -> bool {
        self.has(&ELICITATION_COMPLETE)
    }
    /// Whether error -32042 means that URLs have to be visited first.
    pub fn has_url_required_error(self) -> bool {
        self.has(&URL_REQUIRED_ERROR)
    }
    /// Whether clients declare whether they honour `includeContext`.
    pub fn has_sampling_context(self) -> bool {
        self.has(&SAMPLING_CONTEXT)
    }
    /// Whether sampling requests may bring tools for the model.
    pub fn has_sampling_tools(self) -> bool {
        self.has(&SAMPLING_TOOLS)
    }
    /// Whether a sampling message may hold several content blocks.
    pub fn has_sampling_content_list(self) -> bool {
        self.has(&SAMPLING_CONTENT_LIST)
    }
    /// Whether the server asks back through `input_required` results.
    pub fn has_multi_round_trip(self) -> bool {
        self.has(&MULTI_ROUND_TRIP)
    }
    /// Whether change notifications are requested with `subscriptions/listen`.
    pub fn has_listen(self) -> bool {
        self.has(&LISTEN)
    }
    /// Whether tasks are part of the protocol; in 2026-07-28 they are an extension.
    pub fn has_core_tasks(self) -> bool {
        self.has(&CORE_TASKS)
    }
    /// Whether results say how long they may be kept.
    pub fn has_cache_hints(self) -> bool {
        self.has(&CACHE_HINTS)
    }
    /// Whether HTTP headers repeat the method and what a request is about.
    pub fn has_request_headers(self) -> bool {
        self.has(&REQUEST_HEADERS)
    }
    /// Whether each request carries version, client and capabilities in `_meta`.
    pub fn has_request_meta(self) -> bool {
        self.has(&REQUEST_META)
    }
    /// The name on the wire, such as `2025-11-25`.
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

/// The text names no revision that is known here.
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
