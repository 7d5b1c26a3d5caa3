//! A consent request in the queue, and the action that waits for the decision. Used by
//! `host/src/owner/consent_requests.rs`, `host/src/owner/decisions.rs` and `host/src/owner/gate.rs`.

use launches::approvals::command_hash;
use mcp_proto::session::ServerRequestId;
use policy::{Hash, ResolvedPaths};
use process::LaunchFiles;
use serde_json::Value;

use super::request_content::hash_of;
use crate::ModelRun;
use crate::RunId;
use crate::view::{ConsentRequestBody, ConsentRequestView};

/// The action that an approval leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPurpose {
    /// Starts the requested server.
    Start,
    /// Sends the call with this id.
    Call(String),
    /// Responds to a request of the server.
    Request {
        /// Run of the server that sent the request.
        run: RunId,
        /// Identifier of the request in its session.
        request: ServerRequestId,
        /// Call during which the server sent the request, if it is known.
        call: Option<String>,
    },
    /// Opens a page without a waiting server.
    Page,
    /// Lets a model read the result of this call.
    Result(String),
    /// Continues the sign-in that waits under this number.
    SignIn(u64),
}

impl RequestPurpose {
    /// Returns the call that is displayed with the request.
    pub fn shown_call(&self) -> Option<&str> {
        match self {
            Self::Call(call) | Self::Result(call) => Some(call),
            Self::Start | Self::Request { .. } | Self::Page | Self::SignIn(_) => None,
        }
    }
}

/// A consent request in the queue.
pub struct PendingRequest {
    /// Consent request as displayed to the user.
    pub view: ConsentRequestView,
    /// Action that an approval leads to.
    pub purpose: RequestPurpose,
    /// Unmodified schema of the form, for the hash.
    pub schema: Option<Value>,
    /// Set while an approval is being executed. No other approval is accepted in the meantime.
    pub being_acted_on: bool,
    /// Set while that approval waits for the audit log or another file. Nothing has been sent yet, so a denial is still
    /// accepted.
    pub being_written: bool,
    /// Files of the command at the time of the user's decision. Read outside of the owner's turns.
    pub files_now: Option<LaunchFiles>,
    /// Resolved paths of the call at the time of the user's decision or of a change of rules. Resolved outside of the
    /// owner's turns.
    pub paths: ResolvedPaths,
    /// Set while files or paths are being examined for a decision. A denial doesn't require them.
    pub being_looked_at: bool,
    /// Model that is replying to the request. Stops when the request is removed.
    pub running: Option<ModelRun>,
}

impl PendingRequest {
    /// Creates a request without a decision.
    pub const fn new(
        view: ConsentRequestView,
        purpose: RequestPurpose,
        schema: Option<Value>,
        paths: ResolvedPaths,
    ) -> Self {
        Self {
            view,
            purpose,
            schema,
            being_acted_on: false,
            being_written: false,
            files_now: None,
            paths,
            being_looked_at: false,
            running: None,
        }
    }

    /// Returns `true` if the request ends with this run of the server. A consent request for a call of one process must
    /// not apply to the next process.
    pub fn ends_with(&self, run: RunId, server: &str) -> bool {
        match &self.purpose {
            RequestPurpose::Request { run: own, .. } => *own == run,
            RequestPurpose::Call(_) | RequestPurpose::Page => self.view.server == server,
            // The sign-in withdraws its request itself, and a result was already returned by the server.
            RequestPurpose::Start | RequestPurpose::SignIn(_) | RequestPurpose::Result(_) => false,
        }
    }

    /// Returns `true` if a denial is accepted because nothing was sent yet.
    pub const fn can_be_refused(&self) -> bool {
        !self.being_acted_on || self.being_written
    }

    /// Copies the request, for use while the queue changes.
    pub fn copy(&self) -> Self {
        Self {
            view: self.view.clone(),
            purpose: self.purpose.clone(),
            schema: self.schema.clone(),
            being_acted_on: self.being_acted_on,
            being_written: self.being_written,
            files_now: self.files_now.clone(),
            paths: self.paths.clone(),
            being_looked_at: self.being_looked_at,
            running: None,
        }
    }

    /// Returns the hash of the exact payload that an approval allows to send.
    pub fn hash(&self) -> Hash {
        if let ConsentRequestBody::StartServer { config, resolved, plan, package, .. } = &self.view.body
            && let Some(files) = &self.files_now
        {
            // The files may have changed since the request was created.
            return command_hash(config, resolved, plan.as_ref(), files, package.as_deref());
        }
        hash_of(&self.view.body, self.schema.as_ref())
    }

    /// Returns `true` if the request originates from the server rather than the user.
    pub const fn is_asked_by_server(&self) -> bool {
        matches!(self.purpose, RequestPurpose::Request { .. } | RequestPurpose::Page)
    }
}
