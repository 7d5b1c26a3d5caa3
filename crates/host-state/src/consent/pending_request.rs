//! A consent request in the queue, and the action that its approval triggers. Used by
//! `host/src/owner/consent_requests.rs`, `host/src/owner/decisions.rs` and `host/src/owner/gate.rs`.

use launches::approvals::command_hash;
use policy::{Hash, ResolvedPaths};
use process::LaunchFiles;
use serde_json::Value;

use super::request_content::consent_payload_hash;
use crate::view::{ConsentRequestBody, ConsentRequestView};
use crate::{ModelRun, Requester, RunId};

/// The action that the approval of a consent request triggers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestPurpose {
    /// Starts the server that the request names, or connects to it.
    Start,
    /// Sends the call with this id.
    Call(String),
    /// Sends the response to a request of the server or its app.
    Request {
        /// Sender of the request.
        requester: Requester,
        /// Id of the call during which the server sent the request, or `None` if unknown.
        call: Option<String>,
    },
    /// Opens a URL in the browser. No server waits for a response.
    Page,
    /// Sends the result of the call with this id to a model.
    Result(String),
    /// Continues the sign-in that is registered under this number.
    SignIn(u64),
}

impl RequestPurpose {
    /// Returns the id of the call that the consent request is displayed with, if it belongs to a call.
    pub fn call_shown_with_request(&self) -> Option<&str> {
        match self {
            Self::Call(call) | Self::Result(call) => Some(call),
            Self::Start | Self::Request { .. } | Self::Page | Self::SignIn(_) => None,
        }
    }
}

/// A consent request that waits in the queue.
pub struct PendingRequest {
    /// Consent request as displayed to the user.
    pub view: ConsentRequestView,
    /// Action that an approval triggers.
    pub purpose: RequestPurpose,
    /// Original JSON Schema of the form, which is part of the hash. `None` for other requests.
    pub schema: Option<Value>,
    /// Set while an approval is being executed. Further approvals are rejected in the meantime.
    pub being_acted_on: bool,
    /// Set while the approval waits for a write to the audit log or another file. A denial is still accepted, since
    /// nothing was sent yet.
    pub being_written: bool,
    /// Files of the server's command, read again after the user decided. `None` before that and for other requests.
    pub files_now: Option<LaunchFiles>,
    /// Resolved paths in the arguments of the call, updated when the user decides or the rules change. Resolved while
    /// the host's state is not locked.
    pub paths: ResolvedPaths,
    /// Set while files or paths are being examined before a decision is executed. A denial doesn't wait for the
    /// examination.
    pub being_looked_at: bool,
    /// Model run that replies to a sampling request, or `None` if none is in progress. The run stops when the request
    /// is removed.
    pub running: Option<ModelRun>,
}

impl PendingRequest {
    /// Creates a consent request that waits for the user's decision.
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

    /// Returns `true` if the consent request must be removed when this run of the server ends, since an approval for
    /// one process must not apply to the next process.
    pub fn must_end_with_run(&self, run: RunId, server: &str) -> bool {
        match &self.purpose {
            RequestPurpose::Request { requester, .. } => requester.run() == run,
            RequestPurpose::Call(_) | RequestPurpose::Page => self.view.server == server,
            // A sign-in withdraws its own request, and a result under review was already returned by the server.
            RequestPurpose::Start | RequestPurpose::SignIn(_) | RequestPurpose::Result(_) => false,
        }
    }

    /// Returns `true` if the request can still be denied, since nothing was sent yet.
    pub const fn can_be_denied(&self) -> bool {
        !self.being_acted_on || self.being_written
    }

    /// Clones the consent request without its model run, which has only one owner.
    pub fn clone_without_run(&self) -> Self {
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
        consent_payload_hash(&self.view.server, &self.view.body, self.schema.as_ref())
    }

    /// Returns `true` if the server or its app rather than the user caused the request.
    pub const fn is_from_server(&self) -> bool {
        matches!(self.purpose, RequestPurpose::Request { .. } | RequestPurpose::Page)
    }
}
