//! The lists of a server, read page by page within bounds. Callers: connections of `host`, which read them, and every view of a server's
//! tools, prompts and resources.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::Millis;
use mcp_proto::jsonrpc::code::INVALID_PARAMS;
use mcp_proto::session::{CacheHint, CallError, ClientRequest, ServerResult};
use mcp_proto::types::{Entry, Listed, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool};
use policy::Standing;
use ports::time::after;
use serde::Deserialize;
use serde_json::Value;

use crate::review::{Kind, KindNames, Names};

/// The most pages that are read of a list.
pub const MAX_PAGES: usize = 100;
/// The most entries that are kept of a list.
pub const MAX_ITEMS: usize = 5_000;
/// The largest entry that is kept, as JSON, in bytes.
pub const MAX_ITEM: usize = 256 * 1024;
/// The most bytes that are kept of a list, as JSON.
pub const MAX_LIST: usize = 16 * 1024 * 1024;

/// What a server offers. Entries are kept as the text that came, and parsed when they are needed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalog {
    /// Its tools.
    pub tools: Vec<Listed<Tool>>,
    /// Its prompts.
    pub prompts: Vec<Listed<Prompt>>,
    /// Its resources.
    pub resources: Vec<Listed<Resource>>,
    /// Its resource templates.
    pub templates: Vec<Listed<ResourceTemplate>>,
    /// Where a list is not whole, and why; by list.
    pub notes: [Vec<String>; 4],
    /// Whether every list that the server offers was read since it became ready.
    pub is_read: bool,
    /// Until when each list counts as fresh, in milliseconds since 1970; by list. None where the server does not say, or does
    /// not let it be kept: then it stands until the server says that it changed.
    pub fresh_until: [Option<Millis>; 4],
    /// Whether the server said that a list changed which was not read whole since; by list. What is known of it may be as it is
    /// no more, so it allows nothing.
    pub outdated: [bool; 4],
    /// The names of its tools and prompts, to be found by what they look like.
    pub names: KindNames,
}

impl Catalog {
    /// What a definition's standing comes to now: what the server says is another one, and nobody has seen yet, is covered by
    /// nothing.
    pub fn standing_now(&self, list: List, standing: Standing) -> Standing {
        if standing == Standing::Reviewed && self.is_outdated(list) { Standing::Changed } else { standing }
    }

    /// True if the server said that its tools changed, and they were not read again since.
    #[must_use]
    pub const fn has_outdated_tools(&self) -> bool {
        self.is_outdated(List::Tools)
    }

    /// Whether the server said that a list changed which was not read again since.
    pub const fn is_outdated(&self, list: List) -> bool {
        self.outdated[list as usize]
    }

    /// The names of its tools or prompts.
    pub fn names(&self, kind: Kind) -> &Names {
        &self.names[kind as usize]
    }

    /// The same with names that fit its lists.
    #[cfg(test)]
    pub fn with_names(mut self) -> Self {
        self.names = [names(&self.tools), names(&self.prompts)];
        self
    }

    /// How much it offers: tools, prompts, resources, templates.
    #[must_use]
    pub const fn counts(&self) -> [usize; 4] {
        [self.tools.len(), self.prompts.len(), self.resources.len(), self.templates.len()]
    }

    /// Whether another reading found the same.
    pub fn offers_the_same(&self, other: &Self) -> bool {
        (&self.tools, &self.prompts, &self.resources, &self.templates)
            == (&other.tools, &other.prompts, &other.resources, &other.templates)
            && (&self.notes, self.is_read) == (&other.notes, other.is_read)
    }

    /// A tool by name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name() == name)?.read().ok()
    }

    /// A prompt by name.
    #[must_use]
    pub fn prompt(&self, name: &str) -> Option<Prompt> {
        self.prompts.iter().find(|prompt| prompt.name() == name)?.read().ok()
    }
}

/// The lists of a catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum List {
    /// Its tools.
    Tools,
    /// Its prompts.
    Prompts,
    /// Its resources.
    Resources,
    /// Its resource templates.
    Templates,
}

impl List {
    /// Every list, in the order of [`Catalog::notes`].
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// Whether a server that says it can do this has the list.
    pub const fn offered(self, capabilities: &ServerCapabilities) -> bool {
        match self {
            Self::Tools => capabilities.tools.is_some(),
            Self::Prompts => capabilities.prompts.is_some(),
            Self::Resources | Self::Templates => capabilities.resources.is_some(),
        }
    }

    /// The words for its entries in messages.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resource templates",
        }
    }
}

/// A list being read.
#[derive(Debug)]
pub struct ListReader {
    /// The list that is read.
    pub list: List,
    pages: usize,
    bytes: usize,
    cursors: HashSet<String>,
    names: HashSet<String>,
    found: Catalog,
    note: Vec<String>,
    failed: bool,
    /// Whether it was begun a second time.
    again: bool,
    /// How long the page that may be kept for the shortest time may be kept.
    ttl: Option<Duration>,
}

/// What to do after a page.
#[derive(Debug)]
pub enum Next {
    /// Ask for another page.
    Page(ClientRequest),
    /// The list is read.
    Done,
}

impl ListReader {
    /// Begins to read a list.
    pub fn new(list: List) -> Self {
        Self {
            list,
            pages: 0,
            bytes: 0,
            cursors: HashSet::new(),
            names: HashSet::new(),
            found: Catalog::default(),
            note: Vec::new(),
            failed: false,
            again: false,
            ttl: None,
        }
    }

    /// The request for a page.
    pub const fn request(&self, cursor: Option<String>) -> ClientRequest {
        match self.list {
            List::Tools => ClientRequest::ListTools { cursor },
            List::Prompts => ClientRequest::ListPrompts { cursor },
            List::Resources => ClientRequest::ListResources { cursor },
            List::Templates => ClientRequest::ListResourceTemplates { cursor },
        }
    }

    /// Takes a page in.
    pub fn page(&mut self, result: ServerResult) -> Next {
        self.pages += 1;
        if let Some(hint) = hint(&result) {
            self.ttl = Some(self.ttl.map_or(hint.ttl, |ttl| ttl.min(hint.ttl)));
        }
        let mut found = std::mem::take(&mut self.found);
        let next = match (self.list, result) {
            (List::Tools, ServerResult::Tools { items, next_cursor, .. }) => {
                self.keep(&mut found.tools, items);
                next_cursor
            }
            (List::Prompts, ServerResult::Prompts { items, next_cursor, .. }) => {
                self.keep(&mut found.prompts, items);
                next_cursor
            }
            (List::Resources, ServerResult::Resources { items, next_cursor, .. }) => {
                self.keep(&mut found.resources, items);
                next_cursor
            }
            (List::Templates, ServerResult::Templates { items, next_cursor, .. }) => {
                self.keep(&mut found.templates, items);
                next_cursor
            }
            // The session answers each request with its own kind of result.
            _ => None,
        };
        self.found = found;
        let Some(cursor) = next else { return Next::Done };
        let words = self.list.words();
        if !self.cursors.insert(cursor.clone()) {
            self.note.push(format!("the list of {words} repeats a page; it may not be whole"));
        } else if self.pages >= MAX_PAGES {
            self.note.push(format!("the list of {words} has more than {MAX_PAGES} pages; the rest was not read"));
        } else if self.names.len() >= MAX_ITEMS || self.bytes >= MAX_LIST {
            self.note.push(format!("the list of {words} is too long; only the first {} are shown", self.names.len()));
        } else {
            return Next::Page(self.request(Some(cursor)));
        }
        Next::Done
    }

    /// Goes back to the first page, once, when the server no longer takes a cursor that it gave.
    pub fn begin_again(&mut self, error: &CallError) -> bool {
        let is_refused = matches!(error, CallError::Server(error) if error.code == INVALID_PARAMS);
        let may = is_refused && self.pages > 0 && !self.again;
        if may {
            *self = Self { again: true, ..Self::new(self.list) };
        }
        may
    }

    /// Says why the rest of the list can't be read.
    pub fn fail(&mut self, error: &dyn std::fmt::Display) {
        let words = self.list.words();
        self.failed = true;
        self.note.push(if self.pages == 0 {
            format!("the list of {words} could not be read: {error}")
        } else {
            format!("the list of {words} is not whole: {error}")
        });
    }

    fn keep<T>(&mut self, kept: &mut Vec<Listed<T>>, items: Vec<Listed<T>>) {
        let words = self.list.words();
        for item in items {
            let size = item.raw().get().len();
            let shown = || item.name().chars().take(60).collect::<String>();
            if size > MAX_ITEM {
                self.say_once(format!(
                    "\"{}\" was left out of the {words}: it is larger than {} KiB",
                    shown(),
                    MAX_ITEM / 1024
                ));
            } else if kept.len() >= MAX_ITEMS || self.bytes + size > MAX_LIST {
                self.say_once(format!("the list of {words} is too long; only the first {} are shown", kept.len()));
                return;
            } else if !self.names.insert(item.name().to_owned()) {
                self.say_once(format!("\"{}\" stands more than once in the {words}; the first is used", shown()));
            } else {
                self.bytes += size;
                kept.push(item);
            }
        }
    }

    /// Adds a note about the list, unless it stands there already.
    pub fn say_once(&mut self, note: String) {
        if self.note.len() < 20 && !self.note.contains(&note) {
            self.note.push(note);
        }
    }

    /// Puts what was read into a catalog. A list that could not be read whole does not take the place of a longer one.
    pub fn finish(self, catalog: &mut Catalog, now: Millis) {
        let (failed, found) = (self.failed, self.found);
        match self.list {
            List::Tools => {
                if replace(&mut catalog.tools, found.tools, failed) {
                    catalog.names[Kind::Tool as usize] = names(&catalog.tools);
                }
            }
            List::Prompts => {
                if replace(&mut catalog.prompts, found.prompts, failed) {
                    catalog.names[Kind::Prompt as usize] = names(&catalog.prompts);
                }
            }
            List::Resources => {
                replace(&mut catalog.resources, found.resources, failed);
            }
            List::Templates => {
                replace(&mut catalog.templates, found.templates, failed);
            }
        }
        catalog.notes[self.list as usize] = self.note;
        catalog.outdated[self.list as usize] &= failed;
        let ttl = self.ttl.filter(|ttl| !failed && !ttl.is_zero());
        catalog.fresh_until[self.list as usize] = ttl.map(|ttl| after(now, ttl));
    }
}

const fn hint(page: &ServerResult) -> Option<CacheHint> {
    match page {
        ServerResult::Tools { cache, .. }
        | ServerResult::Prompts { cache, .. }
        | ServerResult::Resources { cache, .. }
        | ServerResult::Templates { cache, .. } => *cache,
        _ => None,
    }
}

/// Made where a list is read, so that what is slow about a long one delays its own server only.
fn names<T: Entry>(list: &[Listed<T>]) -> Arc<Names> {
    let titled = |entry: &Listed<T>| {
        let title = entry.raw().parse::<Titled>().ok().and_then(Titled::title);
        (entry.name().to_owned(), title)
    };
    Arc::new(Names::of(list.iter().map(titled)))
}

/// What an entry is called for people.
#[derive(Deserialize)]
struct Titled {
    title: Option<String>,
    annotations: Option<Value>,
}

impl Titled {
    fn title(self) -> Option<String> {
        self.title.or_else(|| self.annotations?.get("title")?.as_str().map(str::to_owned))
    }
}

/// Returns true if the list is another one now. Names of a list that stays byte for byte the same are not made again: that takes
/// longer than reading it.
fn replace<T: PartialEq>(known: &mut Vec<T>, found: Vec<T>, failed: bool) -> bool {
    let is_other = (!failed || found.len() > known.len()) && *known != found;
    if is_other {
        *known = found;
    }
    is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(catalog: &mut Catalog, names: &[&str]) {
        let tool = |name: &&str| Listed::from(&Tool { name: (*name).to_owned(), ..Tool::default() });
        let items = names.iter().map(tool).collect();
        let mut reading = ListReader::new(List::Tools);
        reading.page(ServerResult::Tools { items, next_cursor: None, cache: None });
        reading.finish(catalog, 0);
    }

    #[test]
    fn names_are_made_again_when_a_list_changed_and_only_then() {
        let mut catalog = Catalog::default();
        read(&mut catalog, &["send"]);
        let before = catalog.names.clone();
        let names_of = |catalog: &Catalog| Arc::clone(&catalog.names[Kind::Tool as usize]);
        read(&mut catalog, &["send"]);
        assert!(Arc::ptr_eq(&names_of(&catalog), &before[Kind::Tool as usize]), "the same list keeps its names");
        read(&mut catalog, &["send", "read"]);
        assert!(names_of(&catalog).has("read"), "a longer one has more");
        read(&mut catalog, &["read"]);
        assert!(!names_of(&catalog).has("send"), "and a shorter one less");
    }
}
