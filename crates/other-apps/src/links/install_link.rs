//! Writes install links for the user's own servers, for publishing them on a page. Links are public, so they never
//! contain secrets: values that look like secrets are left empty, to be filled in when the server is installed.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ports::server_config::{ConfigProblem, ServerConfig, ServerEntry, ServerTransport};
use serde_json::{Map, Value, json};

use super::link_servers::nearest_allowed_name;
use super::{link_problem, parse_candidates};
use crate::export::{EntryWriter, SecretSubstitute};
use crate::omissions::{ExportOmissions, OmittedSetting};

/// Characters that are percent-encoded in a link's parameter: all except letters, digits, `-`, `_` and `.`.
const PERCENT_ENCODED_CHARACTERS: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Maximum number of local paths that [`ExportOmissions`] mentions.
const MAX_PATHS_IN_NOTE: usize = 10;

/// The app for which an install link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkTarget {
    /// Drawbridge installs the server, after the user opens a `drawbridge:` link.
    Drawbridge,
    /// Cursor installs the server, after the user opens a `cursor:` link.
    Cursor,
    /// Visual Studio Code installs the server, after the user opens a `vscode:` link.
    VsCode,
}

impl LinkTarget {
    /// Returns the display name of the target app.
    #[must_use]
    pub const fn app(self) -> &'static str {
        match self {
            Self::Drawbridge => "Drawbridge",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
        }
    }
}

/// A link that installs a server when the user opens it. Contains no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallLink {
    /// App that installs the server when the link is opened.
    pub app: LinkTarget,
    /// URL with a scheme for which the operating system starts the app.
    pub link: String,
    /// Web page of the app's maker that redirects to `link`, or `None` if no such page exists. Sites such as GitHub
    /// only permit links to web pages.
    pub web: Option<String>,
    /// Values that have to be filled in, and settings that a link can't contain.
    pub omissions: ExportOmissions,
}

impl InstallLink {
    /// Returns Markdown with the link. If no web page redirects to the app, the Markdown also contains the link as
    /// text, for copying.
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
///
/// Returns [`ConfigProblem`] if a link can't install the server, for instance because its address is not encrypted or
/// the link would be too long. Drawbridge only writes links that it accepts.
///
/// # Examples
///
/// A link that is written can be imported again, without the secret:
///
/// ```
/// use other_apps::{LinkTarget, install_link, parse_pasted_servers};
/// use ports::server_config::{HttpConfig, ServerEntry};
///
/// let mut config = HttpConfig { url: "https://mcp.example.com/mcp".to_owned(), ..HttpConfig::default() };
/// config.headers.insert("Authorization".to_owned(), "Bearer a1b2c3d4e5f6".to_owned());
/// let server = ServerEntry { name: "example".to_owned(), config: config.into() };
///
/// let link = install_link(&server, LinkTarget::Cursor)?;
/// assert!(link.link.starts_with("cursor://"));
/// let imported = parse_pasted_servers(&link.link, &[])?;
/// assert_eq!(imported[0].name, "example");
/// let http = imported[0].config.as_http().expect("a remote server");
/// assert_eq!(http.url, "https://mcp.example.com/mcp");
/// assert!(!format!("{:?}", http.headers).contains("a1b2c3d4e5f6"));
/// # Ok::<(), ports::server_config::ConfigProblem>(())
/// ```
pub fn install_link(server: &ServerEntry, app: LinkTarget) -> Result<InstallLink, ConfigProblem> {
    let name = Some(nearest_allowed_name(&server.name))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| String::from("server"));
    let mut writer =
        EntryWriter::new(if app == LinkTarget::VsCode { SecretSubstitute::Input } else { SecretSubstitute::Blank });
    let mut entry = writer.write_entry(&name, &server.config);
    let omissions = ExportOmissions {
        name: (name != server.name).then(|| name.clone()),
        secrets: std::mem::take(&mut writer.secrets),
        removed: std::mem::take(&mut writer.removed),
        settings: remove_unsupported_settings(&mut entry, &server.config, app),
        local_paths: local_paths(&entry),
    };
    let (link, web) = link_and_web_url(&name, entry, writer.inputs, app);
    verify_link(&link, &server.config)?;
    Ok(InstallLink { app, link, web, omissions })
}

/// Removes from a server's entry the settings that a link for `app` can't contain, and returns the settings of `config`
/// that the link omits.
fn remove_unsupported_settings(
    entry: &mut Map<String, Value>,
    config: &ServerConfig,
    app: LinkTarget,
) -> Vec<OmittedSetting> {
    entry.remove("cwd");
    entry.retain(|key, value| key != "args" || value.as_array().is_some_and(|args| !args.is_empty()));
    let mut omitted = Vec::new();
    match &config.transport {
        ServerTransport::Stdio(stdio) => omitted.extend(stdio.cwd.as_ref().map(|_| OmittedSetting::WorkingFolder)),
        ServerTransport::Http(http) => {
            if http.kind.is_none() && app != LinkTarget::VsCode {
                entry.remove("type");
            }
        }
    }
    omitted.extend(OmittedSetting::omitted_in_every_export(config));
    omitted.extend((!config.tools.admits_all_tools()).then_some(OmittedSetting::Tools));
    omitted
}

/// Returns the paths in an entry that may exist only on this computer.
fn local_paths(entry: &Map<String, Value>) -> Vec<String> {
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
    words.filter(is_path).take(MAX_PATHS_IN_NOTE).map(str::to_owned).collect()
}

/// Returns the link with the app's scheme and, if there is one, the URL of the web page that redirects to it.
fn link_and_web_url(
    name: &str,
    entry: Map<String, Value>,
    inputs: Vec<Value>,
    app: LinkTarget,
) -> (String, Option<String>) {
    let config = Value::Object(entry.clone()).to_string();
    let encoded = |text: &str| utf8_percent_encode(text, PERCENT_ENCODED_CHARACTERS).to_string();
    match app {
        LinkTarget::Drawbridge => {
            let config = URL_SAFE_NO_PAD.encode(config);
            (format!("drawbridge://mcp/install?name={name}&config={config}"), None)
        }
        LinkTarget::Cursor => {
            let config = encoded(&STANDARD.encode(config));
            let link = |start: &str| format!("{start}?name={name}&config={config}");
            (link("cursor://anysphere.cursor-deeplink/mcp/install"), Some(link("https://cursor.com/install-mcp")))
        }
        LinkTarget::VsCode => {
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

/// Checks that parsing the link results in the server with this configuration.
fn verify_link(link: &str, config: &ServerConfig) -> Result<(), ConfigProblem> {
    let found = parse_candidates(link)
        .map_err(|found| link_problem(&format!("no link can install this server: {}", found.message)))?;
    let is_same = match (&found[..], config.as_stdio()) {
        ([found], Some(stdio)) => found.remote.is_none() && found.config.args.len() == stdio.args.len(),
        ([found], None) => found.remote.is_some(),
        _ => false,
    };
    if is_same { Ok(()) } else { Err(link_problem("no link can install this server: its command has blanks in it")) }
}
