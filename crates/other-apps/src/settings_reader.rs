//! Parses the servers in a settings file of an app. An invalid entry doesn't affect the others, unlike a problem with
//! the whole file.

mod claude_state;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use ports::server_config::{ConfigProblem, HttpKind};

use crate::apps::{FileLayout, SourceApp};
use crate::json_text::{JsonDialect, JsonText, kind, present_property, without_mark};
use crate::notes::{ImportNote, ImportNoteKind, quoted_text};
use crate::server_candidate::ServerCandidate;
use crate::{entry, toml_text, yaml_text};

/// Maximum number of servers in a file.
const MAX_SERVERS: usize = 500;
/// Keys of server maps in most apps. Some files contain both.
const COMMON_MAPS: [&str; 2] = ["mcpServers", "servers"];
/// Keys of server maps in all apps, to recognize a file of another app.
const MAPS: [&str; 6] = ["mcpServers", "servers", "context_servers", "mcp", "mcp_servers", "extensions"];

/// An entry of a file.
#[derive(Debug)]
pub(crate) struct SettingsEntry {
    pub(crate) name: Option<String>,
    /// Server, or the reason why the entry is invalid.
    pub(crate) read: Result<ServerCandidate, ConfigProblem>,
}

/// Parses a file of an app.
///
/// # Errors
///
/// Returns [`ConfigProblem`] with its position if the whole file is unusable.
pub(crate) fn entries(
    text: &str,
    file: &str,
    app: Option<&SourceApp>,
    layout: FileLayout,
) -> Result<Vec<SettingsEntry>, ConfigProblem> {
    let text = JsonText { file: Some(file), ..JsonText::pasted(without_mark(text)) };
    let mut reader = SettingsReader { text, app, entries: Vec::new() };
    if layout == FileLayout::ClaudeState && text.text.len() as u64 > crate::files::LIMIT {
        return claude_state::entries(reader);
    }
    let is_json = !matches!(layout, FileLayout::Continue) || text.text.trim_start().starts_with('{');
    let root = match layout {
        FileLayout::Toml => Some(toml_text::parse(&text)?),
        FileLayout::Goose => yaml_text::parse(&text)?,
        FileLayout::Continue if !is_json => yaml_text::parse(&text)?,
        _ => text.parse(JsonDialect::WithComments)?,
    };
    let root = match root {
        None | Some(Value::NullKeyword(_)) => return Ok(Vec::new()),
        Some(Value::Object(root)) => root,
        Some(other) => return Err(text.problem_at(&other, format!("expected an object, found {}", kind(&other)))),
    };
    reader.root(&root, layout)?;
    Ok(reader.entries)
}

struct SettingsReader<'r, 't> {
    text: JsonText<'t>,
    app: Option<&'r SourceApp>,
    entries: Vec<SettingsEntry>,
}

impl SettingsReader<'_, '_> {
    fn root(&mut self, root: &Object<'_>, layout: FileLayout) -> Result<(), ConfigProblem> {
        match layout {
            FileLayout::Keys(keys) => match self.find_under(root, keys)? {
                Some((value, inner)) => self.servers(value, inner, None),
                None => self.of_another_app(root, keys),
            },
            FileLayout::Settings(keys) => match self.find_under(root, keys)? {
                Some((value, inner)) => self.servers(value, inner, None),
                None => Ok(()),
            },
            FileLayout::KeysOrBare(keys) => match self.find_under(root, keys)? {
                Some((value, inner)) => self.servers(value, inner, None),
                None if entry::is_map(root) => self.bare(root),
                None => self.of_another_app(root, keys),
            },
            FileLayout::ClaudeState => self.state(root),
            FileLayout::OpenCode => self.open_code(root),
            FileLayout::Toml => match self.find_under(root, &["mcp_servers"])? {
                Some((value, inner)) => self.servers(value, inner, None),
                None => Ok(()),
            },
            FileLayout::Goose => match self.find_under(root, &["extensions"])? {
                Some((value, inner)) => self.servers(value, inner, None),
                None => Ok(()),
            },
            FileLayout::Continue => match self.find_under(root, &["mcpServers"])? {
                Some((value, inner)) => self.servers(value, inner, None),
                None if entry::is_entry(root) => {
                    self.read_entry(root.get_string("name").map(|name| name.value.to_string()), root, root, None);
                    Ok(())
                }
                None if entry::is_map(root) => self.bare(root),
                None => Ok(()),
            },
        }?;
        self.turned_off(root);
        self.other_map(root, layout);
        Ok(())
    }

    /// Returns the value under the first of these keys, and the object that contains it. A slash in a key descends into
    /// an object.
    fn find_under<'o, 'a>(
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

    /// Fails if an object contains a key twice, since apps differ in the one they use.
    fn check_unique(&self, object: &Object<'_>, key: &str) -> Result<(), ConfigProblem> {
        let mut places = object.properties.iter().filter(|property| property.name.as_str() == key);
        match (places.next(), places.next()) {
            (Some(_), Some(second)) => Err(self
                .text
                .problem(second.range.start, format!("{key:?} stands twice in the file; one of them must go"))),
            _ => Ok(()),
        }
    }

    /// Notes that the file has a second list of servers, which the app does not read.
    fn other_map(&mut self, root: &Object<'_>, layout: FileLayout) {
        let (FileLayout::Keys(keys) | FileLayout::KeysOrBare(keys) | FileLayout::Settings(keys)) = layout else {
            return;
        };
        let has_servers = |key: &&str| root.get_object(key).is_some_and(|map| !map.properties.is_empty());
        let Some(read) = keys.iter().find(|key| present_property(root, key).is_some()) else { return };
        let Some(other) = COMMON_MAPS.iter().filter(|key| *key != read).find(|key| has_servers(key)) else { return };
        for found in self.entries.iter_mut().filter_map(|entry| entry.read.as_mut().ok()) {
            let note = format!("the file has {other:?} beside {read:?}, which its app does not read");
            found.notes.push(ImportNote::new(ImportNoteKind::OtherList, note).naming([*other]));
        }
    }

    fn of_another_app(&self, root: &Object<'_>, keys: &[&str]) -> Result<(), ConfigProblem> {
        let other = root.properties.iter().find(|property| {
            MAPS.contains(&property.name.as_str()) && matches!(property.value, Value::Object(_) | Value::Array(_))
        });
        let Some(other) = other else { return Ok(()) };
        let wanted = keys.first().copied().unwrap_or_default();
        let message = format!("expected {wanted:?}, found {:?}, which this app does not read", other.name.as_str());
        Err(self.text.problem(other.range.start, message))
    }

    fn servers(&mut self, value: &Value<'_>, root: &Object<'_>, project: Option<&str>) -> Result<(), ConfigProblem> {
        match value {
            Value::Object(map) => {
                self.text.no_duplicates(map, "the list of servers")?;
                for property in &map.properties {
                    self.named(property, root, project)?;
                }
                Ok(())
            }
            Value::Array(list) => {
                for value in &list.elements {
                    self.room(value)?;
                    let name = value.as_object().and_then(|object| object.get_string("name"));
                    let name = name.map(|name| name.value.to_string());
                    match value {
                        Value::Object(object) => self.read_entry(name, object, root, project),
                        other => self.broken(name, other),
                    }
                }
                Ok(())
            }
            other => {
                let message = format!("expected an object with a server under each name, found {}", kind(other));
                Err(self.text.problem_at(other, message))
            }
        }
    }

    fn room(&self, value: &Value<'_>) -> Result<(), ConfigProblem> {
        if self.entries.len() < MAX_SERVERS {
            return Ok(());
        }
        Err(self.text.problem_at(value, format!("there are more than {MAX_SERVERS} servers in the file")))
    }

    fn named(
        &mut self,
        property: &ObjectProp<'_>,
        root: &Object<'_>,
        project: Option<&str>,
    ) -> Result<(), ConfigProblem> {
        self.room(&property.value)?;
        let name = Some(property.name.as_str().to_owned());
        match &property.value {
            Value::Object(object) => self.read_entry(name, object, root, project),
            other => self.broken(name, other),
        }
        Ok(())
    }

    /// Parses a file that is itself a map of servers. Values other than objects are metadata of the file.
    fn bare(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        self.text.no_duplicates(root, "the file")?;
        for property in root.properties.iter().filter(|property| matches!(property.value, Value::Object(_))) {
            self.named(property, root, None)?;
        }
        Ok(())
    }

    fn broken(&mut self, name: Option<String>, value: &Value<'_>) {
        let message = format!("a server must be an object, found {}", kind(value));
        self.entries.push(SettingsEntry { name, read: Err(self.text.problem_at(value, message)) });
    }

    fn read_entry(&mut self, name: Option<String>, object: &Object<'_>, root: &Object<'_>, project: Option<&str>) {
        let whole =
            name.as_deref().map_or_else(|| String::from("this server"), |name| format!("server {}", quoted_text(name)));
        let read = self.text.no_duplicates(object, &whole);
        let read = read.and_then(|()| entry::entry(&self.text, name.clone(), object, root)).map(|mut found| {
            if let Some(folder) = project {
                found.notes.put_first(project_note(folder));
            }
            self.habits(&mut found, object);
            found
        });
        self.entries.push(SettingsEntry { name, read });
    }

    /// Applies the app's interpretation of an entry where it differs from that of other apps.
    fn habits(&self, found: &mut ServerCandidate, object: &Object<'_>) {
        let Some(remote) = &mut found.remote else { return };
        let by_url = present_property(object, "url").is_some();
        match self.app.map(|app| app.id) {
            Some("gemini-cli") if found.extras.untyped => {
                let is_http = present_property(object, "httpUrl").is_some();
                remote.kind = Some(if is_http { HttpKind::Http } else { HttpKind::Sse });
            }
            Some("claude-code") if found.extras.untyped && by_url => {
                let note =
                    "it has a \"url\" and no \"type\", which Claude Code itself takes for a local server and refuses";
                found.notes.push(String::from(note));
            }
            Some("windsurf" | "antigravity") if by_url => {
                found
                    .notes
                    .push(String::from("its address is under \"url\"; the app itself connects only by \"serverUrl\""));
            }
            _ => {}
        }
    }

    /// Parses `mcpServers` of the user and of projects.
    fn state(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        if let Some((value, inner)) = self.find_under(root, &["mcpServers"])? {
            self.servers(value, inner, None)?;
        }
        let Some((projects, _)) = self.find_under(root, &["projects"])? else { return Ok(()) };
        let Value::Object(projects) = projects else { return Ok(()) };
        self.text.no_duplicates(projects, "\"projects\"")?;
        for project in &projects.properties {
            let Value::Object(object) = &project.value else { continue };
            if let Some((value, inner)) = self.find_under(object, &["mcpServers"])? {
                self.servers(value, inner, Some(project.name.as_str()))?;
            }
        }
        Ok(())
    }

    /// Parses both layouts of opencode. The later layout takes precedence for a server that is in both.
    fn open_code(&mut self, root: &Object<'_>) -> Result<(), ConfigProblem> {
        let Some((value, _)) = self.find_under(root, &["mcp"])? else { return Ok(()) };
        let Value::Object(mcp) = value else {
            return Err(self.text.problem_at(value, format!("expected an object of servers, found {}", kind(value))));
        };
        self.text.no_duplicates(mcp, "\"mcp\"")?;
        let later = mcp.get_object("servers").filter(|servers| !entry::is_entry(servers));
        if let Some(servers) = later {
            self.text.no_duplicates(servers, "\"mcp.servers\"")?;
            for property in &servers.properties {
                self.named(property, root, None)?;
            }
        }
        for property in &mcp.properties {
            let name = property.name.as_str();
            let is_later = later.is_some_and(|servers| name == "servers" || servers.get(name).is_some());
            let is_server = property
                .value
                .as_object()
                .is_some_and(|object| entry::is_entry(object) || object.get_string("type").is_some());
            if !is_later && is_server {
                self.named(property, root, None)?;
            }
        }
        Ok(())
    }

    /// Marks servers that the file disables outside of their entries.
    fn turned_off(&mut self, root: &Object<'_>) {
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
        for found in self.entries.iter_mut().filter_map(|entry| entry.read.as_mut().ok()) {
            found.extras.off |= found.name.as_ref().is_some_and(|name| names.contains(name));
        }
    }
}

/// Creates a note about the folder that a server is configured for. The folder may be a cloned repository.
fn project_note(folder: &str) -> ImportNote {
    let note = format!("it is set up for the project folder {}", quoted_text(folder));
    ImportNote::new(ImportNoteKind::Project, note).naming([folder])
}
