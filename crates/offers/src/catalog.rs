//! The lists of a server (tools, prompts, resources, resource templates), read page by page within bounds. Used by
//! the connections of `host`, which read them, and by every view of a server's tools, prompts and resources.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::Millis;
use mcp_proto::jsonrpc::code::INVALID_PARAMS;
use mcp_proto::session::{CacheHint, CallError, ClientRequest, ServerResult};
use mcp_proto::types::{ListEntry, ListEntryType, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use policy::ReviewState;
use ports::time::time_after;
use serde::Deserialize;
use serde_json::Value;

use crate::review::{DefinitionKind, NameIndex, ToolAndPromptNames};

/// Maximum number of pages that are read of each list of a server, such as `tools/list`.
pub const MAX_LIST_PAGES: usize = 100;
/// Maximum number of entries that are stored of each list of a server.
pub const MAX_CATALOG_LIST_ITEMS: usize = 5_000;
/// Maximum size of a stored entry of a list, such as one tool's definition, in bytes of JSON.
pub const MAX_LIST_ENTRY_BYTES: usize = 256 * 1024;
/// Maximum total size of the entries that are stored of each list of a server, in bytes of JSON.
pub const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

/// The catalog of a server: its tools, prompts, resources and resource templates.
///
/// Entries are stored as received, and parsed on demand.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerCatalog {
    /// Tools of the server (`tools/list`).
    pub tools: Vec<ListEntry<Tool>>,
    /// Prompts of the server (`prompts/list`).
    pub prompts: Vec<ListEntry<Prompt>>,
    /// Resources of the server (`resources/list`).
    pub resources: Vec<ListEntry<Resource>>,
    /// Resource templates of the server (`resources/templates/list`).
    pub templates: Vec<ListEntry<ResourceTemplate>>,
    /// Reasons why lists are incomplete, indexed by [`CatalogListKind`].
    pub notes: [Vec<String>; 4],
    /// Set once all lists that the server supports have been read since the server became ready.
    pub is_read: bool,
    /// Time until which each list is fresh, in milliseconds since 1970, indexed by [`CatalogListKind`].
    ///
    /// `None` if the server sent no cache hint or forbids caching. Such a list is valid until the server reports a
    /// change.
    pub fresh_until: [Option<Millis>; 4],
    /// Set for each list that the server reported as changed and that was not read completely since, indexed by
    /// [`CatalogListKind`].
    ///
    /// Its known entries may have changed, so they are treated as not reviewed.
    pub outdated: [bool; 4],
    /// Names of tools and prompts, indexed for finding similar names.
    pub names: ToolAndPromptNames,
}

impl ServerCatalog {
    /// Returns the review state of a tool's or prompt's definition. A reviewed definition in an outdated list is
    /// treated as changed, since the server may have another definition now, which was not reviewed.
    pub fn treat_as_changed_if_outdated(&self, list: CatalogListKind, review_state: ReviewState) -> ReviewState {
        if review_state == ReviewState::Reviewed && self.is_outdated(list) {
            ReviewState::Changed
        } else {
            review_state
        }
    }

    /// Returns `true` if the server reported that its tools changed, and the list of tools was not read again since.
    #[must_use]
    pub const fn has_outdated_tools(&self) -> bool {
        self.is_outdated(CatalogListKind::Tools)
    }

    /// Returns `true` if the server reported that the list changed, and the list was not read again since.
    pub const fn is_outdated(&self, list: CatalogListKind) -> bool {
        self.outdated[list as usize]
    }

    /// Returns the index of the names of the tools or prompts.
    pub fn names(&self, kind: DefinitionKind) -> &NameIndex {
        &self.names[kind as usize]
    }

    /// Returns the number of tools, prompts, resources and resource templates, in this order.
    #[must_use]
    pub const fn entry_counts(&self) -> [usize; 4] {
        [self.tools.len(), self.prompts.len(), self.resources.len(), self.templates.len()]
    }

    /// Returns `true` if both catalogs have the same entries and notes, and either both or neither are completely read.
    pub fn has_equal_entries(&self, other: &Self) -> bool {
        (&self.tools, &self.prompts, &self.resources, &self.templates)
            == (&other.tools, &other.prompts, &other.resources, &other.templates)
            && (&self.notes, self.is_read) == (&other.notes, other.is_read)
    }

    /// Returns the tool with this name, or `None` if it doesn't exist or its definition can't be parsed.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name() == name)?.read().ok()
    }

    /// Returns the prompt with this name, or `None` if it doesn't exist or its definition can't be parsed.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<Prompt> {
        self.prompts.iter().find(|prompt| prompt.name() == name)?.read().ok()
    }
}

/// A list that a server offers: its tools, prompts, resources or resource templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CatalogListKind {
    /// The list of tools (`tools/list`).
    Tools,
    /// The list of prompts (`prompts/list`).
    Prompts,
    /// The list of resources (`resources/list`).
    Resources,
    /// The list of resource templates (`resources/templates/list`).
    Templates,
}

impl CatalogListKind {
    /// All lists, in the order of the arrays in [`ServerCatalog`].
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// Returns `true` if a server with these capabilities supports the list.
    pub const fn is_offered_by(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::Tools => capabilities.tools.is_some(),
            Self::Prompts => capabilities.prompts.is_some(),
            Self::Resources | Self::Templates => capabilities.resources.is_some(),
        }
    }

    /// Returns the plural noun for the entries of the list, for messages.
    pub const fn plural_name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resource templates",
        }
    }
}

/// Reads one list of a server page by page.
#[derive(Debug)]
pub struct CatalogListReader {
    /// Kind of the list that is being read.
    pub list: CatalogListKind,
    pages: usize,
    bytes: usize,
    cursors: HashSet<String>,
    names: HashSet<String>,
    found: ServerCatalog,
    note: Vec<String>,
    failed: bool,
    /// Set if reading was restarted from the first page.
    was_restarted: bool,
    /// Shortest time to live among the pages received so far.
    ttl: Option<Duration>,
}

/// Action of the caller of a [`CatalogListReader`] after a page of a list was received.
#[derive(Debug)]
pub enum NextListReadStep {
    /// Send this request to get the next page.
    Page(ClientRequest),
    /// Stop reading: the list is complete, or a bound was reached.
    Done,
}

impl CatalogListReader {
    /// Creates a reader that starts with the first page of a list.
    pub fn new(list: CatalogListKind) -> Self {
        Self {
            list,
            pages: 0,
            bytes: 0,
            cursors: HashSet::new(),
            names: HashSet::new(),
            found: ServerCatalog::default(),
            note: Vec::new(),
            failed: false,
            was_restarted: false,
            ttl: None,
        }
    }

    /// Returns the request for the page at a cursor, or for the first page.
    pub const fn request(&self, cursor: Option<String>) -> ClientRequest {
        match self.list {
            CatalogListKind::Tools => ClientRequest::ListTools { cursor },
            CatalogListKind::Prompts => ClientRequest::ListPrompts { cursor },
            CatalogListKind::Resources => ClientRequest::ListResources { cursor },
            CatalogListKind::Templates => ClientRequest::ListResourceTemplates { cursor },
        }
    }

    /// Adds the entries of a received page, and returns the next step.
    pub fn add_page(&mut self, result: ServerResult) -> NextListReadStep {
        self.pages += 1;
        if let Some(hint) = cache_hint(&result) {
            self.ttl = Some(self.ttl.map_or(hint.ttl, |ttl| ttl.min(hint.ttl)));
        }
        let mut found = std::mem::take(&mut self.found);
        let next = match (self.list, result) {
            (CatalogListKind::Tools, ServerResult::Tools { items, next_cursor, .. }) => {
                self.add_entries(&mut found.tools, items);
                next_cursor
            }
            (CatalogListKind::Prompts, ServerResult::Prompts { items, next_cursor, .. }) => {
                self.add_entries(&mut found.prompts, items);
                next_cursor
            }
            (CatalogListKind::Resources, ServerResult::Resources { items, next_cursor, .. }) => {
                self.add_entries(&mut found.resources, items);
                next_cursor
            }
            (CatalogListKind::Templates, ServerResult::Templates { items, next_cursor, .. }) => {
                self.add_entries(&mut found.templates, items);
                next_cursor
            }
            // Unreachable, since the session converts each response according to its request.
            _ => None,
        };
        self.found = found;
        let Some(cursor) = next else { return NextListReadStep::Done };
        let words = self.list.plural_name();
        if !self.cursors.insert(cursor.clone()) {
            self.note.push(format!("the list of {words} repeats a page; it may not be whole"));
        } else if self.pages >= MAX_LIST_PAGES {
            self.note.push(format!("the list of {words} has more than {MAX_LIST_PAGES} pages; the rest was not read"));
        } else if self.names.len() >= MAX_CATALOG_LIST_ITEMS || self.bytes >= MAX_LIST_BYTES {
            self.note.push(format!("the list of {words} is too long; only the first {} are shown", self.names.len()));
        } else {
            return NextListReadStep::Page(self.request(Some(cursor)));
        }
        NextListReadStep::Done
    }

    /// Restarts from the first page if the server rejects a cursor that it returned before. Returns `true` if the
    /// caller has to request the first page again.
    ///
    /// This is done at most once per list, and only for the error `INVALID_PARAMS` after the first page.
    pub fn restart_if_cursor_rejected(&mut self, error: &CallError) -> bool {
        let is_refused = matches!(error, CallError::Server(error) if error.code == INVALID_PARAMS);
        let may = is_refused && self.pages > 0 && !self.was_restarted;
        if may {
            *self = Self { was_restarted: true, ..Self::new(self.list) };
        }
        may
    }

    /// Adds a note that the remaining pages of the list could not be read, with the cause.
    pub fn add_failure_note(&mut self, error: &dyn std::fmt::Display) {
        let words = self.list.plural_name();
        self.failed = true;
        self.note.push(if self.pages == 0 {
            format!("the list of {words} could not be read: {error}")
        } else {
            format!("the list of {words} is not whole: {error}")
        });
    }

    fn add_entries<T>(&mut self, entries: &mut Vec<ListEntry<T>>, items: Vec<ListEntry<T>>) {
        let words = self.list.plural_name();
        for item in items {
            let size = item.raw().get().len();
            let shown = || item.name().chars().take(60).collect::<String>();
            if size > MAX_LIST_ENTRY_BYTES {
                self.add_note_once(format!(
                    "\"{}\" was dropped from the {words}: it is larger than {} KiB",
                    shown(),
                    MAX_LIST_ENTRY_BYTES / 1024
                ));
            } else if entries.len() >= MAX_CATALOG_LIST_ITEMS || self.bytes + size > MAX_LIST_BYTES {
                self.add_note_once(format!(
                    "the list of {words} is too long; only the first {} are shown",
                    entries.len()
                ));
                return;
            } else if !self.names.insert(item.name().to_owned()) {
                self.add_note_once(format!("\"{}\" occurs more than once in the {words}; the first is used", shown()));
            } else {
                self.bytes += size;
                entries.push(item);
            }
        }
    }

    /// Adds a note for the user about the list, unless an equal one exists. At most 20 notes are stored.
    pub fn add_note_once(&mut self, note: String) {
        if self.note.len() < 20 && !self.note.contains(&note) {
            self.note.push(note);
        }
    }

    /// Stores the entries that were read in a catalog. An incomplete list doesn't replace a longer known one.
    pub fn finish(self, catalog: &mut ServerCatalog, now: Millis) {
        let (failed, found) = (self.failed, self.found);
        match self.list {
            CatalogListKind::Tools => {
                if replace_list_if_changed(&mut catalog.tools, found.tools, failed) {
                    catalog.names[DefinitionKind::Tool as usize] = build_name_index(&catalog.tools);
                }
            }
            CatalogListKind::Prompts => {
                if replace_list_if_changed(&mut catalog.prompts, found.prompts, failed) {
                    catalog.names[DefinitionKind::Prompt as usize] = build_name_index(&catalog.prompts);
                }
            }
            CatalogListKind::Resources => {
                replace_list_if_changed(&mut catalog.resources, found.resources, failed);
            }
            CatalogListKind::Templates => {
                replace_list_if_changed(&mut catalog.templates, found.templates, failed);
            }
        }
        catalog.notes[self.list as usize] = self.note;
        catalog.outdated[self.list as usize] &= failed;
        let ttl = self.ttl.filter(|ttl| !failed && !ttl.is_zero());
        catalog.fresh_until[self.list as usize] = ttl.map(|ttl| time_after(now, ttl));
    }
}

const fn cache_hint(page: &ServerResult) -> Option<CacheHint> {
    match page {
        ServerResult::Tools { cache, .. }
        | ServerResult::Prompts { cache, .. }
        | ServerResult::Resources { cache, .. }
        | ServerResult::Templates { cache, .. } => *cache,
        _ => None,
    }
}

/// Builds the name index of a list. This is done by the task that reads the list, so that a long list delays only its
/// own server.
fn build_name_index<T: ListEntryType>(list: &[ListEntry<T>]) -> Arc<NameIndex> {
    let titled = |entry: &ListEntry<T>| {
        let title = entry.raw().parse::<ListEntryTitleMembers>().ok().and_then(ListEntryTitleMembers::title);
        (entry.name().to_owned(), title)
    };
    Arc::new(NameIndex::new(list.iter().map(titled)))
}

/// Members of a list entry that can contain its display title.
#[derive(Deserialize)]
struct ListEntryTitleMembers {
    title: Option<String>,
    annotations: Option<Value>,
}

impl ListEntryTitleMembers {
    fn title(self) -> Option<String> {
        self.title.or_else(|| self.annotations?.get("title")?.as_str().map(str::to_owned))
    }
}

/// Replaces the known list `known` by `found` unless they are equal, and returns `true` if it was replaced. If the read
/// `failed` before the end of the list, only a longer list replaces the known one.
///
/// The name index of an unchanged list is not rebuilt, since that takes longer than reading the list.
fn replace_list_if_changed<T: PartialEq>(known: &mut Vec<T>, found: Vec<T>, failed: bool) -> bool {
    let is_other = (!failed || found.len() > known.len()) && *known != found;
    if is_other {
        *known = found;
    }
    is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_tool_list_into(catalog: &mut ServerCatalog, names: &[&str]) {
        let tool = |name: &&str| ListEntry::from(&Tool { name: (*name).to_owned(), ..Tool::default() });
        let items = names.iter().map(tool).collect();
        let mut reading = CatalogListReader::new(CatalogListKind::Tools);
        reading.add_page(ServerResult::Tools { items, next_cursor: None, cache: None });
        reading.finish(catalog, 0);
    }

    #[test]
    fn name_index_is_rebuilt_only_if_a_list_changed() {
        let mut catalog = ServerCatalog::default();
        read_tool_list_into(&mut catalog, &["send"]);
        let before = catalog.names.clone();
        let names_of = |catalog: &ServerCatalog| Arc::clone(&catalog.names[DefinitionKind::Tool as usize]);
        read_tool_list_into(&mut catalog, &["send"]);
        assert!(
            Arc::ptr_eq(&names_of(&catalog), &before[DefinitionKind::Tool as usize]),
            "the name index of an unchanged list is reused"
        );
        read_tool_list_into(&mut catalog, &["send", "read"]);
        assert!(names_of(&catalog).contains_name("read"), "an added tool is in the name index");
        read_tool_list_into(&mut catalog, &["read"]);
        assert!(!names_of(&catalog).contains_name("send"), "a removed tool is not in the name index");
    }
}
