//! The host that sent a request: its revision, its capabilities, and notifications to it.

#![allow(deprecated, reason = "logging is deprecated for the future and part of every revision so far")]

use rmcp::model::{
    ClientCapabilities, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

/// Context of a request or notification of the host, as the SDK passes it to handlers.
pub(crate) type Context = RequestContext<RoleServer>;

/// Log levels in ascending order of severity.
pub(crate) const LOG_LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

pub(crate) fn protocol_revision(context: &Context) -> ProtocolVersion {
    context.protocol_version().unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// Returns `true` if the request is of a revision without sessions (2026-07-28).
pub(crate) fn is_stateless(context: &Context) -> bool {
    !protocol_revision(context).has_initialize()
}

/// Returns `true` if the request uses this revision or a later one.
pub(crate) fn is_revision_at_least(context: &Context, oldest: &ProtocolVersion) -> bool {
    protocol_revision(context) >= *oldest
}

/// Returns the capabilities that the host declared, for the session or in this request.
pub(crate) fn host_capabilities(context: &Context) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

/// Sends a log message if the host requested messages of this level.
///
/// `session_level` is the level set by `logging/setLevel`. A stateless request contains its own level. Without a level,
/// no message is sent.
pub(crate) async fn send_log_message(
    context: &Context,
    session_level: LoggingLevel,
    level: LoggingLevel,
    logger: &str,
    data: Value,
) {
    let lowest_level = if is_stateless(context) { context.meta.log_level() } else { Some(session_level) };
    if lowest_level.is_none_or(|lowest_level| log_severity(level) < log_severity(lowest_level)) {
        return;
    }
    let message = LoggingMessageNotificationParam::new(level, data).with_logger(logger);
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::debug!("failed to send a log message: {error}");
    }
}

/// Reports the progress of a request if the host requested progress notifications.
pub(crate) async fn send_progress(context: &Context, done: f64, total: f64, message: String) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let progress = ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
    if let Err(error) = context.peer.notify_progress(progress).await {
        tracing::debug!("failed to send a progress notification: {error}");
    }
}

fn log_severity(level: LoggingLevel) -> usize {
    LOG_LEVELS.iter().position(|known| *known == level).unwrap_or_default()
}
