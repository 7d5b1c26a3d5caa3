//! The `link` command: creates install links for the user's servers, to publish on a web page or in a README.

use api::ApiError;
use other_apps::{LinkTarget, install_link};
use ports::server_config::ServerEntry;
use serde_json::{Value, json};

use crate::arguments::{InstallLinkApp, LinkArguments};
use crate::failure::CommandFailure;
use crate::session::CommandSession;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line};

/// Prints a link that installs a server, with notes on values to fill in and on settings that the link does not
/// contain. Starts nothing.
pub(crate) async fn run(session: &CommandSession, what: LinkArguments) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(&what.server)).await?;
    let snapshot = session.api.host().snapshot().await.map_err(ApiError::from)?;
    let server = snapshot.servers.into_iter().find(|server| server.name == what.server);
    let server =
        server.ok_or_else(|| CommandFailure::usage_error(format!("the server {:?} was just removed", what.server)))?;
    let app = match what.app {
        InstallLinkApp::Drawbridge => LinkTarget::Drawbridge,
        InstallLinkApp::Cursor => LinkTarget::Cursor,
        InstallLinkApp::VsCode => LinkTarget::VsCode,
    };
    let entry = ServerEntry { name: server.name, config: server.config };
    let link = install_link(&entry, app).map_err(|problem| CommandFailure::usage_error(problem.message))?;
    let notes = link.omissions.link_notes();
    for note in &notes {
        session.output.print_message(&escape_line(note));
    }
    let markdown = link.markdown();
    session.output.print_text(&escape_and_prefix_lines(if what.markdown { &markdown } else { &link.link }, ""));
    Ok(json!({ "app": app.app(), "link": link.link, "web": link.web, "markdown": markdown, "notes": notes }))
}
