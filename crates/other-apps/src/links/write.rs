//! Links for the user's own servers, which an author puts on a page. A link is public, so no secret is ever in one: what looks like one is left blank,
//! to be filled in by whoever installs the server.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ports::server_config::{ConfigProblem, ServerConfig, ServerEntry, ServerTransport};
use serde_json::{Map, Value, json};

use super::server::plain_name;
use super::{candidates, problem};
use crate::export::{Stand, Writer};
use crate::notes::quoted;

/// What a parameter may not have as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// The most paths named in one note.
const MAX_NAMED: usize = 10;

/// The app that a link installs a server in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkFor {
    /// Drawbridge itself.
    Drawbridge,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
}

impl LinkFor {
    /// Its name, for people.
    #[must_use]
    pub const fn app(self) -> &'static str {
        match self {
            Self::Drawbridge => "Drawbridge",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }
}

/// A link that installs a server. No secret is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallLink {
    /// The app that it is for.
    pub app: LinkFor,
    /// The link, which the app itself opens.
    pub link: String,
    /// The page of the app's maker that leads to it. Sites such as GitHub show no link but to a web page.
    pub web: Option<String>,
    /// What is to be filled in, and what no link can carry, in words.
    pub notes: Vec<String>,
}

impl InstallLink {
    /// A text for a page in Markdown. Where there is no web page that leads to the app, the link stands there once more, to be pasted.
    #[must_use]
    pub fn markdown(&self) -> String {
        let title = format!("Add to {}", self.app.app());
        match &self.web {
            Some(web) => format!("[{title}]({web})"),
            None => {
                let link = &self.link;
                format!("[{title}]({link}), or copy this and paste it under *Add server*:\n\n```text\n{link}\n```")
            }
        }
    }
}

/// Writes a link that installs a server.
///
/// # Errors
/// If the server can't be installed by a link, for instance as its address is not encrypted, or the link would be too long: what Drawbridge
/// refuses to read it doesn't write.
pub fn install_link(server: &ServerEntry, app: LinkFor) -> Result<InstallLink, ConfigProblem> {
    let name = Some(plain_name(&server.name)).filter(|name| !name.is_empty()).unwrap_or_else(|| String::from("server"));
    let mut writer = Writer::new(if app == LinkFor::VsCode { Stand::Input } else { Stand::Blank });
    let mut entry = writer.entry(&name, &server.config);
    let mut notes = Vec::new();
    if name != server.name {
        notes.push(format!(
            "it is called {name} in the link, where a name has only letters, digits, \".\", \"-\" and \"_\""
        ));
    }
    notes.extend(writer.secrets.iter().map(|name| format!("{} is left blank, as a secret", quoted(name))));
    notes.append(&mut writer.notes);
    notes.extend(left_out(&mut entry, &server.config, app));
    notes.extend(own_paths(&entry));
    let (link, web) = addresses(&name, entry, writer.inputs, app);
    readable(&link, &server.config)?;
    Ok(InstallLink { app, link, web, notes })
}

/// Takes out what no link carries, and says so.
fn left_out(entry: &mut Map<String, Value>, config: &ServerConfig, app: LinkFor) -> Option<String> {
    entry.remove("cwd");
    entry.retain(|key, value| key != "args" || value.as_array().is_some_and(|args| !args.is_empty()));
    let mut places = Vec::new();
    match &config.transport {
        ServerTransport::Stdio(stdio) => {
            places.extend(stdio.cwd.as_ref().map(|_| "the folder it starts in"));
            places.extend(stdio.sandbox.as_ref().map(|_| "its sandbox"));
        }
        ServerTransport::Http(http) => {
            places.extend(http.auth.as_ref().map(|_| "how to sign in"));
            if http.kind.is_none() && app != LinkFor::VsCode {
                entry.remove("type");
            }
        }
    }
    places.extend(config.revision.map(|_| "the revision of the protocol"));
    (!places.is_empty()).then(|| format!("no link carries {}", places.join(", ")))
}

/// Names paths that only this computer has. What is left out as a secret is not among them.
fn own_paths(entry: &Map<String, Value>) -> Option<String> {
    let is_path = |word: &&str| {
        let is_drive = matches!(word.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
        is_drive || (word.starts_with(['/', '~']) && word.len() > 1)
    };
    let values = |key: &str| match entry.get(key) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(Value::Object(map)) => map.values().collect(),
        other => other.into_iter().collect::<Vec<_>>(),
    };
    let words = ["command", "args", "env"].into_iter().flat_map(values).filter_map(Value::as_str);
    let paths: Vec<String> = words.filter(is_path).take(MAX_NAMED).map(quoted).collect();
    (!paths.is_empty()).then(|| format!("these paths may be only on this computer: {}", paths.join(", ")))
}

/// The link, and the web page that leads to it.
fn addresses(name: &str, entry: Map<String, Value>, inputs: Vec<Value>, app: LinkFor) -> (String, Option<String>) {
    let config = Value::Object(entry.clone()).to_string();
    let encoded = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    match app {
        LinkFor::Drawbridge => {
            let config = URL_SAFE_NO_PAD.encode(config);
            (format!("drawbridge://mcp/install?name={name}&config={config}"), None)
        }
        LinkFor::Cursor => {
            let config = encoded(&STANDARD.encode(config));
            let link = |start: &str| format!("{start}?name={name}&config={config}");
            (link("cursor://anysphere.cursor-deeplink/mcp/install"), Some(link("https://cursor.com/install-mcp")))
        }
        LinkFor::VsCode => {
            let mut whole = Map::from_iter([(String::from("name"), Value::from(name))]);
            whole.extend(entry);
            let mut web = format!("https://vscode.dev/redirect/mcp/install?name={name}&config={}", encoded(&config));
            if !inputs.is_empty() {
                web.push_str(&format!("&inputs={}", encoded(&json!(inputs).to_string())));
                whole.insert(String::from("inputs"), inputs.into());
            }
            (format!("vscode:mcp/install?{}", encoded(&Value::Object(whole).to_string())), Some(web))
        }
    }
}

/// Checks that the link is read as what it was written for.
fn readable(link: &str, config: &ServerConfig) -> Result<(), ConfigProblem> {
    let found =
        candidates(link).map_err(|found| problem(&format!("no link can install this server: {}", found.message)))?;
    let is_same = match (&found[..], config.as_stdio()) {
        ([found], Some(stdio)) => found.remote.is_none() && found.config.args.len() == stdio.args.len(),
        ([found], None) => found.remote.is_some(),
        _ => false,
    };
    if is_same { Ok(()) } else { Err(problem("no link can install this server: its command has blanks in it")) }
}
