//! Parses the servers in a settings file of an app. If an entry is invalid, the others are still parsed, unlike if the
//! whole file is invalid.

mod claude_state;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use ports::server_config::{ConfigProblem, HttpKind, ImportNote, ImportNoteKind};

use crate::apps::{FileLayout, SourceApp};
use crate::json_text::{JsonDialect, JsonText, present_property, value_type_name, without_byte_order_mark};
use crate::notes::quoted_text;
use crate::server_candidate::ServerCandidate;
use crate::{entry, toml_text, yaml_text};

/// Maximum number of servers in a settings file of another app.
const MAX_SERVERS_PER_FILE: usize = 500;
/// Keys of the objects that contain servers in most apps. Some files contain both.
const COMMON_SERVER_MAP_KEYS: [&str; 2] = ["mcpServers", "servers"];

/// The entry of one server in a settings file, parsed on its own, so that an invalid entry does not affect others.
#[derive(Debug)]
pub(crate) struct SettingsEntry {
    pub(crate) name: Option<String>,
    /// The parsed server, or the reason why the entry is invalid.
    pub(crate) candidate: Result<ServerCandidate, ConfigProblem>,
}

/// Parses the entries in a settings file of an app.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if the whole file is unusable.
pub(crate) fn read_entries(
    text: &str,
    file: &str,
    app: Option<&SourceApp>,
    layout: FileLayout,
) -> Result<Vec<SettingsEntry>, ConfigProblem> {
    let text = JsonText { file: Some(file), ..JsonText::without_file(without_byte_order_mark(text)) };
    let mut reader = SettingsReader { text, app, entries: Vec::new() };
    if layout == FileLayout::ClaudeState && text.text.len() as u64 > crate::files::MAX_SETTINGS_FILE_BYTES {
        return claude_state::read_claude_state_entries(reader);
    }
    let is_json = !matches!(layout, FileLayout::Continue) || text.text.trim_start().starts_with('{');
    let root = match layout {
        FileLayout::Toml(_) => Some(toml_text::parse_toml(&text)?),
        FileLayout::Goose => yaml_text::parse_yaml(&text)?,
        FileLayout::Continue if !is_json => yaml_text::parse_yaml(&text)?,
        _ => text.parse(JsonDialect::WithComments)?,
    };
    // Settings of a known app may have no servers, unlike another file that the user chose.
    let needs_server = app.is_none() && matches!(layout, FileLayout::Goose | FileLayout::Continue);
    let root = match root {
        None | Some(Value::NullKeyword(_)) if needs_server => return Err(no_yaml_servers_problem(&text, 0)),
        None | Some(Value::NullKeyword(_)) => return Ok(Vec::new()),
        Some(Value::Object(root)) => root,
        Some(other) => {
            return Err(text.value_problem(&other, format!("expected an object, found {}", value_type_name(&other))));
        }
    };
    reader.read_root(&root, layout)?;
    if needs_server && reader.entries.is_empty() {
        return Err(no_yaml_servers_problem(&text, root.range.start));
    }
    Ok(reader.entries)
}

/// Creates the error that a YAML file defines no servers.
fn no_yaml_servers_problem(text: &JsonText<'_>, at: usize) -> ConfigProblem {
    text.problem(at, "there is no server in this file: expected servers under \"mcpServers\" or \"extensions\"")
}

struct SettingsReader<'r, 't> {
    text: JsonText<'t>,
    app: Option<&'r SourceApp>,
    entries: Vec<SettingsEntry>,
}

impl SettingsReader<'_, '_> {
    fn read_root(&mut self, root: &Object<'_>, layout: FileLayout) -> Result<(), ConfigProblem> {
        match layout {
            FileLayout::Keys(keys) => match self.find_value(root, keys)? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                None => self.reject_other_app_keys(root, keys),
            },
            FileLayout::Settings(keys) => match self.find_value(root, keys)? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                None => Ok(()),
            },
            FileLayout::KeysOrBare(keys) => match self.find_value(root, keys)? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                None if entry::is_server_map(root) => self.read_bare_map(root),
                None => self.reject_other_app_keys(root, keys),
            },
            FileLayout::ClaudeState => self.read_claude_state(root),
            FileLayout::OpenCode => self.read_opencode_servers(root),
            FileLayout::Toml(keys) => match self.find_value(root, keys)? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                // Settings of a known app may have no servers, unlike another file that the user chose.
                None if self.app.is_none() => Err(self.missing_toml_tables_problem(root, keys)),
                None => Ok(()),
            },
            FileLayout::Goose => match self.find_value(root, &["extensions"])? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                None => Ok(()),
            },
            FileLayout::Continue => match self.find_value(root, &["mcpServers"])? {
                Some((value, parent)) => self.read_servers(value, parent, None),
                None if entry::is_server_entry(root) => {
                    self.read_entry(root.get_string("name").map(|name| name.value.to_string()), root, root, None);
                    Ok(())
                }
                None if entry::is_server_map(root) => self.read_bare_map(root),
                None => Ok(()),
            },
        }?;
        self.mark_disabled_servers(root);
        self.note_unread_server_map(root, layout);
        Ok(())
    }

    /// Returns the value of the first of `keys` that exists in `root`, and the object that directly contains the value.
    /// A slash in a key separates nested keys.
    fn find_value<'o, 'a>(
        &self,
        root: &'o Object<'a>,
        keys: &[&str],
    ) -> Result<Option<(&'o Value<'a>, &'o Object<'a>)>, ConfigProblem> {
        for key in keys {
            let (folder, last) = key.split_once('/').map_or((None, *key), |(folder, last)| (Some(folder), last));
            let object = match folder {
                Some(folder) => root.get_object(folder),
                None => Some(root),
            };
            let Some(object) = object else { continue };
            self.check_unique(object, last)?;
            if let Some(property) = present_property(object, last) {
                return Ok(Some((&property.value, object)));
            }
        }
        Ok(None)
    }

    /// Checks that an object in a settings file contains `key` at most once, since apps differ in which of two values
    /// for the same key they use.
    fn check_unique(&self, object: &Object<'_>, key: &str) -> Result<(), ConfigProblem> {
        let mut places = object.properties.iter().filter(|property| property.name.as_str() == key);
        match (places.next(), places.next()) {
            (Some(_), Some(second)) => Err(self
                .text
                .problem(second.range.start, format!("{key:?} occurs twice in the file; remove one of them"))),
            _ => Ok(()),
        }
    }

    /// Adds a note to each server if the file has a second object of servers, which the other app does not read.
    fn note_unread_server_map(&mut self, root: &Object<'_>, layout: FileLayout) {
        let (FileLayout::Keys(keys) | FileLayout::KeysOrBare(keys) | FileLayout::Settings(keys)) = layout else {
            return;
        };
        let has_servers = |key: &&str| root.get_object(key).is_some_and(|map| !map.properties.is_empty());
        let Some(read) = keys.iter().find(|key| present_property(root, key).is_some()) else { return };
        let Some(other) = COMMON_SERVER_MAP_KEYS.iter().filter(|key| *key != read).find(|key| has_servers(key)) else {
            return;
        };
        for found in self.entries.iter_mut().filter_map(|entry| entry.candidate.as_mut().ok()) {
            let note = format!("the file has {other:?} in addition to {read:?}, which its app does not read");
            found.notes.push(ImportNote::new(ImportNoteKind::OtherList, note).with_names([*other]));
        }
    }

    fn reject_other_app_keys(&self, root: &Object<'_>, keys: &[&str]) -> Result<(), ConfigProblem> {
        let other = root.properties.iter().find(|property| {
            entry::SERVER_MAP_KEYS.contains(&property.name.as_str())
                && matches!(property.value, Value::Object(_) | Value::Array(_))
        });
        let Some(other) = other else { return Ok(()) };
        let expected = keys.first().copied().unwrap_or_default();
        let message = format!("expected {expected:?}, found {:?}, which this app does not read", other.name.as_str());
        Err(self.text.problem(other.range.start, message))
    }

    /// Creates the error that a TOML file has no table of servers.
    fn missing_toml_tables_problem(&self, root: &Object<'_>, keys: &[&str]) -> ConfigProblem {
        let expected = keys.first().copied().unwrap_or_default();
        let message = format!("there is no server in this file: expected the table {expected:?}");
        self.text.problem(root.range.start, message)
    }

    fn read_servers(
        &mut self,
        value: &Value<'_>,
        parent: &Object<'_>,
        project: Option<&str>,
    ) -> Result<(), ConfigProblem> {
        match value {
            Value::Object(map) => {
                self.text.reject_duplicate_keys(map, "the list of servers")?;
                for property in &map.properties {
                    self.read_named_entry(property, parent, project)?;
                }
                Ok(())
            }
            Value::Array(list) => {
                for value in &list.elements {
                    self.check_server_limit(value)?;
                    let name = value.as_object().and_then(|object| object.get_string("name"));
                    let name = name.map(|name| name.value.to_string());
                    match value {
                        Value::Object(object) => self.read_entry(name, object, parent, project),
                        other => self.add_broken_entry(name, other),
                    }
                }
                Ok(())
            }
            other => {
                let message =
                    format!("expected an object with a server under each name, found {}", value_type_name(other));
                Err(self.text.value_problem(other, message))
            }
        }
    }

    fn check_server_limit(&self, value: &Value<'_>) -> Result<(), ConfigProblem> {
        if self.entries.len() < MAX_SERVERS_PER_FILE {
            return Ok(());
        }
        Err(self.text.value_problem(value, format!("there are more than {MAX_SERVERS_PER_FILE} servers in the file")))
    }

    fn read_named_entry(
        &mut self,
        property: &ObjectProp<'_>,
        parent: &Object<'_>,
        project: Option<&str>,
    ) -> Result<(), ConfigProblem> {
        self.check_server_limit(&property.value)?;
        let name = Some(property.name.as_str().to_owned());
        match &property.value {
            Value::Object(object) => self.read_entry(name, object, parent, project),
            other => self.add_broken_entry(name, other),
        }
        Ok(())
    }

    /// Parses a file in which the top-level object contains servers by name. Values other than objects are ignored as
    /// metadata.
    fn read_bare_map(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        self.text.reject_duplicate_keys(root, "the file")?;
        for property in root.properties.iter().filter(|property| matches!(property.value, Value::Object(_))) {
            self.read_named_entry(property, root, None)?;
        }
        Ok(())
    }

    fn add_broken_entry(&mut self, name: Option<String>, value: &Value<'_>) {
        let message = format!("a server must be an object, found {}", value_type_name(value));
        self.entries.push(SettingsEntry { name, candidate: Err(self.text.value_problem(value, message)) });
    }

    /// Parses the entry of a server. `parent` is the object that directly contains the list of servers.
    fn read_entry(&mut self, name: Option<String>, object: &Object<'_>, parent: &Object<'_>, project: Option<&str>) {
        let whole =
            name.as_deref().map_or_else(|| String::from("this server"), |name| format!("server {}", quoted_text(name)));
        let read = self.text.reject_duplicate_keys(object, &whole);
        let read = read.and_then(|()| entry::parse_entry(&self.text, name.clone(), object, parent)).map(|mut found| {
            if let Some(folder) = project {
                found.notes.insert_first(project_note(folder));
            }
            self.apply_app_conventions(&mut found, object);
            found
        });
        self.entries.push(SettingsEntry { name, candidate: read });
    }

    /// Applies the rules by which the app of this settings file interprets entries differently from most apps.
    fn apply_app_conventions(&self, found: &mut ServerCandidate, object: &Object<'_>) {
        let Some(remote) = &mut found.remote else { return };
        let by_url = present_property(object, "url").is_some();
        match self.app.map(|app| app.id) {
            Some("gemini-cli") if found.extras.lacks_transport => {
                let is_http = present_property(object, "httpUrl").is_some();
                remote.kind = Some(if is_http { HttpKind::Http } else { HttpKind::Sse });
            }
            Some("claude-code") if found.extras.lacks_transport && by_url => {
                let note =
                    "it has a \"url\" and no \"type\", which Claude Code itself treats as a local server and refuses";
                found.notes.add(ImportNoteKind::UrlWithoutType, note);
            }
            Some("windsurf" | "antigravity") if by_url => {
                let note = "its address is under \"url\"; the app itself connects only by \"serverUrl\"";
                found.notes.add(ImportNoteKind::OtherUrlKey, note);
            }
            _ => {}
        }
    }

    /// Parses Claude Code's state file: the `mcpServers` objects of the user and of each project.
    fn read_claude_state(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        if let Some((value, parent)) = self.find_value(root, &["mcpServers"])? {
            self.read_servers(value, parent, None)?;
        }
        let Some((projects, _)) = self.find_value(root, &["projects"])? else { return Ok(()) };
        let Value::Object(projects) = projects else { return Ok(()) };
        self.text.reject_duplicate_keys(projects, "\"projects\"")?;
        for project in &projects.properties {
            let Value::Object(object) = &project.value else { continue };
            if let Some((value, parent)) = self.find_value(object, &["mcpServers"])? {
                self.read_servers(value, parent, Some(project.name.as_str()))?;
            }
        }
        Ok(())
    }

    /// Parses both formats of OpenCode. A server in both formats is read from the newer one, `mcp.servers`.
    fn read_opencode_servers(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        let Some((value, _)) = self.find_value(root, &["mcp"])? else { return Ok(()) };
        let Value::Object(mcp) = value else {
            return Err(self
                .text
                .value_problem(value, format!("expected an object of servers, found {}", value_type_name(value))));
        };
        self.text.reject_duplicate_keys(mcp, "\"mcp\"")?;
        let later = mcp.get_object("servers").filter(|servers| !entry::is_server_entry(servers));
        if let Some(servers) = later {
            self.text.reject_duplicate_keys(servers, "\"mcp.servers\"")?;
            for property in &servers.properties {
                self.read_named_entry(property, root, None)?;
            }
        }
        for property in &mcp.properties {
            let name = property.name.as_str();
            let is_later = later.is_some_and(|servers| name == "servers" || servers.get(name).is_some());
            let is_server = property
                .value
                .as_object()
                .is_some_and(|object| entry::is_server_entry(object) || object.get_string("type").is_some());
            if !is_later && is_server {
                self.read_named_entry(property, root, None)?;
            }
        }
        Ok(())
    }

    /// Marks servers as disabled that the settings file disables outside of their entries.
    fn mark_disabled_servers(&mut self, root: &Object<'_>) {
        let lists = [
            root.get_array("disabledMcpjsonServers"),
            root.get_object("mcp").and_then(|mcp| mcp.get_array("excluded")),
        ];
        let names: Vec<String> = lists
            .into_iter()
            .flatten()
            .flat_map(|list| &list.elements)
            .filter_map(|name| name.as_string_lit().map(|name| name.value.to_string()))
            .collect();
        for found in self.entries.iter_mut().filter_map(|entry| entry.candidate.as_mut().ok()) {
            found.extras.disabled |= found.name.as_ref().is_some_and(|name| names.contains(name));
        }
    }
}

/// Creates a note with the project folder for which a server is configured. The folder may be a cloned repository,
/// whose content others control.
fn project_note(folder: &str) -> ImportNote {
    let note = format!("it is set up for the project folder {}", quoted_text(folder));
    ImportNote::new(ImportNoteKind::Project, note).with_names([folder])
}
