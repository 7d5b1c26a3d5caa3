//! Commands for apps of servers (MCP Apps).

use app_views::{AppPageError, AppViewError};

use super::arguments::saved_file_view;
use super::{Api, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

pub(super) async fn revoke_app_page_approval(api: &Api, r: AppPageRef) -> Result<EmptyObject, ApiError> {
    if !api.apps.revoke_page_approval(&r.server, &r.uri).await? {
        return Err(errors::not_found_error("approval of this app"));
    }
    Ok(EmptyObject {})
}

pub(super) async fn save_app_file(api: &Api, r: SaveAppFile) -> Result<SavedFile, ApiError> {
    let (name, bytes) = api.apps.file_offered_by_app(&r.view, r.request, r.file).await?;
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "txt"));
    let name = foreign::safe_file_name(stem, "file", extension);
    Ok(saved_file_view(api.host.save_file(&name, move |file| file.write_all(&bytes)).await?))
}

impl From<AppViewError> for ApiError {
    fn from(error: AppViewError) -> Self {
        let message = error.to_string();
        let code = match error {
            AppViewError::Page(AppPageError::Call(failure)) => return failure.into(),
            AppViewError::Review(error) => return error.into(),
            AppViewError::Conversation(error) => return error.into(),
            AppViewError::Unsupported(_) => ErrorCode::Unsupported,
            AppViewError::Page(AppPageError::NoPage) | AppViewError::NoResult => ErrorCode::NotFound,
            AppViewError::Page(AppPageError::Page(_)) => ErrorCode::BadAnswer,
            AppViewError::NotApproved | AppViewError::NotDecided => ErrorCode::Refused,
            AppViewError::OtherPage
            | AppViewError::OtherTools
            | AppViewError::NotStreamed
            | AppViewError::NoRequest
            | AppViewError::Closed => ErrorCode::Stale,
            AppViewError::TooMany | AppViewError::Busy => ErrorCode::NotReady,
            _ => ErrorCode::Internal,
        };
        ApiError::new(code, message)
    }
}
