//! The host at the other end of a request: what it speaks, what it can do, and telling it things.

#![allow(deprecated, reason = "logging is deprecated for the future and part of every revision so far")]

use rmcp::model::{
    ClientCapabilities, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

/// The context of one request.
pub(crate) type Context = RequestContext<RoleServer>;

/// The log levels, from chatter to emergency.
pub(crate) const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

/// The revision that this request is spoken in.
pub(crate) fn revision(context: &Context) -> ProtocolVersion {
    context.protocol_version().unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE)
}

/// Whether the request is of the stateless era.
pub(crate) fn is_modern(context: &Context) -> bool {
    !revision(context).has_initialize()
}

/// Whether the request's revision is this one or a later one.
pub(crate) fn is_at_least(context: &Context, oldest: &ProtocolVersion) -> bool {
    revision(context) >= *oldest
}

/// What the host has declared: once for a session, or with this very request.
pub(crate) fn capabilities(context: &Context) -> ClientCapabilities {
    context.client_capabilities().unwrap_or_default()
}

/// Sends a log message, if the host wants messages of that level.
///
/// `session_level` is what `logging/setLevel` has set; a modern request carries its own level,
/// and without one it gets no messages.
pub(crate) async fn log(
    context: &Context,
    session_level: LoggingLevel,
    level: LoggingLevel,
    logger: &str,
    data: Value,
) {
    let wanted = if is_modern(context) { context.meta.log_level() } else { Some(session_level) };
    if wanted.is_none_or(|wanted| severity(level) < severity(wanted)) {
        return;
    }
    let message = LoggingMessageNotificationParam::new(level, data).with_logger(logger);
    if let Err(error) = context.peer.notify_logging_message(message).await {
        tracing::debug!("a log message was lost: {error}");
    }
}

/// Reports progress, if the host asked for it.
pub(crate) async fn progress(context: &Context, done: f64, total: f64, message: String) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let progress = ProgressNotificationParam::new(token, done).with_total(total).with_message(message);
    if let Err(error) = context.peer.notify_progress(progress).await {
        tracing::debug!("a progress report was lost: {error}");
    }
}

fn severity(level: LoggingLevel) -> usize {
    LEVELS.iter().position(|known| *known == level).unwrap_or_default()
}
