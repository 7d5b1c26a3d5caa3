//! An app page as it is shown to the user for approval. Used by `AppViews::page_for_review`.

use mcp_apps::{AppPage, CspSourceReach, CspSourceUse, DeclaredCspSources, PagePermissions, SandboxGrants};
use offers::review::AppReviewState;
use serde::{Deserialize, Serialize};

use crate::page_source::without_unsupported_permissions;

/// Current page of an app, with the access that it requests, for the user's review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AppPageReport {
    /// URI of the page, with the scheme `ui`.
    pub uri: String,
    /// Hash over the URI, the document and the declared metadata of the page. An approval is valid for one hash.
    pub hash: String,
    /// Size of the document in bytes.
    pub bytes: u64,
    /// State of the user's review of the page.
    pub review: AppPageReview,
    /// Access that an approved page has, or else the access that approving all of the page's requests would grant.
    pub grants: SandboxGrants,
    /// Hosts that the page requests to contact, or to load resources from.
    pub sources: Vec<AppSource>,
    /// Permissions of the web view that the page requests and that the user can grant.
    pub permissions: PagePermissions,
    /// Declarations of the server that have no effect, with the reasons in English.
    pub notes: Vec<String>,
}

/// State of the user's review of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AppPageReview {
    /// No version of the page was approved.
    New,
    /// Another version of the page was approved.
    Changed,
    /// This version of the page was approved.
    Approved,
}

/// Host that a page requests to contact or to load from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct AppSource {
    /// Purpose for which the page would use the host.
    pub used_as: CspSourceUse,
    /// Origin, such as `https://example.com`, or `*` for every host.
    pub origin: String,
    /// Network that the origin reaches, such as the internet or this computer.
    pub reach: CspSourceReach,
}

impl AppPageReport {
    pub(crate) fn new(page: AppPage, state: AppReviewState) -> Self {
        let (page, unsupported) = without_unsupported_permissions(page);
        let declared = page.metadata.domains.as_ref().map(DeclaredCspSources::parse).unwrap_or_default();
        let sources = to_app_sources(&declared);
        let requested = requested_grants(&sources, page.metadata.permissions.clone());
        let (review, grants) = match state {
            AppReviewState::New => (AppPageReview::New, requested),
            AppReviewState::Changed => (AppPageReview::Changed, requested),
            AppReviewState::Approved(grants) => (AppPageReview::Approved, grants),
        };
        let faults = page.metadata.faults.iter().map(ToString::to_string);
        let echoed = page.echoed_uri.iter().map(|uri| format!("the server returned the page as {uri}"));
        Self {
            uri: page.uri.as_str().to_owned(),
            hash: page.hash.to_string(),
            bytes: page.html.len() as u64,
            review,
            grants,
            sources,
            permissions: page.metadata.permissions,
            notes: faults
                .chain(declared.dropped.iter().map(ToString::to_string))
                .chain(unsupported)
                .chain(echoed)
                .collect(),
        }
    }
}

/// Returns the grants for all sources and permissions that a page requests.
fn requested_grants(sources: &[AppSource], permissions: PagePermissions) -> SandboxGrants {
    let reaches = |levels: &[CspSourceReach]| sources.iter().any(|source| levels.contains(&source.reach));
    SandboxGrants {
        declared_origins: reaches(&[CspSourceReach::Internet, CspSourceReach::PrivateNetwork]),
        loopback: reaches(&[CspSourceReach::Loopback]),
        every_host: reaches(&[CspSourceReach::EveryHost]),
        permissions,
    }
}

/// Converts a page's declared sources to the form in which they are shown to the user.
fn to_app_sources(sources: &DeclaredCspSources) -> Vec<AppSource> {
    let shown = |(used_as, source): (CspSourceUse, &mcp_apps::CspSource)| AppSource {
        used_as,
        origin: source.to_string(),
        reach: source.reach(),
    };
    sources.iter().map(shown).collect()
}
