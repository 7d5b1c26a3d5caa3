//! `mcp.json`: the servers that the user has configured, in a format that other programs use as well.
//!
//! The format is plain JSON. Content that this version does not understand is preserved: unknown keys, and servers with
//! an unknown transport.

mod auth;
mod edit;
mod read;
mod sandbox;

use std::path::{Path, PathBuf};

use domain::StoreError;
use other_apps::json_text::{JsonText, without_byte_order_mark};
use ports::ServerSettings;
use ports::server_config::{ConfigProblem, PastedServer, ServerConfig, ServerEntry, StdioConfig};
use tokio::sync::mpsc;

use crate::files::{self, ExistingFileAction};
use crate::folder_lock::FolderLock;

use read::server_name_problem;

/// Maximum size of `mcp.json`, in bytes.
const MAX_MCP_JSON_BYTES: u64 = 4 << 20;

/// Maximum number of attempts to edit `mcp.json`. An edit is attempted again if another program has changed the file
/// since it was read.
const MAX_EDIT_ATTEMPTS: usize = 5;

/// Content of a new `mcp.json` without servers.
const EMPTY_MCP_JSON: &str = "{\n  \"mcpServers\": {}\n}\n";

/// The settings file `mcp.json`, which contains the servers. Implements [`ServerSettings`].
#[derive(Debug)]
pub(crate) struct McpJson {
    path: PathBuf,
    lock: FolderLock,
}

impl McpJson {
    pub(crate) fn new(path: PathBuf, lock: FolderLock) -> Self {
        Self { path, lock }
    }

    fn displayed_path(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the text of `mcp.json`, or `None` if the file does not exist.
    fn text(&self) -> Result<Option<String>, ConfigProblem> {
        let Some(bytes) = files::read(&self.path, MAX_MCP_JSON_BYTES).map_err(config_problem)? else { return Ok(None) };
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Err(self.file_problem("the file is in UTF-16; save it as UTF-8"));
        }
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            self.text_with_path(&text).problem(text.len(), "a byte that is not UTF-8; save the file as UTF-8")
        })
    }

    fn text_with_path<'t>(&'t self, text: &'t str) -> SettingsFileText<'t> {
        SettingsFileText { text, path: self.displayed_path() }
    }

    fn file_problem(&self, message: impl Into<String>) -> ConfigProblem {
        ConfigProblem { file: Some(self.displayed_path()), line: None, column: None, message: message.into() }
    }

    fn servers(&self, text: &str) -> Result<read::ParsedServers, ConfigProblem> {
        self.text_with_path(text).read()
    }

    /// Edits the text of `mcp.json` with the function `edit`. The file is read immediately before it is written, so
    /// that a change by another program is preserved, and an unreadable file is not overwritten. Returns `false` if
    /// `edit` returns `None` because there is nothing to change.
    fn edit_file(&self, edit: impl Fn(&str) -> Result<Option<SettingsEdit>, String>) -> Result<bool, ConfigProblem> {
        let _held = self.lock.acquire().map_err(config_problem)?;
        for _ in 0..MAX_EDIT_ATTEMPTS {
            let before = self.text()?;
            let text = before.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or(EMPTY_MCP_JSON);
            self.servers(text)?;
            let bare = without_byte_order_mark(text);
            let Some(edit) = edit(bare).map_err(|message| self.file_problem(message))? else { return Ok(false) };
            let after = format!("{}{}", &text[..text.len() - bare.len()], edit.text);
            if self.servers(&after)?.usable != edit.expected {
                return Err(self.file_problem("the change could not be applied to the file; edit it manually"));
            }
            if self.text()? == before {
                files::write(&self.path, after.as_bytes(), ExistingFileAction::Replace).map_err(config_problem)?;
                return Ok(true);
            }
        }
        Err(self.file_problem("the file keeps changing; try again when the other program has finished"))
    }

    /// Writes a server to `mcp.json` if `may_write` returns `true` for the servers that the file contains. A renamed
    /// server replaces the one with its `former_name`. Returns `true` if the server was written.
    fn put_server_if(
        &self,
        entry: &ServerEntry,
        former_name: Option<&str>,
        may_write: impl Fn(&[ServerEntry]) -> bool,
    ) -> Result<bool, ConfigProblem> {
        if let Some(message) = server_name_problem(&entry.name) {
            return Err(self.file_problem(message));
        }
        self.edit_file(|text| {
            let servers = read::parse_servers(&JsonText::without_file(text)).map_err(|problem| problem.to_string())?;
            if !may_write(&servers.usable) {
                return Ok(None);
            }
            let expected = servers.with_entry(entry, former_name)?;
            Ok(Some(SettingsEdit { text: edit::put_server(text, entry, former_name)?, expected }))
        })
    }
}

/// The edited text of `mcp.json`, and the servers that parsing this text must yield.
struct SettingsEdit {
    text: String,
    expected: Vec<ServerEntry>,
}

/// The text of the settings file, with its path for error messages.
struct SettingsFileText<'t> {
    text: &'t str,
    path: String,
}

impl SettingsFileText<'_> {
    fn json(&self) -> JsonText<'_> {
        let text = without_byte_order_mark(self.text);
        JsonText { file: Some(&self.path), ..JsonText::without_file(text) }
    }

    fn problem(&self, offset: usize, message: &str) -> ConfigProblem {
        let mark = self.text.len() - without_byte_order_mark(self.text).len();
        self.json().problem(offset.saturating_sub(mark), message)
    }

    fn read(&self) -> Result<read::ParsedServers, ConfigProblem> {
        read::parse_servers(&self.json())
    }
}

fn config_problem(error: StoreError) -> ConfigProblem {
    ConfigProblem { file: Some(error.path), line: None, column: None, message: error.cause }
}

impl ServerSettings for McpJson {
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn load(&self) -> Result<Vec<ServerEntry>, ConfigProblem> {
        match self.text()? {
            // Some programs empty a file before they write it. An empty file does not mean that all servers were
            // removed.
            Some(text) if text.trim().is_empty() => Err(ConfigProblem {
                file: Some(self.path.display().to_string()),
                line: Some(1),
                column: None,
                message: "the file is empty; expected an object with \"mcpServers\"".to_owned(),
            }),
            Some(text) => Ok(self.servers(&text)?.usable),
            None => Ok(Vec::new()),
        }
    }

    fn put(&self, entry: &ServerEntry, former_name: Option<&str>) -> Result<(), ConfigProblem> {
        self.put_server_if(entry, former_name, |_| true).map(drop)
    }

    fn put_if_unchanged(&self, entry: &ServerEntry, before: Option<&ServerConfig>) -> Result<bool, ConfigProblem> {
        let is_as_before = |servers: &[ServerEntry]| {
            servers.iter().find(|other| other.name == entry.name).map(|other| &other.config) == before
        };
        self.put_server_if(entry, before.map(|_| entry.name.as_str()), is_as_before)
    }

    fn remove(&self, name: &str) -> Result<(), ConfigProblem> {
        if self.text()?.is_none() {
            return Ok(());
        }
        let removed = self.edit_file(|text| {
            let mut servers =
                read::parse_servers(&JsonText::without_file(text)).map_err(|problem| problem.to_string())?;
            servers.usable.retain(|entry| entry.name != name);
            if servers.unknown.iter().any(|unknown| unknown == name) {
                return Ok(Some(SettingsEdit { text: text.to_owned(), expected: servers.usable }));
            }
            Ok(Some(SettingsEdit { text: edit::remove_server(text, name)?, expected: servers.usable }))
        });
        removed.map(drop)
    }

    fn parse_pasted(&self, text: &str, taken: &[String]) -> Result<Vec<PastedServer>, ConfigProblem> {
        other_apps::parse_pasted_servers(text, taken)
    }

    fn watch(&self, changed: mpsc::Sender<()>) {
        crate::file_watch::watch_file(self.path.clone(), changed);
    }
}

/// Creates a settings file that contains the bundled demo server, if no settings file exists. Returns `true` if the
/// file was created. Does not start the server.
///
/// # Errors
/// Returns [`ConfigProblem`] if the file can't be written, or the program's path is not valid Unicode.
pub fn add_demo_server_if_first_start(config_file: &Path, demo_program: &Path) -> Result<bool, ConfigProblem> {
    let without_place = |message: String| ConfigProblem {
        file: Some(config_file.display().to_string()),
        line: None,
        column: None,
        message,
    };
    if config_file.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let command = demo_program
        .to_str()
        .ok_or_else(|| without_place(format!("the path {} is not Unicode text", demo_program.display())))?;
    let config = StdioConfig { command: command.to_owned(), ..StdioConfig::default() };
    let entry = ServerEntry { name: String::from("demo"), config: config.into() };
    let text = edit::put_server(EMPTY_MCP_JSON, &entry, None).map_err(without_place)?;
    files::write(config_file, text.as_bytes(), ExistingFileAction::Keep).map_err(config_problem)
}
