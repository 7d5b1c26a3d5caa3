//! Commands for the audit log: read, verify and export.

use ports::{AuditEntry as HostAudit, AuditQuery};

use super::{Api, saved_file_view};
use crate::ApiError;
use crate::data::*;

/// Maximum number of entries in one page of the audit log.
const MAX_AUDIT_PAGE_ENTRIES: usize = 1_000;

pub(super) async fn read_audit_log(api: &Api, r: AuditRange) -> Result<AuditPage, ApiError> {
    let limit = usize::try_from(r.limit).unwrap_or(MAX_AUDIT_PAGE_ENTRIES).min(MAX_AUDIT_PAGE_ENTRIES);
    let query = AuditQuery {
        before: r.before,
        // Requests one more entry than the page contains, to determine if there are older ones.
        limit: limit + 1,
        server: r.server,
        kind: r.kind,
        decision: r.decision,
        since: r.since,
        until: r.until,
        words: r.search.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect(),
    };
    let mut entries = api.host.read_audit(query).await?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    Ok(AuditPage { entries: entries.into_iter().map(audit_entry_view).collect(), more })
}

pub(super) async fn verify_audit_log(api: &Api) -> Result<AuditVerdict, ApiError> {
    Ok(audit_verdict_view(api.host.verify_audit().await?))
}

pub(super) async fn export_audit_log(api: &Api) -> Result<SavedFile, ApiError> {
    Ok(saved_file_view(api.host.export_audit("drawbridge-audit.jsonl").await?))
}

fn audit_entry_view(entry: HostAudit) -> AuditEntry {
    AuditEntry {
        number: entry.number,
        at: entry.at,
        asker: entry.asker.into_owned(),
        server: entry.server,
        kind: entry.kind.into_owned(),
        subject: entry.subject,
        content: entry.content,
        content_bytes: entry.content_bytes,
        decision: entry.decision.into_owned(),
        scope: match entry.scope.as_deref() {
            Some("once") => Some(ApprovalScope::Once),
            Some("conversation") => Some(ApprovalScope::Conversation),
            Some("session") => Some(ApprovalScope::Session),
            Some("always") => Some(ApprovalScope::Always),
            _ => None,
        },
        by: entry.by.into_owned(),
        rule: entry.rule.into_owned(),
        conversation: entry.conversation,
        hash: entry.hash,
        imported: entry.imported,
    }
}

/// Converts the result of verifying the audit log to the API type. Also used by `drawbridge-cli`.
#[must_use]
pub fn audit_verdict_view(verdict: ports::AuditVerdict) -> AuditVerdict {
    AuditVerdict {
        whole: verdict.is_intact(),
        proved: verdict.is_proven(),
        entries: verdict.entries,
        first: verdict.first,
        last: verdict.last,
        removed: verdict.removed,
        seal: verdict.seal,
        findings: verdict.findings,
        more: verdict.more,
        unproved: verdict.unproved.into_iter().map(|(from, to)| AuditSpan { from, to }).collect(),
    }
}
