//! Definitions that the user has reviewed (pins), in memory and as stored in their file. Used by
//! `host/src/owner/pins.rs` and `host/src/owner/review_marks.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use credentials::sign_in::SignInEndpoint;
use offers::review::{
    AppReviewState, DefinitionDiff, DefinitionKind, Pins, ServerPins, ToolAndPromptNames, app_review_state,
};
use policy::{Hash, ReviewState};
use serde_json::{Map, Value, json};

use super::OfferState;
use crate::HostClosed;

/// Records of the definitions that the user has reviewed (pins), for all servers.
#[derive(Default)]
pub struct Reviews {
    /// Current records of reviewed definitions by server, including changes that were not written to `pins.json` yet.
    pub pins: Pins,
    /// Content of `pins.json` as last read, by which changes by other processes are detected.
    in_file: Pins,
}

/// Reference to a definition that was displayed to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionShownToUser {
    /// Kind of the definition: a tool or a prompt.
    pub kind: DefinitionKind,
    /// Name of the tool or prompt.
    pub name: String,
    /// Hash of the displayed definition.
    pub hash: String,
}

/// Error of recording the user's review of definitions. Except for [`Full`](Self::Full), no definition was pinned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// No server has this name.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The server is not running.
    #[error("{0} is not running, so its offers are unknown; start it first")]
    NotRunning(String),
    /// The definitions with these names have changed since they were displayed.
    #[error("changed since it was shown: {}; review it again", .0.join(", "))]
    Stale(Vec<String>),
    /// The maximum number of pinned definitions of this server is reached. Definitions that fit within the limit were
    /// pinned.
    #[error("the maximum number of definitions of {0} is stored; new ones still require consent")]
    Full(String),
    /// The review can't be written to the audit log.
    #[error("the audit log can't be written, so nothing was reviewed")]
    Audit,
    /// The host has shut down.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Reviews {
    /// Returns the state of the user's review of an app's page, whose current hash is `hash`.
    pub fn app_review_state(&self, server: &str, uri: &str, hash: &str) -> AppReviewState {
        self.pins.get(server).map_or(AppReviewState::New, |pins| app_review_state(&pins.apps, uri, hash))
    }

    /// Creates the reviews at startup from `in_file`, the content of `pins.json`.
    pub fn read(in_file: Pins) -> Self {
        Self { pins: in_file.clone(), in_file }
    }

    /// Applies changes that another process made to `pins.json` to the records in memory. `in_file` is the new content
    /// of the file. Returns the names of servers whose records changed.
    pub fn merge(&mut self, in_file: Pins) -> Vec<String> {
        let before = std::mem::replace(&mut self.in_file, in_file);
        let servers: BTreeSet<String> = before.keys().chain(self.in_file.keys()).cloned().collect();
        servers.into_iter().filter(|server| self.merge_server(server, before.get(server))).collect()
    }

    /// Applies another process's changes to the pins of one server. `was` is the previous content of the file for this
    /// server. Returns `true` if the pins changed.
    fn merge_server(&mut self, server: &str, was: Option<&Arc<ServerPins>>) -> bool {
        let is = self.in_file.get(server);
        if was == is {
            return false;
        }
        let nothing = Arc::new(ServerPins::default());
        let own = self.pins.get(server).unwrap_or(&nothing);
        let merged = own.with_merged_changes(was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        if merged == **own {
            return false;
        }
        if merged.is_empty() {
            self.pins.remove(server);
        } else {
            self.pins.insert(server.to_owned(), Arc::new(merged));
        }
        true
    }

    /// Returns the records of a server's definitions that the user has reviewed (pins). Empty if the user has reviewed
    /// none.
    pub fn pins_of(&self, server: &str) -> Arc<ServerPins> {
        self.pins.get(server).cloned().unwrap_or_default()
    }

    /// Applies `change` to the records of a server's reviewed definitions, and returns its result.
    pub fn change_pins<T>(&mut self, server: &str, change: impl FnOnce(&mut ServerPins) -> T) -> T {
        change(Arc::make_mut(self.pins.entry(server.to_owned()).or_default()))
    }

    /// Compares the issuer and endpoints of a sign-in with those that the user approved. Returns the differences, or
    /// `None` if there are none. If the sign-in opens no page in the browser, the issuer is not compared, since it is
    /// part of the server's settings.
    pub fn sign_in_diff(
        &self,
        server: &str,
        issuer: &str,
        endpoints: &[SignInEndpoint],
        opens_page: bool,
    ) -> Option<DefinitionDiff> {
        sign_in_diff(self.pins.get(server)?, issuer, endpoints, opens_page)
    }

    /// Returns two counts of a server's listed tools and prompts: those that the user has never reviewed, and those
    /// that have changed since their review.
    pub fn count_unreviewed(&self, server: &str, offer: &OfferState) -> [usize; 2] {
        let OfferState { catalog, identity, unreviewed, .. } = offer;
        *unreviewed.get_or_init(|| {
            let pins = self.pins_of(server);
            let review_state = |kind, name: &str, definition: &Value| {
                pins.review_state(kind, name, &Hash::of_json(definition), identity.as_ref())
            };
            let tools = catalog.tools.iter().filter_map(|listed| listed.read().ok());
            let tools = tools.map(|tool| review_state(DefinitionKind::Tool, &tool.name, &json!(tool)));
            let prompts = catalog.prompts.iter().filter_map(|listed| listed.read().ok());
            let prompts = prompts.map(|prompt| review_state(DefinitionKind::Prompt, &prompt.name, &json!(prompt)));
            let mut counts = [0, 0];
            for review_state in tools.chain(prompts) {
                match review_state {
                    ReviewState::New => counts[0] += 1,
                    ReviewState::Changed => counts[1] += 1,
                    _ => {}
                }
            }
            counts
        })
    }

    /// Returns the names of a server's listed tools and prompts. If the server is not connected or its lists are
    /// unknown, returns the names of the reviewed ones.
    pub fn definition_names(&self, server: &str, offer: &OfferState, is_connected: bool) -> ToolAndPromptNames {
        if is_connected && offer.catalog.is_read {
            return offer.catalog.names.clone();
        }
        let Some(pins) = self.pins.get(server) else { return ToolAndPromptNames::default() };
        let names = || [DefinitionKind::Tool, DefinitionKind::Prompt].map(|kind| Arc::new(pins.name_index(kind)));
        offer.pinned_names.get_or_init(names).clone()
    }
}

/// Compares the issuer and endpoints of a sign-in with those in `pins`. Returns the differences, or `None` if there are
/// none.
fn sign_in_diff(
    pins: &ServerPins,
    issuer: &str,
    endpoints: &[SignInEndpoint],
    opens_page: bool,
) -> Option<DefinitionDiff> {
    let (mut before, mut now) = (Map::new(), Map::new());
    if let Some(pinned) = pins.issuer.as_ref().filter(|_| opens_page) {
        before.insert("issuer".to_owned(), json!(pinned));
        now.insert("issuer".to_owned(), json!(issuer));
    }
    if !pins.endpoints.is_empty() {
        before.extend(pins.endpoints.iter().map(|(name, url)| (name.clone(), json!(url))));
        now.extend(endpoints_by_purpose(endpoints).into_iter().map(|(name, url)| (name, json!(url))));
    }
    let diff = DefinitionDiff::between(&before.into(), &now.into());
    (!diff.is_empty()).then_some(DefinitionDiff { server_changed: true, ..diff })
}

/// Returns the review state of a tool whose definition has the hash `own`.
pub fn tool_review_state(pins: &Pins, server: &str, tool: &str, own: &Hash, identity: Option<&Hash>) -> ReviewState {
    let review_state = |pins: &ServerPins| pins.review_state(DefinitionKind::Tool, tool, own, identity);
    pins.get(server).map_or(ReviewState::New, |pins| review_state(pins))
}

/// Returns the URLs of a sign-in's endpoints by the endpoints' purpose. Multiple URLs of one purpose are separated by
/// spaces.
pub fn endpoints_by_purpose(endpoints: &[SignInEndpoint]) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for endpoint in endpoints {
        let urls: &mut String = parts.entry(format!("endpoint.{}", endpoint.purpose.name())).or_default();
        if !urls.is_empty() {
            urls.push(' ');
        }
        urls.push_str(&endpoint.url);
    }
    parts
}

#[cfg(test)]
mod tests {
    use credentials::sign_in::EndpointUse;
    use offers::review::PinnedServerIdentity;

    use super::*;

    fn pins_with_issuer(issuer: &str) -> ServerPins {
        let mut pins = ServerPins::default();
        pins.pin_issuer(issuer);
        pins
    }

    fn pins_file(of: &[(&str, ServerPins)]) -> Pins {
        of.iter().map(|(server, pins)| ((*server).to_owned(), Arc::new(pins.clone()))).collect()
    }

    #[test]
    fn external_change_keeps_own_pins() {
        let mut reviews = Reviews::read(pins_file(&[("a", pins_with_issuer("one")), ("b", pins_with_issuer("one"))]));
        let identity = PinnedServerIdentity { hash: Hash::of_bytes(b"x"), parts: Map::new(), at: 1 };
        reviews.change_pins("a", |pins| pins.pin_command_or_address(identity.clone()));
        let changed = reviews.merge(pins_file(&[("a", pins_with_issuer("two")), ("b", pins_with_issuer("one"))]));
        assert_eq!(changed, ["a"], "only the changed server is reported");
        let own = reviews.pins_of("a");
        assert_eq!(own.issuer.as_deref(), Some("two"), "the change of the other process is applied");
        assert_eq!(own.identity.as_ref(), Some(&identity), "the pin in memory is retained");
    }

    #[test]
    fn externally_removed_pins_are_unpinned() {
        let mut reviews = Reviews::read(pins_file(&[("a", pins_with_issuer("one"))]));
        assert_eq!(reviews.merge(Pins::default()), ["a"], "removed pins are reported");
        assert!(reviews.pins.is_empty(), "a server without pins has no entry");
        assert!(reviews.merge(Pins::default()).is_empty(), "an unchanged file reports nothing");
    }

    #[test]
    fn changed_issuer_of_a_sign_in_is_reported() {
        let reviews = Reviews::read(pins_file(&[("a", pins_with_issuer("https://one.example"))]));
        let diff = |issuer, opens_page| reviews.sign_in_diff("a", issuer, &[], opens_page);
        assert!(diff("https://one.example", true).is_none(), "an unchanged issuer has no difference");
        assert!(
            diff("https://two.example", true).is_some_and(|diff| diff.server_changed),
            "a changed issuer is reported"
        );
        assert!(diff("https://two.example", false).is_none(), "without a page, the issuer is part of the settings");
    }

    #[test]
    fn endpoints_of_one_purpose_are_joined() {
        let endpoint =
            |url: &str| SignInEndpoint { purpose: EndpointUse::Token, url: url.to_owned(), issuer: String::new() };
        let parts = endpoints_by_purpose(&[endpoint("https://a.example"), endpoint("https://b.example")]);
        let urls: Vec<&str> = parts.values().map(String::as_str).collect();
        assert_eq!(urls, ["https://a.example https://b.example"], "several endpoints of one purpose are joined");
    }
}
