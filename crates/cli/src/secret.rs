//! The `secret` command: stores a secret that the settings of a server reference.

use std::io::Read as _;

use api::data::SetSecret;
use api::{ErrorCode, Handler as _};
use serde_json::Value;

use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::session::CommandSession;

/// Maximum length of a secret that the `secret` command stores, in bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Reads a secret from standard input and stores it. Returns a failure if the secret would be lost when the program
/// exits.
pub(crate) async fn store_secret(
    session: &CommandSession,
    server: &str,
    name: String,
) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(server)).await?;
    let read = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        std::io::stdin().lock().take(MAX_SECRET_BYTES).read_to_string(&mut text).map(|_| text)
    });
    let text = read.await.map_err(|error| CommandFailure::new(ErrorCode::Internal, error.to_string()))?;
    let text = text.map_err(|error| CommandFailure::usage_error(format!("standard input: {error}")))?;
    let secret = SetSecret { server: server.to_owned(), header: name, value: text.trim_end().to_owned() };
    let response = session.api.set_secret(secret).await?;
    if let Some(cause) = response.only_this_run {
        return Err(CommandFailure::new(ErrorCode::System, format!("the secret could not be stored: {cause}")));
    }
    session.output.print_text("stored, encrypted with a key in the keychain");
    Ok(to_json_value(&response))
}
