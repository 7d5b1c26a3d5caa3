//! Decisions on consent requests, and limits on requests of servers. Used by the commands of `api` and by `cli`.

use std::path::PathBuf;

use domain::consent_request::ConsentRequestId;
use ports::url_parts::UrlParts;
use serde_json::{Map, Value};
use server_requests::form::FormProblem;

use super::{Host, HostClosed};
use crate::owner::{DecisionError, authorize_link_opening, canonical_folders, open_in_browser};
use crate::view::{ConsentRequestEdit, ConsentRequestView, UserDecision};

impl Host {
    /// Applies the user's decision on a consent request. `hash` is the hash of the displayed payload.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request is no longer pending, [`DecisionError::Stale`] if its payload
    /// has changed, and another [`DecisionError`] if the decision is not applicable. In each case nothing was sent.
    pub async fn decide(&self, id: ConsentRequestId, hash: String, answer: UserDecision) -> Result<(), DecisionError> {
        let answer = match answer {
            UserDecision::Share(folders) => UserDecision::Share(canonical_folders(folders).await?),
            answer => answer,
        };
        self.with_owner_reply_result(move |owner, reply| owner.decide_request(id, &hash, answer, reply)).await
    }

    /// Edits the payload of a consent request, which changes its hash.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request is no longer pending, and [`DecisionError::WrongKind`] if this
    /// part of the payload can't be edited.
    pub async fn edit_consent_request(
        &self,
        id: ConsentRequestId,
        edit: ConsentRequestEdit,
    ) -> Result<ConsentRequestView, DecisionError> {
        self.with_owner_result(move |owner| owner.edit_consent_request(id, edit)).await
    }

    /// Validates the content that the user entered in a form. Returns the validation errors, or nothing if it is valid.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::NotOpen`] if the request is no longer pending, and [`DecisionError::WrongKind`] if it
    /// has no form.
    pub async fn check_form(
        &self,
        id: ConsentRequestId,
        content: Map<String, Value>,
    ) -> Result<Vec<FormProblem>, DecisionError> {
        self.with_owner_result(move |owner| owner.consent.check_form(id, &content)).await
    }

    /// Returns `true` if a pending consent request belongs to another conversation than this one, or to none. Returns
    /// `false` if the request is not pending.
    ///
    /// A request belongs to the conversation that led to it: of the user's or the model's call, of the app that sent it,
    /// or of the call during which the server sent it.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn is_request_outside_conversation(
        &self,
        id: ConsentRequestId,
        conversation: Option<String>,
    ) -> Result<bool, HostClosed> {
        self.with_owner(move |owner| owner.consent.is_request_outside_conversation(id, conversation.as_deref())).await
    }

    /// Denies all pending requests of a server and, with `mute` set, its future requests.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn deny_all_requests(&self, server: String, mute: bool) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.deny_all_requests(&server, mute)).await
    }

    /// Allows a muted server to send requests again.
    ///
    /// # Errors
    ///
    /// Returns [`HostClosed`] if the host has shut down.
    pub async fn unmute_server(&self, server: String) -> Result<(), HostClosed> {
        self.with_owner(move |owner| owner.unmute_server(&server)).await
    }

    /// Sets the folders that are shared with a server as roots, and notifies the server.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::WrongKind`] if no server has this name, [`DecisionError::Folder`] if a folder can't be
    /// shared, and [`DecisionError::Audit`] if the change can't be written to the audit log.
    pub async fn set_roots(&self, server: String, folders: Vec<PathBuf>) -> Result<(), DecisionError> {
        let folders = canonical_folders(folders).await?;
        self.with_owner_reply_result(move |owner, reply| owner.set_roots(&server, folders, reply)).await
    }

    /// Opens a URL in the browser. The caller has displayed the full URL to the user, who chose to open it.
    ///
    /// # Errors
    ///
    /// Returns [`DecisionError::Browser`] if the URL may not be opened, or the browser can't be started.
    pub async fn open_url(&self, url: &str) -> Result<(), DecisionError> {
        let Some(page) = authorize_link_opening(UrlParts::parse(url)) else {
            return Err(DecisionError::Browser(
                "only http and https addresses without a user name can be opened".into(),
            ));
        };
        open_in_browser(self.ports.platform.as_ref(), page).await.map_err(DecisionError::Browser)
    }
}
