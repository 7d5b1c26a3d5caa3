//! Pages of apps that the user approved, with the access that they were granted (MCP Apps). Stored with the pins of
//! their server. Used by `host/src/owner/apps.rs`.

use std::collections::BTreeMap;

use domain::Millis;
use mcp_apps::SandboxGrants;
use serde::{Deserialize, Serialize};

/// Maximum number of approved app pages per server.
pub const MAX_APPROVED_APP_PAGES: usize = 200;

/// HTML page of an MCP app as approved by the user. Another version of the page requires another approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppApproval {
    /// Hash over the URI, the document and the declared metadata of the page, in hexadecimal digits.
    pub hash: String,
    /// Network origins and browser permissions that the user granted to the page.
    pub grants: SandboxGrants,
    /// Time of the approval, in milliseconds since 1970.
    pub at: Millis,
}

/// Review state of an app's page: new, changed since its approval, or approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppReviewState {
    /// The user has approved no version of the page.
    New,
    /// The user has approved another version of the page.
    Changed,
    /// The user has approved this version of the page, with this access.
    Approved(SandboxGrants),
}

/// Returns the review state of the HTML page of an MCP app with this URI and hash.
pub fn app_review_state(approvals: &BTreeMap<String, AppApproval>, uri: &str, hash: &str) -> AppReviewState {
    match approvals.get(uri) {
        None => AppReviewState::New,
        Some(approval) if approval.hash == hash => AppReviewState::Approved(approval.grants.clone()),
        Some(_) => AppReviewState::Changed,
    }
}

/// Stores the user's approval of an app's page, and replaces that of another version of the page. Returns `false` if
/// the server has the maximum number of approved pages.
pub fn approve_app(approvals: &mut BTreeMap<String, AppApproval>, uri: &str, approval: AppApproval) -> bool {
    if !approvals.contains_key(uri) && approvals.len() >= MAX_APPROVED_APP_PAGES {
        return false;
    }
    approvals.insert(uri.to_owned(), approval);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approval(hash: &str) -> AppApproval {
        let grants = SandboxGrants { declared_origins: true, ..SandboxGrants::default() };
        AppApproval { hash: hash.to_owned(), grants, at: 1 }
    }

    #[test]
    fn app_approval_is_valid_for_one_version_of_its_page() {
        let mut approvals = BTreeMap::new();
        assert_eq!(app_review_state(&approvals, "ui://a", "1"), AppReviewState::New);
        assert!(approve_app(&mut approvals, "ui://a", approval("1")));
        let state = |hash| app_review_state(&approvals, "ui://a", hash);
        assert_eq!(state("1"), AppReviewState::Approved(approval("1").grants));
        assert_eq!(state("2"), AppReviewState::Changed, "a changed page should be reviewed again");
        assert_eq!(
            app_review_state(&approvals, "ui://b", "1"),
            AppReviewState::New,
            "another page has its own approval"
        );
    }

    #[test]
    fn number_of_approved_app_pages_is_bounded() {
        let mut approvals = BTreeMap::new();
        for number in 0..MAX_APPROVED_APP_PAGES {
            assert!(approve_app(&mut approvals, &format!("ui://{number}"), approval("1")));
        }
        assert!(!approve_app(&mut approvals, "ui://more", approval("1")), "a further page should not be stored");
        assert!(approve_app(&mut approvals, "ui://0", approval("2")), "a new version should replace the approved one");
    }
}
