//! Signing in with a browser that is elsewhere: the address that it ends up at is pasted into standard input.

use std::collections::HashSet;
use std::sync::Arc;

use api::data::{PasteRedirect, ServerName, SignInPhase};
use api::{Api, ErrorCode, Handler as _};
use serde_json::json;
use tokio::sync::watch;

use crate::input::Input;
use crate::output::Output;
use crate::view::View;
use crate::visible;

/// A sign-in that waits for its browser.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Waiting {
    server: String,
    /// What the address begins with.
    redirect_uri: String,
}

/// Takes pasted addresses for whichever sign-in waits for one, until the host or the input ends. At the end of the input a
/// browser on this computer may still come back by itself.
pub(crate) async fn take_all(api: Api, mut view: watch::Receiver<View>, input: Input, output: Arc<Output>) {
    let mut told = HashSet::new();
    loop {
        let (servers, is_asking) = {
            let view = view.borrow_and_update();
            let names: Vec<String> = view.servers.iter().map(|server| server.name.clone()).collect();
            (names, !view.questions.is_empty())
        };
        let waiting = waiting(&api, servers).await;
        for one in &waiting {
            if told.insert(one.clone()) {
                let (server, begins) = (visible::line(&one.server), visible::line(&one.redirect_uri));
                output.say(&format!("Then paste the address you end up at for {server}; it begins with {begins}"));
            }
        }
        tokio::select! {
            changed = view.changed() => if changed.is_err() {
                return;
            },
            // A line typed while a question is open is its answer.
            line = input.line(), if !waiting.is_empty() && !is_asking => match line.as_deref().map(str::trim) {
                Some("") => {}
                Some(address) => hand_over(&api, &waiting, address, &output).await,
                None => return,
            },
        }
    }
}

async fn waiting(api: &Api, servers: Vec<String>) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    for server in servers {
        // One that is gone meanwhile waits for nothing.
        let Ok(known) = api.authorization(ServerName { server: server.clone() }).await else { continue };
        let now = known.in_progress.filter(|now| now.phase == SignInPhase::AwaitingBrowser);
        waiting.extend(now.and_then(|now| now.redirect_uri).map(|redirect_uri| Waiting { server, redirect_uri }));
    }
    waiting
}

/// Gives an address to the sign-in that it is for. What is not the right one can be pasted again.
async fn hand_over(api: &Api, waiting: &[Waiting], address: &str, output: &Output) {
    let Some(meant) = waiting.iter().find(|one| address.starts_with(&one.redirect_uri)).or(waiting.first()) else {
        return;
    };
    let pasted = PasteRedirect { server: meant.server.clone(), url: address.to_owned() };
    match api.paste_redirect(pasted).await {
        // The browser may have been quicker.
        Err(error) if error.code != ErrorCode::NotReady => {
            output.event("note", json!({ "server": meant.server, "message": error.message }));
            output.say(&visible::line(&error.message));
        }
        _ => {}
    }
}
