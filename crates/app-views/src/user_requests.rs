//! Requests of an app that Drawbridge's page answers: links and files, on which the user decides, and messages and
//! display modes, which it answers at once. A message becomes a draft.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::app_view::{AppFile, AppUserRequest};
use mcp_apps::limits::MAX_LINK_BYTES;
use mcp_apps::{AppRequest, AppRequestId, DisplayMode, HostResponse, OfferedFile, OfferedFileContents};
use mcp_proto::types::ContentBlock;
use ports::url_parts::MAX_URL_BYTES;
use serde::{Deserialize, Serialize};

/// Number of links in a row that the user may refuse, or the app withdraw. Further ones are refused without a dialog
/// until the app is opened again.
const MAX_CONSECUTIVE_REFUSED_LINKS: u32 = 3;
/// Reason for refusing links beyond [`MAX_CONSECUTIVE_REFUSED_LINKS`].
const TOO_MANY_REFUSED_LINKS_REASON: &str =
    "several links were refused or withdrawn in a row; the user can reload the app to allow more";
/// Reason for refusing a request that Drawbridge's page can't show now.
const REQUEST_NOT_SHOWN_REASON: &str = "the request can't be shown to the user now";
/// Reason for refusing to save files whose content the host would have to fetch.
const LINKED_FILES_UNSUPPORTED_REASON: &str = "files can be saved only if the request contains them";
/// Reason for refusing to save files whose contents can't be decoded.
const UNDECODABLE_FILES_REASON: &str = "the contents of a file are neither text nor base64";

// Otherwise the link dialog would show links that it can't open.
const _: () = assert!(MAX_LINK_BYTES <= MAX_URL_BYTES);

/// The user's decision on a request of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AppAnswer {
    /// The user accepted the request, and it was carried out.
    Done,
    /// The user refused the request, or it can't be carried out.
    Refused,
    /// The request can't be shown to the user now, for example because another one is shown.
    NotShown,
    /// Response to a request for another display mode: the mode in which the app is displayed from now on, which may
    /// differ from the requested one.
    DisplayMode {
        /// Mode in which the app is displayed.
        mode: DisplayMode,
    },
}

impl AppAnswer {
    /// Returns the outcome of the request as a participle, for the activity log.
    pub(crate) const fn outcome(self) -> &'static str {
        match self {
            Self::Done => "accepted",
            Self::Refused => "refused",
            Self::NotShown => "refused, because it could not be shown to the user",
            Self::DisplayMode { .. } => "answered",
        }
    }
}

impl From<AppAnswer> for HostResponse {
    fn from(answer: AppAnswer) -> Self {
        match answer {
            AppAnswer::Done => Self::Done,
            AppAnswer::Refused => Self::Refused("the user refused".to_owned()),
            AppAnswer::NotShown => Self::Refused(REQUEST_NOT_SHOWN_REASON.to_owned()),
            AppAnswer::DisplayMode { mode } => Self::DisplayMode(mode),
        }
    }
}

/// A file that an app offers to the user for saving, with its suggested name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOfferedByApp {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// A request that waits for the user's decision.
#[derive(Debug)]
struct RequestWaitingForUser {
    id: AppRequestId,
    /// Files that the request offers for saving.
    files: Vec<FileOfferedByApp>,
    is_link: bool,
}

/// Requests of one app that wait for the user's decision. The app's view limits their number and size.
#[derive(Debug, Default)]
pub(crate) struct RequestsToUser {
    waiting: HashMap<u64, RequestWaitingForUser>,
    /// Number of links in a row that the user refused or the app withdrew.
    refused_links: u32,
}

impl RequestsToUser {
    /// Adds a request of the app, and returns it in the form in which Drawbridge's page shows it to the user.
    ///
    /// # Errors
    ///
    /// Returns the reason if the request can't be shown to the user.
    pub(crate) fn insert(&mut self, id: AppRequestId, request: AppRequest) -> Result<AppUserRequest, &'static str> {
        let mut files = Vec::new();
        let is_link = matches!(request, AppRequest::OpenLink { .. });
        if is_link && self.refused_links >= MAX_CONSECUTIVE_REFUSED_LINKS {
            return Err(TOO_MANY_REFUSED_LINKS_REASON);
        }
        let user_request = match request {
            AppRequest::OpenLink { url } => AppUserRequest::OpenLink { url: url.into() },
            AppRequest::RequestDisplayMode { mode } => AppUserRequest::DisplayMode { mode },
            AppRequest::SendMessage { content } => AppUserRequest::SendMessage { text: message_text(&content) },
            AppRequest::DownloadFile { files: offered } => {
                let mut shown = Vec::new();
                for OfferedFile { file_name, source } in offered {
                    let OfferedFileContents::Embedded(contents) = source else {
                        return Err(LINKED_FILES_UNSUPPORTED_REASON);
                    };
                    let bytes = match (contents.text, contents.blob) {
                        (Some(text), None) => text.to_string().into_bytes(),
                        (None, Some(blob)) => {
                            STANDARD.decode(blob.to_string()).map_err(|_| UNDECODABLE_FILES_REASON)?
                        }
                        _ => return Err(UNDECODABLE_FILES_REASON),
                    };
                    let mime_type = contents.mime_type.unwrap_or_default();
                    shown.push(AppFile { name: file_name.clone(), mime_type, bytes: bytes.len() as u64 });
                    files.push(FileOfferedByApp { name: file_name, bytes });
                }
                AppUserRequest::SaveFiles { files: shown }
            }
            AppRequest::CallTool { .. }
            | AppRequest::ListTools { .. }
            | AppRequest::ReadResource { .. }
            | AppRequest::ListResources { .. }
            | AppRequest::ListResourceTemplates { .. }
            | AppRequest::ListPrompts { .. }
            | AppRequest::UpdateModelContext(_)
            | AppRequest::Sample(_) => return Err("the request can't be carried out now"),
        };
        self.waiting.insert(id.number(), RequestWaitingForUser { id, files, is_link });
        Ok(user_request)
    }

    /// Removes a request that the user decided, and returns its identifier in the app's view. Returns `None` if no such
    /// request waits.
    pub(crate) fn remove_answered(&mut self, request: u64, answer: AppAnswer) -> Option<AppRequestId> {
        let RequestWaitingForUser { id, is_link, .. } = self.waiting.remove(&request)?;
        match answer {
            AppAnswer::Done if is_link => self.refused_links = 0,
            AppAnswer::Refused if is_link => self.refused_links += 1,
            _ => {}
        }
        Some(id)
    }

    /// Removes a request that the app withdrew. Returns `false` if no such request waits.
    pub(crate) fn remove_withdrawn(&mut self, request: u64) -> bool {
        let Some(RequestWaitingForUser { is_link, .. }) = self.waiting.remove(&request) else { return false };
        // Counts as refused: an app that withdraws each link could otherwise open any number of dialogs.
        self.refused_links += u32::from(is_link);
        true
    }

    /// Returns a file that a waiting request offers for saving, or `None` if there is no such request or file.
    pub(crate) fn offered_file(&self, request: u64, index: u32) -> Option<FileOfferedByApp> {
        self.waiting.get(&request)?.files.get(usize::try_from(index).ok()?).cloned()
    }
}

/// Returns the text blocks of a message that an app wants to send to the conversation. The host announces to apps that
/// it supports only text.
fn message_text(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.to_string()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}
