//! A consent request in the queue, and the act that waits for its answer. Callers: `owner/questions.rs`, `owner/answers.rs` and
//! `owner/gate.rs`.

use launches::approvals::command_hash;
use mcp_proto::session::ServerRequestId;
use policy::{Hash, PathFacts};
use process::LaunchFiles;
use serde_json::Value;

use super::content::hash_of;
use crate::connection::RunId;
use crate::owner::state::ModelRun;
use crate::view::{QuestionBody, QuestionView};

/// The act that an answer leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::owner) enum RequestPurpose {
    /// A server starts.
    Start,
    /// A call is sent.
    Call(String),
    /// A request of the server is answered.
    Request { run: RunId, request: ServerRequestId, call: Option<String> },
    /// A page is opened, and no server waits for it.
    Page,
    /// A model reads the result of this call.
    Result(String),
    /// A sign-in goes on; it waits under this number.
    SignIn(u64),
}

impl RequestPurpose {
    /// The call that the user sees with the request.
    pub(in crate::owner) fn shown_call(&self) -> Option<&str> {
        match self {
            Self::Call(call) | Self::Result(call) => Some(call),
            Self::Start | Self::Request { .. } | Self::Page | Self::SignIn(_) => None,
        }
    }
}

/// A question in the queue.
pub(in crate::owner) struct PendingRequest {
    pub(in crate::owner) view: QuestionView,
    pub(in crate::owner) purpose: RequestPurpose,
    /// The form's schema as it came, for the hash.
    pub(in crate::owner) schema: Option<Value>,
    /// Set while an approval is carried out. Until then no other approval is accepted.
    pub(in crate::owner) being_acted_on: bool,
    /// Set while that approval waits for the audit log or another file. Nothing has been sent yet, so a refusal is still accepted.
    pub(in crate::owner) being_written: bool,
    /// The files that a command leads to, as they were when the user answered. Read beside the turns.
    pub(in crate::owner) files_now: Option<LaunchFiles>,
    /// Where the paths of a call led when the user answered, or rules changed. Followed beside the turns.
    pub(in crate::owner) paths: PathFacts,
    /// Set while files or paths are looked at for an answer. A refusal needs none of it.
    pub(in crate::owner) being_looked_at: bool,
    /// The model that answers it now. It stops when the question is gone.
    pub(in crate::owner) running: Option<ModelRun>,
}

impl PendingRequest {
    /// A request that nobody has answered yet.
    pub(in crate::owner) const fn new(
        view: QuestionView,
        purpose: RequestPurpose,
        schema: Option<Value>,
        paths: PathFacts,
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

    /// Returns true if it can't be acted on once this run of this server has ended. A call that was asked about for one process must
    /// not go to the next.
    pub(in crate::owner) fn ends_with(&self, run: RunId, server: &str) -> bool {
        match &self.purpose {
            RequestPurpose::Request { run: own, .. } => *own == run,
            RequestPurpose::Call(_) | RequestPurpose::Page => self.view.server == server,
            // The sign-in itself takes it back, and a result the server has said already.
            RequestPurpose::Start | RequestPurpose::SignIn(_) | RequestPurpose::Result(_) => false,
        }
    }

    /// Returns true if a refusal counts: nothing has left yet.
    pub(in crate::owner) const fn can_be_refused(&self) -> bool {
        !self.being_acted_on || self.being_written
    }

    /// The same question, to be looked at while the queue changes.
    pub(in crate::owner) fn copy(&self) -> Self {
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

    /// Over the exact bytes that an approval lets cross.
    pub(in crate::owner) fn hash(&self) -> Hash {
        if let QuestionBody::StartServer { config, resolved, plan, package, .. } = &self.view.body
            && let Some(files) = &self.files_now
        {
            // They may be others than when it was asked.
            return command_hash(config, resolved, plan.as_ref(), files, package.as_deref());
        }
        hash_of(&self.view.body, self.schema.as_ref())
    }

    /// Returns true if the server asks for it, and not the user.
    pub(in crate::owner) const fn is_asked_by_server(&self) -> bool {
        matches!(self.purpose, RequestPurpose::Request { .. } | RequestPurpose::Page)
    }
}
