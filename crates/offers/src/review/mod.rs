//! Computes information for the user about a tool, prompt or result of a server before it is used: its review state,
//! the differences to the reviewed definition, similar names, and flags on text that may mislead a model. Pure
//! functions. `host/src/owner/pins.rs` stores the pins.

mod app_approvals;
mod deceptive_letters;
mod diff;
mod flags;
mod folded_text;
mod message_parts;
mod misleading_links;
mod name_index;
mod phrases;
mod pins;
mod result_review;
mod results;
mod visible_text;
mod word_diff;

pub use app_approvals::{AppApproval, AppReviewState, MAX_APPROVED_APP_PAGES, app_review_state, approve_app};
pub use diff::{DefinitionChange, DefinitionDiff, MAX_DEFINITION_CHANGES};
pub use flags::{Flag, FlagReason, flags_of_definition, flags_of_name, flags_of_text, is_valid_variation_selector};
pub use foreign::is_hidden;
pub use message_parts::{binary_data_part, content_part, resource_contents_part, result_parts};
pub use message_parts::{result_content_json, unescaped_result_parts};
pub use name_index::{LookAlike, LookAlikeKeys, MAX_LOOK_ALIKES, NameIndex};
pub use pins::{
    DefinitionKind, DefinitionPin, MAX_PINNED_DEFINITIONS, MAX_STORED_DEFINITION_BYTES,
    MAX_STORED_DEFINITION_BYTES_PER_SERVER, PinnedServerIdentity, Pins, ServerPins,
};
pub use result_review::{flags_of_tool_result, is_small_enough_to_review};
pub use results::flags_of_result_text;
pub use visible_text::{show_hidden_characters, show_hidden_characters_in_part, show_hidden_characters_in_schema};
pub use word_diff::{DiffPiece, diff_words};

use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::types::{Prompt, Tool};
use policy::{Hash, ReviewState};
use ports::server_config::{ServerConfig, grant_hash};
use serde_json::{Value, json};

use crate::catalog::{CatalogListKind, ServerCatalog};
use crate::definitions::requires_consent_each_call;

/// Review warnings about one tool, prompt, server or other item: its review state, and properties that the user should
/// look at before the item is used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReviewFindings {
    /// Review state of the definition, or `None` for items without a definition.
    pub review_state: Option<ReviewState>,
    /// Set if the server reported a change of the list that contains the item, and the list was not read again since.
    pub outdated: bool,
    /// Differences to the reviewed definition, if there are any.
    pub diff: Option<Box<DefinitionDiff>>,
    /// Similar names and titles that could be confused with this one, at most [`MAX_LOOK_ALIKES`].
    pub look_alikes: Vec<LookAlike>,
    /// Flags on text that may mislead a model.
    pub flags: Vec<Flag>,
}

/// Snapshot of a server's definitions, of those that the user has reviewed, and of the names that other servers use. It
/// can be examined while the owner in `host` processes other events.
#[derive(Debug, Clone)]
pub struct ServerReview {
    /// Name of the server.
    pub server: String,
    /// Settings of the server.
    pub config: Arc<ServerConfig>,
    /// Current catalog of the server.
    pub catalog: Arc<ServerCatalog>,
    /// Definitions that the user has reviewed (pins).
    pub pins: Arc<ServerPins>,
    /// Hash of the command or address that was started or connected to.
    pub identity: Option<Hash>,
    /// Hashes that the grants for tools are bound to ([`grant_hash`]), by tool name.
    pub granted: HashMap<String, Hash>,
    /// Names of the tools and prompts that each other server lists, or listed when it was last running.
    pub others: Vec<(String, ToolAndPromptNames)>,
}

impl ServerReview {
    /// Creates a review of a server without grants, and without other servers.
    #[must_use]
    pub fn new(
        server: &str,
        config: ServerConfig,
        catalog: ServerCatalog,
        pins: ServerPins,
        identity: Option<Hash>,
    ) -> Self {
        Self {
            server: server.to_owned(),
            config: Arc::new(config),
            catalog: Arc::new(catalog),
            pins: Arc::new(pins),
            identity,
            granted: HashMap::new(),
            others: Vec::new(),
        }
    }

    /// Returns `true` if both reviews have the same catalog, pins, identity, grants, and tools available to models, so
    /// that results computed from one apply to the other. Catalogs and pins are compared by address.
    #[must_use]
    pub fn has_same_inputs(&self, other: &Self) -> bool {
        // Servers without pins get a new allocation each time.
        let same_pins = Arc::ptr_eq(&self.pins, &other.pins) || (self.pins.is_empty() && other.pins.is_empty());
        Arc::ptr_eq(&self.catalog, &other.catalog)
            && same_pins
            && self.config.tools == other.config.tools
            && (&self.identity, &self.granted) == (&other.identity, &other.granted)
    }

    /// Returns the current catalog.
    #[must_use]
    pub const fn catalog(&self) -> &Arc<ServerCatalog> {
        &self.catalog
    }

    /// Returns the pins of reviewed definitions.
    #[must_use]
    pub const fn pins(&self) -> &Arc<ServerPins> {
        &self.pins
    }

    /// Returns the hash of a tool's definition, the review warnings about it, and `true` if a grant allows calls of the
    /// tool.
    #[must_use]
    pub fn review_tool(&self, tool: &Tool) -> (Hash, ReviewFindings, bool) {
        let definition = json!(tool);
        let hash = Hash::of_json(&definition);
        let grant = self.granted.get(&tool.name);
        let granted = grant.is_some_and(|rests_on| *rests_on == grant_hash(&self.config, tool));
        let review_state = self.pins.review_state(DefinitionKind::Tool, &tool.name, &hash, self.identity.as_ref());
        let marks = self.findings(DefinitionKind::Tool, &tool.name, &definition, review_state);
        let allowed =
            granted && review_state == ReviewState::Reviewed && !marks.outdated && !requires_consent_each_call(tool);
        (hash, marks, allowed)
    }

    /// Returns the review warnings about the definition of a tool that an app of the server provides. Such a definition
    /// has no review state, since the user reviews it with each call.
    #[must_use]
    pub fn review_app_tool(&self, tool: &Tool) -> ReviewFindings {
        let findings = self.findings(DefinitionKind::Tool, &tool.name, &json!(tool), ReviewState::New);
        ReviewFindings { review_state: None, outdated: false, diff: None, ..findings }
    }

    /// Returns the review state of a tool's definition. A reviewed definition in an outdated list is treated as
    /// changed.
    #[must_use]
    pub fn tool_review_state(&self, tool: &Tool) -> ReviewState {
        let hash = Hash::of_json(&json!(tool));
        let review_state = self.pins.review_state(DefinitionKind::Tool, &tool.name, &hash, self.identity.as_ref());
        self.catalog.treat_as_changed_if_outdated(CatalogListKind::Tools, review_state)
    }

    /// Returns the hash of a prompt's definition, and the review warnings about it.
    #[must_use]
    pub fn review_prompt(&self, prompt: &Prompt) -> (Hash, ReviewFindings) {
        let definition = json!(prompt);
        let hash = Hash::of_json(&definition);
        let review_state = self.pins.review_state(DefinitionKind::Prompt, &prompt.name, &hash, self.identity.as_ref());
        let marks = self.findings(DefinitionKind::Prompt, &prompt.name, &definition, review_state);
        (hash, marks)
    }

    fn findings(
        &self,
        kind: DefinitionKind,
        name: &str,
        definition: &Value,
        review_state: ReviewState,
    ) -> ReviewFindings {
        let of = |kind: DefinitionKind| {
            self.others.iter().map(move |(server, names)| (server.as_str(), &*names[kind as usize]))
        };
        let others: Vec<(&str, &NameIndex)> = of(kind).collect();
        let own = (self.server.as_str(), self.catalog.names(kind));
        let foreign: Vec<&NameIndex> = of(DefinitionKind::Tool).map(|(_, names)| names).collect();
        let list = if kind == DefinitionKind::Tool { CatalogListKind::Tools } else { CatalogListKind::Prompts };
        ReviewFindings {
            review_state: Some(review_state),
            outdated: self.catalog.is_outdated(list),
            diff: self.pins.diff(kind, name, definition, review_state).map(Box::new),
            look_alikes: name_index::look_alikes((name, display_title(definition)), own, &others),
            flags: flags_of_definition(definition, &foreign),
        }
    }
}

/// Name indexes of one server's tools and prompts, indexed by [`DefinitionKind`].
pub type ToolAndPromptNames = [Arc<NameIndex>; 2];

/// Returns the title of a definition, which is displayed in place of its name.
pub fn display_title(definition: &Value) -> Option<&str> {
    let of_claims = || definition.get("annotations").and_then(|claims| claims.get("title"));
    definition.get("title").or_else(of_claims).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use mcp_proto::types::ListEntry;
    use ports::server_config::StdioConfig;

    use super::*;

    fn catalog_with_tools(tools: &[Tool]) -> Arc<ServerCatalog> {
        let named = |tool: &Tool| (tool.name.clone(), display_title(&json!(tool)).map(str::to_owned));
        let names = [Arc::new(NameIndex::new(tools.iter().map(named))), Arc::default()];
        Arc::new(ServerCatalog {
            tools: tools.iter().map(ListEntry::from).collect(),
            names,
            ..ServerCatalog::default()
        })
    }

    #[test]
    fn tool_is_new_until_pinned_and_changed_afterwards() {
        let tool = Tool { name: "send".into(), description: Some("Sends".into()), ..Tool::default() };
        let identity = Hash::of_bytes(b"the command");
        let mut reviewed = ServerReview {
            server: "post".into(),
            config: Arc::new(StdioConfig::default().into()),
            catalog: catalog_with_tools(std::slice::from_ref(&tool)),
            pins: Arc::default(),
            identity: Some(identity.clone()),
            granted: HashMap::new(),
            others: vec![(
                "mail".into(),
                catalog_with_tools(&[Tool { name: "sеnd".into(), ..Tool::default() }]).names.clone(),
            )],
        };
        let (_, marks, allowed) = reviewed.review_tool(&tool);
        assert_eq!(marks.review_state, Some(ReviewState::New), "a tool without a pin is new");
        assert!(!allowed, "a tool without a grant is not allowed");
        let alike = LookAlike { server: "mail".into(), name: "sеnd".into(), is_identical: false };
        assert_eq!(marks.look_alikes, [alike], "X06: the similar tool of the other server is found");

        let mut pins = ServerPins::default();
        pins.pin(DefinitionKind::Tool, &tool.name, &json!(tool), Some(&identity), 1);
        reviewed.pins = Arc::new(pins);
        assert_eq!(
            reviewed.review_tool(&tool).1.review_state,
            Some(ReviewState::Reviewed),
            "a pinned definition is reviewed"
        );
        let other = Tool { description: Some("Sends, also to me".into()), ..tool.clone() };
        let marks = reviewed.review_tool(&other).1;
        assert_eq!(marks.review_state, Some(ReviewState::Changed), "a tool with another description is changed");
        let diff = marks.diff.expect("a changed tool has differences");
        assert_eq!(diff.changes.len(), 1, "only one difference is listed: {diff:?}");
        assert_eq!(diff.changes[0].path, ["description"], "the path of the difference is given");
    }
}
