//! Sign-in with a browser on another computer: the user pastes the redirect URL into standard input.

use std::collections::HashSet;
use std::sync::Arc;

use api::data::{CompleteSignIn, ServerName, SignInPhase};
use api::{Api, ErrorCode, Handler as _};
use serde_json::json;
use tokio::sync::watch;

use crate::host_view::HostView;
use crate::input_lines::InputLines;
use crate::output::Output;
use crate::terminal_escape;

/// Sign-in that waits until the user pastes the URL to which the authorization server redirected the browser.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PendingSignIn {
    server: String,
    /// Redirect URI of the sign-in. The URL to paste starts with it.
    redirect_uri: String,
}

/// Reads redirect URLs that the user pastes and passes them to the waiting sign-ins, until the host stops or the input
/// ends. A browser on this computer can also complete a sign-in without a pasted URL.
pub(crate) async fn deliver_pasted_redirects(
    api: Api,
    mut view: watch::Receiver<HostView>,
    input: InputLines,
    output: Arc<Output>,
) {
    let mut reported = HashSet::new();
    loop {
        let (servers, is_asking) = {
            let view = view.borrow_and_update();
            let names: Vec<String> = view.servers.iter().map(|server| server.name.clone()).collect();
            (names, !view.consent_requests.is_empty())
        };
        let waiting = pending_sign_ins(&api, servers).await;
        for one in &waiting {
            if reported.insert(one.clone()) {
                let (server, begins) =
                    (terminal_escape::escape_line(&one.server), terminal_escape::escape_line(&one.redirect_uri));
                output.print_message(&format!("Then paste the final address for {server}; it begins with {begins}"));
            }
        }
        tokio::select! {
            changed = view.changed() => if changed.is_err() {
                return;
            },
            // During a prompt, typed lines are responses to the prompt.
            line = input.next_line(), if !waiting.is_empty() && !is_asking => match line.as_deref().map(str::trim) {
                Some("") => {}
                Some(address) => deliver_pasted_redirect(&api, &waiting, address, &output).await,
                None => return,
            },
        }
    }
}

async fn pending_sign_ins(api: &Api, servers: Vec<String>) -> Vec<PendingSignIn> {
    let mut waiting = Vec::new();
    for server in servers {
        // The server may have been removed since the event.
        let Ok(known) = api.read_authorization(ServerName { server: server.clone() }).await else { continue };
        let now = known.in_progress.filter(|now| now.phase == SignInPhase::AwaitingBrowser);
        waiting.extend(now.and_then(|now| now.redirect_uri).map(|redirect_uri| PendingSignIn { server, redirect_uri }));
    }
    waiting
}

/// Passes a pasted URL to the sign-in with this redirect URI. If the URL is invalid, the user can paste another one.
async fn deliver_pasted_redirect(api: &Api, waiting: &[PendingSignIn], address: &str, output: &Output) {
    let Some(meant) = waiting.iter().find(|one| address.starts_with(&one.redirect_uri)).or(waiting.first()) else {
        return;
    };
    let pasted = CompleteSignIn { server: meant.server.clone(), url: address.to_owned() };
    match api.complete_sign_in(pasted).await {
        // The browser may have completed the sign-in first.
        Err(error) if error.code != ErrorCode::NotReady => {
            output.print_event("note", json!({ "server": meant.server, "message": error.message }));
            output.print_message(&terminal_escape::escape_line(&error.message));
        }
        _ => {}
    }
}
