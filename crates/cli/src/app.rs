//! The `app` command: reads the page that a tool has for its results (MCP Apps), and saves it as a file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use api::ApiError;
use serde_json::{Value, json};

use crate::arguments::AppArguments;
use crate::failure::CommandFailure;
use crate::session::CommandSession;
use crate::terminal_escape::escape_line;

/// Prints the URI, size, hash and requested access of the page that an app (MCP Apps) shows for a tool's results, and
/// saves the page if a file is named. Executes nothing of the page.
pub(crate) async fn run(session: &CommandSession, what: AppArguments) -> Result<Value, CommandFailure> {
    let page = session.api.app_views().load_page(&what.server, &what.tool).await.map_err(ApiError::from)?;
    let report = page.requested_access_texts();
    if let Some(file) = &what.html {
        save_app_page(file, &page.html)?;
    }
    let mut lines = vec![
        format!("page   {}", escape_line(page.uri.as_str())),
        format!("size   {} bytes", page.html.len()),
        format!("hash   {}", page.hash),
    ];
    lines.extend(report.iter().map(|access| format!("access {}", escape_line(access))));
    session.output.print_text(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
    let saved = what.html.as_ref().map(|file| file.display().to_string());
    Ok(json!({
        "uri": page.uri.as_str(),
        "bytes": page.html.len(),
        "hash": page.hash.to_string(),
        "access": report,
        "saved": saved,
    }))
}

/// Writes the HTML of an app's page to a new file.
fn save_app_page(file: &Path, html: &str) -> Result<(), CommandFailure> {
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    let written = written.and_then(|mut opened| opened.write_all(html.as_bytes()));
    written.map_err(|error| CommandFailure::usage_error(format!("{} can't be written: {error}", file.display())))
}
