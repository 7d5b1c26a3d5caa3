//! Newer versions, and what another version would change. Nothing follows by itself: a changed plan is a new command to approve.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use installs::{Argument, InstallPlan, PlanInput, PlanTarget, Template};
use ports::server_config::HttpKind;
use semver::Version;

use crate::server_json::{RegistryEntry, Status};

/// Compares two versions of one server: the one that the registry marks as its latest is newer; then the greater semantic version, which
/// is newer than any other text; then the one that was published later.
#[must_use]
pub fn compare_versions(one: &RegistryEntry, other: &RegistryEntry) -> Ordering {
    let is_latest = |entry: &RegistryEntry| entry.listing.as_ref().is_some_and(|listing| listing.is_latest);
    let published = |entry: &RegistryEntry| entry.listing.as_ref().and_then(|listing| listing.published_at);
    let semantic = |entry: &RegistryEntry| semantic(&entry.server.version);
    // No version is less than any.
    is_latest(one)
        .cmp(&is_latest(other))
        .then_with(|| semantic(one).cmp(&semantic(other)))
        .then_with(|| published(one).cmp(&published(other)))
}

/// The newest version that is offered, if it is newer than the installed one.
///
/// If the registry does not list the installed version any more, its text is compared.
#[must_use]
pub fn update_of<'e>(installed: &str, versions: &'e [RegistryEntry]) -> Option<&'e RegistryEntry> {
    let is_offered =
        |entry: &&RegistryEntry| entry.listing.as_ref().is_none_or(|listing| listing.status != Status::Deleted);
    let newest = versions.iter().filter(is_offered).max_by(|one, other| compare_versions(one, other))?;
    let is_newer = match versions.iter().find(|entry| entry.server.version == installed) {
        Some(own) => compare_versions(newest, own) == Ordering::Greater,
        None => semantic(&newest.server.version) >= semantic(installed),
    };
    (is_newer && newest.server.version != installed).then_some(newest)
}

fn semantic(version: &str) -> Option<Version> {
    Version::parse(version.strip_prefix('v').unwrap_or(version)).ok()
}

/// A value before and after; none where it was or will be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change<T> {
    /// As it was.
    pub before: Option<T>,
    /// As it would be.
    pub after: Option<T>,
}

/// What another plan changes. Templates are compared, whatever was filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanDiff {
    /// The program.
    pub command: Option<Change<String>>,
    /// All arguments.
    pub args: Option<Change<Vec<Argument>>>,
    /// Variables of the environment, by name.
    pub env: BTreeMap<String, Change<Template>>,
    /// The URL.
    pub url: Option<Change<Template>>,
    /// The transport.
    pub kind: Option<Change<HttpKind>>,
    /// Headers, by name.
    pub headers: BTreeMap<String, Change<Template>>,
    /// Inputs, by key.
    pub inputs: BTreeMap<String, Change<PlanInput>>,
}

impl PlanDiff {
    /// Compares two plans.
    #[must_use]
    pub fn of(before: &InstallPlan, after: &InstallPlan) -> Self {
        let (one, other) = (Sides::of(before), Sides::of(after));
        let keyed = |plan: &InstallPlan| plan.inputs.iter().map(|input| (input.key.clone(), input.clone())).collect();
        Self {
            command: change(one.command, other.command),
            args: change(one.args, other.args),
            env: changes(&one.env, &other.env),
            url: change(one.url, other.url),
            kind: change(one.kind, other.kind),
            headers: changes(&one.headers, &other.headers),
            inputs: changes(&keyed(before), &keyed(after)),
        }
    }

    /// Returns true if nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What a plan has of either kind.
#[derive(Default)]
struct Sides {
    command: Option<String>,
    args: Option<Vec<Argument>>,
    env: BTreeMap<String, Template>,
    url: Option<Template>,
    kind: Option<HttpKind>,
    headers: BTreeMap<String, Template>,
}

impl Sides {
    fn of(plan: &InstallPlan) -> Self {
        match plan.target.clone() {
            PlanTarget::Command { command, args, env } => {
                Self { command: Some(command), args: Some(args), env, ..Self::default() }
            }
            PlanTarget::Remote { url, kind, headers } => {
                Self { url: Some(url), kind: Some(kind), headers, ..Self::default() }
            }
        }
    }
}

fn change<T: PartialEq>(before: Option<T>, after: Option<T>) -> Option<Change<T>> {
    (before != after).then_some(Change { before, after })
}

fn changes<T: Clone + PartialEq>(
    before: &BTreeMap<String, T>,
    after: &BTreeMap<String, T>,
) -> BTreeMap<String, Change<T>> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |name: &String| Some((name.clone(), change(before.get(name).cloned(), after.get(name).cloned())?));
    names.into_iter().filter_map(change).collect()
}
