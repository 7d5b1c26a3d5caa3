//! Answers to consent requests, and what a server may ask for. Callers: the commands of `api` and of the command line.

use std::path::PathBuf;

use domain::question::QuestionId;
use ports::url_parts::UrlParts;
use serde_json::{Map, Value};
use server_requests::form::FormProblem;

use super::{Host, HostClosed};
use crate::owner::{AnswerError, followed_link, open_page, real_folders};
use crate::view::{Edit, QuestionView, UserAnswer};

impl Host {
    /// Answers a question. The hash is the one that was shown.
    ///
    /// # Errors
    /// If it is no longer open, has changed, or the answer does not fit. Nothing crossed then.
    pub async fn answer(&self, id: QuestionId, hash: String, answer: UserAnswer) -> Result<(), AnswerError> {
        let answer = match answer {
            UserAnswer::Share(folders) => UserAnswer::Share(real_folders(folders).await?),
            answer => answer,
        };
        self.with_reply(move |owner, reply| owner.answer(id, &hash, answer, reply)).await?
    }

    /// Changes what would cross.
    ///
    /// # Errors
    /// If the question is no longer open or this part of it can't be changed.
    pub async fn edit(&self, id: QuestionId, edit: Edit) -> Result<QuestionView, AnswerError> {
        self.with(move |owner| owner.edit(id, edit)).await?
    }

    /// What is wrong with a form's content.
    ///
    /// # Errors
    /// If the question is no longer open or has no form.
    pub async fn check_form(
        &self,
        id: QuestionId,
        content: Map<String, Value>,
    ) -> Result<Vec<FormProblem>, AnswerError> {
        self.with(move |owner| owner.check_form(id, &content)).await?
    }

    /// Refuses all that a server asks for, and with `mute` what it will ask for.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn deny_all(&self, server: String, mute: bool) -> Result<(), HostClosed> {
        self.with(move |owner| owner.deny_all(&server, mute)).await
    }

    /// Lets a muted server ask again.
    ///
    /// # Errors
    /// If the host has ended.
    pub async fn unmute(&self, server: String) -> Result<(), HostClosed> {
        self.with(move |owner| owner.unmute(&server)).await
    }

    /// Sets the folders a server may know of, and tells it.
    ///
    /// # Errors
    /// If there is no such server or a folder can't be shared.
    pub async fn set_roots(&self, server: String, folders: Vec<PathBuf>) -> Result<(), AnswerError> {
        let folders = real_folders(folders).await?;
        self.with_reply(move |owner, reply| owner.set_roots(&server, folders, reply)).await?
    }

    /// Opens a URL that the user has seen whole and wants to open.
    ///
    /// # Errors
    /// If it may not be opened, or the browser can't.
    pub async fn open_url(&self, url: &str) -> Result<(), AnswerError> {
        let Some(page) = followed_link(UrlParts::of(url)) else {
            return Err(AnswerError::Browser("only http and https addresses without a user name can be opened".into()));
        };
        open_page(self.ports.platform.as_ref(), page).await.map_err(AnswerError::Browser)
    }
}
