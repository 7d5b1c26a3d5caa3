//! The definitions that the user has seen, as they are in memory and in their file. Callers: `owner/pins.rs` and `owner/marks.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use credentials::sign_in::SignInEndpoint;
use offers::review::{Diff, Kind, KindNames, Pins, ServerPins};
use policy::{Hash, Standing};
use serde_json::{Map, Value, json};

use super::ServerRecord;
use super::server_record::Offer;
use crate::HostClosed;

/// Pins of all servers.
#[derive(Default)]
pub(in crate::owner) struct Reviews {
    pub(in crate::owner) pins: Pins,
    /// The same as they are in the file.
    in_file: Pins,
}

/// A definition that the user has looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownDefinition {
    /// A tool or a prompt.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The hash of what was shown.
    pub hash: String,
}

/// Why a review could not be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReviewError {
    /// There is no such server.
    #[error("there is no server \"{0}\"")]
    NotFound(String),
    /// The server does not run.
    #[error("{0} is not running, so what it offers is not known; start it first")]
    NotRunning(String),
    /// Something is not as it was shown.
    #[error("not as it was shown any more: {}; look at it again", .0.join(", "))]
    Stale(Vec<String>),
    /// There are as many pinned definitions as may be.
    #[error("more definitions of {0} are kept than may be; those that are new go on asking")]
    Full(String),
    /// The decision could not be written down.
    #[error("the audit log can't be written, so nothing was reviewed")]
    Audit,
    /// The host has ended.
    #[error(transparent)]
    Closed(#[from] HostClosed),
}

impl Reviews {
    /// The pins as they were read from the file at the start.
    pub(in crate::owner) fn read(in_file: Pins) -> Self {
        Self { pins: in_file.clone(), in_file }
    }

    /// Takes over what another program changed in the file. Returns the servers of which other definitions count as seen.
    pub(in crate::owner) fn merge(&mut self, in_file: Pins) -> Vec<String> {
        let before = std::mem::replace(&mut self.in_file, in_file);
        let servers: BTreeSet<String> = before.keys().chain(self.in_file.keys()).cloned().collect();
        servers.into_iter().filter(|server| self.merge_server(server, before.get(server))).collect()
    }

    /// Merges the pins of one server, which the file had so before. Returns true if they are others now.
    fn merge_server(&mut self, server: &str, was: Option<&Arc<ServerPins>>) -> bool {
        let is = self.in_file.get(server);
        if was == is {
            return false;
        }
        let nothing = Arc::new(ServerPins::default());
        let own = self.pins.get(server).unwrap_or(&nothing);
        let merged = own.with_changes(was.unwrap_or(&nothing), is.unwrap_or(&nothing));
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

    /// The pins of a server; none are kept of one that nobody has seen.
    pub(in crate::owner) fn of(&self, server: &str) -> Arc<ServerPins> {
        self.pins.get(server).cloned().unwrap_or_default()
    }

    /// Changes the pins of a server.
    pub(in crate::owner) fn change<T>(&mut self, server: &str, change: impl FnOnce(&mut ServerPins) -> T) -> T {
        change(Arc::make_mut(self.pins.entry(server.to_owned()).or_default()))
    }

    /// The difference in where a sign-in goes, if it goes elsewhere than the user saw. Where no page is opened, the issuer is one of
    /// the settings.
    pub(in crate::owner) fn sign_in_diff(
        &self,
        server: &str,
        issuer: &str,
        endpoints: &[SignInEndpoint],
        opens_page: bool,
    ) -> Option<Diff> {
        sign_in_diff(self.pins.get(server)?, issuer, endpoints, opens_page)
    }

    /// How many of the tools and prompts that a server offers the user has never seen, and how many are others than those that they saw.
    pub(in crate::owner) fn unreviewed(&self, server: &str, record: &ServerRecord) -> [usize; 2] {
        let Offer { catalog, identity, unreviewed, .. } = &record.offer;
        *unreviewed.get_or_init(|| {
            let pins = self.of(server);
            let standing = |kind, name: &str, definition: &Value| {
                pins.standing(kind, name, &Hash::of(definition), identity.as_ref())
            };
            let tools = catalog.tools.iter().filter_map(|listed| listed.read().ok());
            let tools = tools.map(|tool| standing(Kind::Tool, &tool.name, &json!(tool)));
            let prompts = catalog.prompts.iter().filter_map(|listed| listed.read().ok());
            let prompts = prompts.map(|prompt| standing(Kind::Prompt, &prompt.name, &json!(prompt)));
            let mut counts = [0, 0];
            for standing in tools.chain(prompts) {
                match standing {
                    Standing::New => counts[0] += 1,
                    Standing::Changed => counts[1] += 1,
                    _ => {}
                }
            }
            counts
        })
    }

    /// The names of what a server offers; while that is not known, of what the user saw of it.
    pub(in crate::owner) fn names_of(&self, server: &str, record: &ServerRecord) -> KindNames {
        if record.session.connection.is_some() && record.offer.catalog.is_read {
            return record.offer.catalog.names.clone();
        }
        let Some(pins) = self.pins.get(server) else { return KindNames::default() };
        let names = || [Kind::Tool, Kind::Prompt].map(|kind| Arc::new(pins.names(kind)));
        record.offer.pinned_names.get_or_init(names).clone()
    }
}

/// The difference in where a sign-in goes. Where no page is opened, the issuer is one of the settings.
fn sign_in_diff(pins: &ServerPins, issuer: &str, endpoints: &[SignInEndpoint], opens_page: bool) -> Option<Diff> {
    let (mut before, mut now) = (Map::new(), Map::new());
    if let Some(pinned) = pins.issuer.as_ref().filter(|_| opens_page) {
        before.insert("issuer".to_owned(), json!(pinned));
        now.insert("issuer".to_owned(), json!(issuer));
    }
    if !pins.endpoints.is_empty() {
        before.extend(pins.endpoints.iter().map(|(name, url)| (name.clone(), json!(url))));
        now.extend(endpoint_parts(endpoints).into_iter().map(|(name, url)| (name, json!(url))));
    }
    let diff = Diff::between(&before.into(), &now.into());
    (!diff.is_empty()).then_some(Diff { server_changed: true, ..diff })
}

/// The standing of a tool's definition, which has this hash, on this server.
pub(in crate::owner) fn standing_of(
    pins: &Pins,
    server: &str,
    tool: &str,
    own: &Hash,
    identity: Option<&Hash>,
) -> Standing {
    let standing = |pins: &ServerPins| pins.standing(Kind::Tool, tool, own, identity);
    pins.get(server).map_or(Standing::New, |pins| standing(pins))
}

/// The endpoints of a sign-in by what they are for.
pub(in crate::owner) fn endpoint_parts(endpoints: &[SignInEndpoint]) -> BTreeMap<String, String> {
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
    use offers::review::PinnedIdentity;

    use super::*;

    fn pins_with_issuer(issuer: &str) -> ServerPins {
        let mut pins = ServerPins::default();
        pins.pin_issuer(issuer);
        pins
    }

    fn file(of: &[(&str, ServerPins)]) -> Pins {
        of.iter().map(|(server, pins)| ((*server).to_owned(), Arc::new(pins.clone()))).collect()
    }

    #[test]
    fn a_change_of_another_program_leaves_what_was_pinned_here() {
        let mut reviews = Reviews::read(file(&[("a", pins_with_issuer("one")), ("b", pins_with_issuer("one"))]));
        let identity = PinnedIdentity { hash: Hash::of_bytes(b"x"), parts: Map::new(), at: 1 };
        reviews.change("a", |pins| pins.pin_identity(identity.clone()));
        let changed = reviews.merge(file(&[("a", pins_with_issuer("two")), ("b", pins_with_issuer("one"))]));
        assert_eq!(changed, ["a"], "the other is as it was");
        let own = reviews.of("a");
        assert_eq!(own.issuer.as_deref(), Some("two"), "as the other program wrote it");
        assert_eq!(own.identity.as_ref(), Some(&identity), "and what was pinned here stays");
    }

    #[test]
    fn what_another_program_takes_back_is_seen_no_more() {
        let mut reviews = Reviews::read(file(&[("a", pins_with_issuer("one"))]));
        assert_eq!(reviews.merge(Pins::default()), ["a"], "it took all of it back");
        assert!(reviews.pins.is_empty(), "nothing is left of a server without pins");
        assert!(reviews.merge(Pins::default()).is_empty(), "and nothing changed since");
    }

    #[test]
    fn a_sign_in_that_goes_elsewhere_than_was_seen_is_told() {
        let reviews = Reviews::read(file(&[("a", pins_with_issuer("https://one.example"))]));
        let diff = |issuer, opens_page| reviews.sign_in_diff("a", issuer, &[], opens_page);
        assert!(diff("https://one.example", true).is_none(), "where it went before");
        assert!(diff("https://two.example", true).is_some_and(|diff| diff.server_changed), "another issuer");
        assert!(diff("https://two.example", false).is_none(), "without a page, the issuer is one of the settings");
    }

    #[test]
    fn endpoints_of_one_use_are_one_part() {
        let endpoint =
            |url: &str| SignInEndpoint { purpose: EndpointUse::Token, url: url.to_owned(), issuer: String::new() };
        let parts = endpoint_parts(&[endpoint("https://a.example"), endpoint("https://b.example")]);
        let urls: Vec<&str> = parts.values().map(String::as_str).collect();
        assert_eq!(urls, ["https://a.example https://b.example"], "a second one would take the place of the first");
    }
}
