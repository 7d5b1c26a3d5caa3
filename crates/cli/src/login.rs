//! The commands `login`, `logout` and `auth`.

use api::data::{Authorization, ServerName, ServerState, SignOutOutcome, TokenStorage};
use api::{ErrorCode, Handler as _};
use serde_json::{Value, json};

use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::published_names::{AUTHORIZATION_FIELD_NAMES, with_published_field_names};
use crate::session::{self, CommandSession};
use crate::sign_in_text;
use crate::terminal_escape;

/// Signs in to a server. Returns a failure if the tokens can't be stored for later commands.
pub(crate) async fn login(session: &CommandSession, server: &str) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(server)).await?;
    session.api.sign_in(to_server_name(server)).await?;
    let authorization = match wait_for_sign_in(session, server).await {
        Ok(authorization) => authorization,
        Err(failure) => return Err(print_and_attach_sign_in_steps(session, server, failure).await),
    };
    session.output.print_text(&sign_in_text::authorization_text(&authorization));
    match &authorization.token_storage {
        Some(TokenStorage::ThisRun { cause }) => {
            Err(unstorable_tokens_failure(server, cause, authorization_json(&authorization)))
        }
        _ => Ok(authorization_json(&authorization)),
    }
}

/// Returns the failure of a `login` that succeeded, but whose tokens are lost when the program exits because they can't
/// be stored.
fn unstorable_tokens_failure(server: &str, cause: &str, authorization: Value) -> CommandFailure {
    let message = format!(
        "{server}: the sign-in succeeded, but is lost now, because this program ends and its tokens can't be stored: {cause}\n\
         Until then sign in with the command that needs it, such as \"drawbridge-cli call {server} TOOL --paste\"."
    );
    CommandFailure { value: Some(Box::new(authorization)), ..CommandFailure::new(ErrorCode::SignInNeeded, message) }
}

/// Signs out of a server, and prints whether its tokens were revoked.
pub(crate) async fn logout(session: &CommandSession, server: &str) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(server)).await?;
    let done = session.api.sign_out(to_server_name(server)).await?;
    session.output.print_text(&match &done {
        SignOutOutcome::Yes => String::from("signed out; the tokens are revoked"),
        SignOutOutcome::NotOffered => {
            String::from("signed out here; the server can't revoke tokens, so they are valid until they expire")
        }
        SignOutOutcome::Failed { cause } => terminal_escape::escape_line(&format!(
            "signed out here; the tokens could not be revoked, so they may be valid until they expire: {cause}"
        )),
        SignOutOutcome::NobodySignedIn => String::from("no account was signed in"),
    });
    Ok(to_json_value(&done))
}

/// Prints the signed-in account, and the steps of the last sign-in.
pub(crate) async fn show_authorization(session: &CommandSession, server: &str) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(server)).await?;
    let authorization = session.api.read_authorization(to_server_name(server)).await?;
    session.output.print_text(&sign_in_text::authorization_text(&authorization));
    session.output.print_text(&sign_in_text::sign_in_steps_text(&authorization.steps));
    Ok(authorization_json(&authorization))
}

/// Prints Drawbridge's client ID metadata document, which the user publishes at this URL.
pub(crate) fn print_client_metadata_document(session: &CommandSession, url: &str) -> Result<Value, CommandFailure> {
    let unusable = || {
        CommandFailure::usage_error(format!("{url}: it must be an address that begins with https:// and has a path"))
    };
    let text = credentials::settings::client_id_metadata_json(url).ok_or_else(unusable)?;
    let document: Value =
        serde_json::from_str(&text).map_err(|error| CommandFailure::new(ErrorCode::Internal, error.to_string()))?;
    session.output.print_text(&terminal_escape::pretty_json(&document));
    Ok(document)
}

fn to_server_name(server: &str) -> ServerName {
    ServerName { server: server.to_owned() }
}

/// Waits until the sign-in to a server has ended and the server is ready. Returns a failure if the sign-in or the start
/// fails.
async fn wait_for_sign_in(session: &CommandSession, server: &str) -> Result<Authorization, CommandFailure> {
    let mut changes = session.watch_host_view();
    loop {
        changes.borrow_and_update();
        // The server's state is read first, so that a sign-in that starts when the server becomes ready is not missed.
        let state = session.server_state(server).await?;
        let known = session.api.read_authorization(to_server_name(server)).await?;
        if known.in_progress.is_none() {
            // Pending events may contain the denial of the sign-in.
            session.flush_events().await;
            if let Some(end) = finished_sign_in_result(session, server, &state, &known) {
                return end.map(|()| known);
            }
        }
        if changes.changed().await.is_err() {
            return Err(CommandFailure::new(ErrorCode::Internal, "the host ended"));
        }
    }
}

/// Returns the outcome of a sign-in from the states of the server and of its authorization, or `None` while neither has
/// ended.
fn finished_sign_in_result(
    session: &CommandSession,
    server: &str,
    state: &ServerState,
    known: &Authorization,
) -> Option<Result<(), CommandFailure>> {
    let refused = session.was_sign_in_refused_by_user(server);
    if refused {
        return Some(Err(CommandFailure::new(ErrorCode::Refused, format!("{server}: the sign-in was refused"))));
    }
    if let Some(cause) = &known.failure_message {
        return Some(Err(CommandFailure::new(ErrorCode::SignInNeeded, format!("{server}: {cause}"))));
    }
    match state {
        ServerState::Ready if is_signed_in(known) => Some(Ok(())),
        ServerState::Ready => {
            Some(Err(CommandFailure::new(ErrorCode::SignInNeeded, format!("{server} is running without a sign-in"))))
        }
        ServerState::Stopped => Some(Err(CommandFailure::new(ErrorCode::Refused, format!("{server} was not started")))),
        failed @ ServerState::Failed { .. } => Some(Err(session::server_start_failure(server, failed))),
        _ => None,
    }
}

fn authorization_json(authorization: &Authorization) -> Value {
    with_published_field_names(to_json_value(authorization), AUTHORIZATION_FIELD_NAMES)
}

/// Returns `true` if an account is signed in and does not have to sign in again.
fn is_signed_in(known: &Authorization) -> bool {
    known.account.as_ref().is_some_and(|account| account.reauthentication_reason.is_none())
}

/// Adds the recorded requests and responses of the sign-in to a failure and prints them, so that the user sees where
/// the sign-in failed.
async fn print_and_attach_sign_in_steps(
    session: &CommandSession,
    server: &str,
    failure: CommandFailure,
) -> CommandFailure {
    let Ok(known) = session.api.read_authorization(to_server_name(server)).await else { return failure };
    // A user who denied the sign-in knows the reason.
    if known.steps.is_empty() || session.was_sign_in_refused_by_user(server) {
        return failure;
    }
    session.output.print_message(sign_in_text::sign_in_steps_text(&known.steps).trim_end());
    CommandFailure {
        data: Some(Box::new(with_published_field_names(json!({ "steps": known.steps }), AUTHORIZATION_FIELD_NAMES))),
        ..failure
    }
}
