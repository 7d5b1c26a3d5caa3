//! Parsed domains that a page declares, by their use.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::csp_source::{CspSource, DeclaredDomainProblem};
use crate::metadata::DeclaredDomains;
use crate::text::UntrustedTextExcerpt;

/// Use of a declared domain by an app page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "AppSourceUse"))]
#[serde(rename_all = "snake_case")]
pub enum CspSourceUse {
    /// The app page sends requests and opens WebSockets (`connectDomains`).
    Connect,
    /// The app page loads scripts, styles, images, fonts and media (`resourceDomains`).
    Resource,
    /// The app page embeds pages in frames (`frameDomains`).
    Frame,
    /// The app page sets the base URI of its document (`baseUriDomains`).
    BaseUri,
}

impl CspSourceUse {
    /// All uses in the order of the specification.
    pub const ALL: [Self; 4] = [Self::Connect, Self::Resource, Self::Frame, Self::BaseUri];

    /// Returns the name of the use's list of domains in the app page's metadata.
    #[must_use]
    pub const fn metadata_name(self) -> &'static str {
        match self {
            Self::Connect => "connectDomains",
            Self::Resource => "resourceDomains",
            Self::Frame => "frameDomains",
            Self::BaseUri => "baseUriDomains",
        }
    }

    fn select_declared_domains(self, domains: &DeclaredDomains) -> &[String] {
        match self {
            Self::Connect => &domains.connect_domains,
            Self::Resource => &domains.resource_domains,
            Self::Frame => &domains.frame_domains,
            Self::BaseUri => &domains.base_uri_domains,
        }
    }
}

/// A declared domain that is not part of the app page's policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {domain} {problem}", .used_as.metadata_name())]
pub struct DroppedDeclaredDomain {
    /// Use of the domain that the app page declared.
    pub used_as: CspSourceUse,
    /// Beginning of the domain as declared.
    pub domain: UntrustedTextExcerpt,
    /// Reason why the domain is dropped.
    pub problem: DeclaredDomainProblem,
}

/// Origins that an app page declares, parsed and without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeclaredCspSources {
    sources: Vec<(CspSourceUse, CspSource)>,
    /// Declared domains that are not part of the policy, with the reasons.
    pub dropped: Vec<DroppedDeclaredDomain>,
}

impl DeclaredCspSources {
    /// Parses all domains that an app page declares.
    #[must_use]
    pub fn parse(domains: &DeclaredDomains) -> Self {
        let mut parsed = Self::default();
        for used_as in CspSourceUse::ALL {
            for domain in used_as.select_declared_domains(domains) {
                match CspSource::parse(domain, used_as) {
                    Ok(source) => parsed.add(used_as, source),
                    Err(problem) => parsed.record_dropped_domain(used_as, domain, problem),
                }
            }
        }
        parsed
    }

    fn add(&mut self, used_as: CspSourceUse, source: CspSource) {
        if !self.sources.contains(&(used_as, source.clone())) {
            self.sources.push((used_as, source));
        }
    }

    fn record_dropped_domain(&mut self, used_as: CspSourceUse, domain: &str, problem: DeclaredDomainProblem) {
        self.dropped.push(DroppedDeclaredDomain { used_as, domain: UntrustedTextExcerpt::of(domain), problem });
    }

    /// Returns all sources with their uses, for the consent to the app page.
    pub fn iter(&self) -> impl Iterator<Item = (CspSourceUse, &CspSource)> {
        self.sources.iter().map(|(used_as, source)| (*used_as, source))
    }

    /// Returns the sources that the app page declares for one use.
    pub fn with_use(&self, source_use: CspSourceUse) -> impl Iterator<Item = &CspSource> {
        self.iter().filter(move |(used_as, _)| *used_as == source_use).map(|(_, source)| source)
    }

    /// Returns these sources without those for which `is_granted` returns `false`, which are added to `dropped`.
    pub(super) fn retain_granted_sources(self, is_granted: impl Fn(&CspSource) -> bool) -> Self {
        let mut granted = Self { sources: Vec::new(), dropped: self.dropped };
        for (used_as, source) in self.sources {
            if is_granted(&source) {
                granted.sources.push((used_as, source));
            } else {
                granted.record_dropped_domain(used_as, &source.to_string(), DeclaredDomainProblem::NotGranted);
            }
        }
        granted
    }

    /// Returns the sources as a JSON object in the form of an app page's `csp` metadata, without empty lists.
    pub(super) fn to_value(&self) -> Value {
        let mut lists = Map::new();
        for used_as in CspSourceUse::ALL {
            let list: Vec<String> = self.with_use(used_as).map(ToString::to_string).collect();
            if !list.is_empty() {
                lists.insert(used_as.metadata_name().to_owned(), json!(list));
            }
        }
        Value::Object(lists)
    }
}
