//! Commands: `POST /api/NAME` with a JSON request.

use api::{Api, ApiError, ErrorCode};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::Value;

pub(crate) async fn handle_command(
    State(api): State<Api>,
    Path(name): Path<String>,
    Json(request): Json<Value>,
) -> Result<Json<Value>, (StatusCode, Json<ApiError>)> {
    // Closing the browser must not cancel a call that the user approved.
    let done = tokio::spawn(async move { api::dispatch(&api, &name, request).await }).await;
    let failed = |error: tokio::task::JoinError| Err(ApiError::new(ErrorCode::Internal, error.to_string()));
    done.unwrap_or_else(failed).map(Json).map_err(|error| (http_status_of_error(error.code), Json(error)))
}

const fn http_status_of_error(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::BadRequest | ErrorCode::BadName | ErrorCode::Invalid => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::NotReady
        | ErrorCode::NoModel
        | ErrorCode::SignInNeeded
        | ErrorCode::Refused
        | ErrorCode::Cancelled
        | ErrorCode::Stale => StatusCode::CONFLICT,
        ErrorCode::Config
        | ErrorCode::Timeout
        | ErrorCode::Server
        | ErrorCode::BadAnswer
        | ErrorCode::ServerGone
        | ErrorCode::Unsupported
        | ErrorCode::System
        | ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
