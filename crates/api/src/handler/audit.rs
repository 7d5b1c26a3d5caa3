//! The audit log: read, checked, exported.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::Arc;

use host::ports::{
    AuditEntry as HostAudit, AuditLog, AuditQuery, AuditSeal as HostSeal, StoreError, Tampered as HostTampered,
};

use super::{Api, errors};
use crate::data::*;
use crate::{ApiError, ErrorCode};

/// The most entries of one page.
const MAX_PAGE: usize = 1_000;

impl Api {
    pub(super) async fn audit(&self, r: AuditRange) -> Result<AuditPage, ApiError> {
        let limit = usize::try_from(r.limit).unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let query = AuditQuery {
            before: r.before,
            // One more tells whether there are older ones.
            limit: limit + 1,
            server: r.server,
            kind: r.kind,
            decision: r.decision,
            since: r.since,
            until: r.until,
            words: r.search.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect(),
        };
        let mut entries = self.beside(move |log| log.read(&query)).await?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        Ok(AuditPage { entries: entries.into_iter().map(entry).collect(), more })
    }

    pub(super) async fn verify_audit(&self) -> Result<AuditVerdict, ApiError> {
        Ok(verdict(self.beside(|log| log.verify()).await?))
    }

    pub(super) async fn export_audit(&self) -> Result<SavedFile, ApiError> {
        let picked =
            self.host.ports().platform.pick_save_file("drawbridge-audit.jsonl").await.map_err(errors::system)?;
        let Some(path) = picked else { return Ok(SavedFile { path: None }) };
        let shown = path.display().to_string();
        let failed = shown.clone();
        self.beside(move |log| {
            let fail = |error: std::io::Error| StoreError { path: failed, cause: error.to_string() };
            let file = private_file(&path).map_err(fail)?;
            log.export(&mut std::io::BufWriter::new(file))
        })
        .await?;
        Ok(SavedFile { path: Some(shown) })
    }

    /// Does something with the log that may take its time.
    async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(Arc<dyn AuditLog>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let log = Arc::clone(&self.host.ports().audit);
        tokio::task::spawn_blocking(move || work(log))
            .await
            .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?
            .map_err(|error| errors::system(error.to_string()))
    }
}

/// A file to write that only its owner can read, also if there was one that others can.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        // A place where that can't be said, such as a memory stick, is the user's choice.
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            let _ = file.set_permissions(std::fs::Permissions::from_mode(0o600));
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

fn entry(entry: HostAudit) -> AuditEntry {
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
            Some("once") => Some(Scope::Once),
            Some("conversation") => Some(Scope::Conversation),
            Some("session") => Some(Scope::Session),
            Some("always") => Some(Scope::Always),
            _ => None,
        },
        by: entry.by.into_owned(),
        rule: entry.rule.into_owned(),
        conversation: entry.conversation,
        hash: entry.hash,
        imported: entry.imported,
    }
}

/// What a check found, as the page and the terminal show it.
#[must_use]
pub fn verdict(verdict: host::ports::AuditVerdict) -> AuditVerdict {
    AuditVerdict {
        whole: verdict.is_whole(),
        proved: verdict.is_proved(),
        entries: verdict.entries,
        first: verdict.first,
        last: verdict.last,
        removed: verdict.removed,
        seal: match verdict.seal {
            HostSeal::Holds { number } => AuditSeal::Holds { number },
            HostSeal::None => AuditSeal::None,
            HostSeal::Unchecked { cause } => AuditSeal::Unchecked { cause },
            HostSeal::Broken => AuditSeal::Broken,
        },
        findings: verdict.findings.into_iter().map(finding).collect(),
        more: verdict.more,
        unproved: verdict.unproved.into_iter().map(|(from, to)| AuditSpan { from, to }).collect(),
    }
}

fn finding(finding: host::ports::AuditFinding) -> AuditFinding {
    AuditFinding {
        what: match finding.what {
            HostTampered::Changed => Tampered::Changed,
            HostTampered::Missing => Tampered::Missing,
            HostTampered::CutOff => Tampered::CutOff,
            HostTampered::SealBroken => Tampered::SealBroken,
            HostTampered::SealMissing => Tampered::SealMissing,
            HostTampered::CheckpointBroken => Tampered::CheckpointBroken,
            HostTampered::Noted => Tampered::Noted,
            HostTampered::Unreadable => Tampered::Unreadable,
        },
        number: finding.number,
        to: finding.to,
        detail: finding.detail,
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_export_can_be_read_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("export.jsonl");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        drop(private_file(&path).unwrap());
        assert_eq!(mode(), 0o600, "a new one");
        std::fs::write(&path, "older").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        drop(private_file(&path).unwrap());
        assert_eq!(mode(), 0o600, "and one that others could read");
        assert_eq!(std::fs::read(&path).unwrap(), b"", "of which nothing is left");
    }
}
