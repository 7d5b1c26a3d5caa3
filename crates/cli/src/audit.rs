//! The `audit` command: lists, verifies and exports the audit log.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use api::data::{AuditFinding, AuditRange, AuditSeal, AuditSpan, AuditVerdict, ContentAtRest, EmptyObject, TamperKind};
use api::{ErrorCode, Handler as _};
use chrono::{DateTime, NaiveDate};
use domain::StoreError;
use serde_json::{Value, json};

use crate::arguments::{AuditArguments, AuditCommand, AuditFilter};
use crate::failure::CommandFailure;
use crate::output::to_json_value;
use crate::result_text;
use crate::session::CommandSession;
use crate::table::format_table;
use crate::terminal_escape;

/// Exit status of `audit verify` if it detects no change of the audit log, but can't prove that Drawbridge wrote all
/// entries.
const EXIT_AUDIT_LOG_NOT_VERIFIED: u8 = 4;
/// Maximum number of decisions that are read from the audit log in one query.
const AUDIT_ENTRIES_PER_QUERY: usize = 500;

/// Returns a usage failure if an argument of the `audit` command is invalid. Called before the audit log is opened.
pub(crate) fn check_audit_arguments(what: &AuditArguments) -> Result<(), CommandFailure> {
    let list = match &what.command {
        None => &what.list,
        Some(AuditCommand::List(list)) => list,
        Some(AuditCommand::Verify { .. } | AuditCommand::Export { .. }) => return Ok(()),
    };
    parse_date_or_age_option(list.since.as_deref(), "--since")?;
    parse_date_or_age_option(list.until.as_deref(), "--until").map(drop)
}

/// Runs an `audit` command, and returns its result as JSON.
pub(crate) async fn run(session: &CommandSession, what: AuditArguments) -> Result<Value, CommandFailure> {
    match what.command {
        None => list_audit_entries(session, what.list).await,
        Some(AuditCommand::List(filter)) => list_audit_entries(session, filter).await,
        Some(AuditCommand::Verify { file }) => verify_audit_log(session, file).await,
        Some(AuditCommand::Export { file }) => export_audit_log(session, file).await,
    }
}

async fn list_audit_entries(session: &CommandSession, list: AuditFilter) -> Result<Value, CommandFailure> {
    let mut entries = Vec::new();
    let mut range = AuditRange {
        server: list.server,
        kind: list.kind,
        decision: list.decision,
        since: parse_date_or_age_option(list.since.as_deref(), "--since")?,
        until: parse_date_or_age_option(list.until.as_deref(), "--until")?,
        search: list.search,
        ..AuditRange::default()
    };
    while entries.len() < list.limit {
        range.limit = u32::try_from(AUDIT_ENTRIES_PER_QUERY.min(list.limit - entries.len()))
            .map_err(|_| CommandFailure::new(ErrorCode::Internal, "a page has at most 500 decisions"))?;
        let page = session.api.read_audit_log(range.clone()).await?;
        range.before = page.entries.last().map(|entry| entry.number);
        entries.extend(page.entries);
        if !page.more {
            break;
        }
    }
    session.output.print_text(&format_table(&entries.iter().map(result_text::audit_entry_row).collect::<Vec<_>>()));
    Ok(to_json_value(&entries))
}

async fn verify_audit_log(session: &CommandSession, file: Option<PathBuf>) -> Result<Value, CommandFailure> {
    let log = Arc::clone(&session.api.host().ports().audit);
    let is_own = file.is_none();
    let found = tokio::task::spawn_blocking(move || match file {
        None => log.verify(),
        Some(file) => log.verify_export(&file),
    });
    let verdict = api::audit_verdict(join_blocking(found).await?);
    let mut words = audit_verdict_text(&verdict);
    if is_own {
        words
            .push_str(audit_log_encryption_text(&session.api.read_content_protection(EmptyObject {}).await?.decisions));
    }
    if verdict.proved {
        session.output.print_text(&words);
        return Ok(to_json_value(&verdict));
    }
    let failure = CommandFailure::new(ErrorCode::Invalid, words.trim_end());
    let (code, status) =
        if verdict.whole { ("unproved", EXIT_AUDIT_LOG_NOT_VERIFIED) } else { ("audit", failure.status) };
    Err(CommandFailure { code: code.to_owned(), status, value: Some(Box::new(to_json_value(&verdict))), ..failure })
}

async fn export_audit_log(session: &CommandSession, file: Option<PathBuf>) -> Result<Value, CommandFailure> {
    if file.is_none() && session.output.is_json() {
        return Err(CommandFailure::usage_error("with --json, name the file to write: the export has its own format"));
    }
    let log = Arc::clone(&session.api.host().ports().audit);
    let shown = file.clone();
    let written = tokio::task::spawn_blocking(move || match file {
        None => log.export(&mut std::io::stdout().lock()),
        Some(file) => {
            let fail =
                |error: std::io::Error| StoreError { path: file.display().to_string(), cause: error.to_string() };
            let mut out = BufWriter::new(create_private_file(&file).map_err(fail)?);
            let entries = log.export(&mut out)?;
            out.flush().map_err(fail)?;
            Ok(entries)
        }
    });
    let entries = join_blocking(written).await?;
    if let Some(file) = &shown {
        session.output.print_text(&format!(
            "{entries} entries are in {}",
            terminal_escape::escape_line(&file.display().to_string())
        ));
    }
    Ok(json!({ "entries": entries, "file": shown }))
}

/// Creates a file that only its owner can read. Returns an error if it exists.
fn create_private_file(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

async fn join_blocking<T>(work: tokio::task::JoinHandle<Result<T, StoreError>>) -> Result<T, CommandFailure> {
    let result = work.await.map_err(|error| CommandFailure::new(ErrorCode::Internal, error.to_string()))?;
    result.map_err(|error| CommandFailure::new(ErrorCode::System, error.to_string()))
}

/// Returns a text that says how the payloads in the audit log are encrypted on disk.
const fn audit_log_encryption_text(decisions: &ContentAtRest) -> &'static str {
    match decisions {
        ContentAtRest::Encrypted => "Contents are encrypted on disk, under the keychain's key.\n",
        ContentAtRest::Plain => {
            "Contents are not encrypted on disk: no key was available in the keychain, or another process was reading the log.\n"
        }
        ContentAtRest::Unreadable { .. } => "",
    }
}

/// Describes the result of verifying the audit log, as text for the user.
fn audit_verdict_text(verdict: &AuditVerdict) -> String {
    let mut text = String::new();
    let range = match (verdict.first, verdict.last) {
        (Some(first), Some(last)) => format!("{} entries, {first} to {last}", verdict.entries),
        _ => "no entries".to_owned(),
    };
    let outcome = match (verdict.whole, verdict.proved) {
        (true, true) => "The log is intact, and Drawbridge wrote it",
        (true, false) => "The links are valid, but nothing proves who wrote the log",
        (false, _) => "The log is damaged or was changed",
    };
    text.push_str(&format!("{outcome}: {range}.\n"));
    if let Some(removed) = verdict.removed {
        text.push_str(&format!("Drawbridge removed entries up to {removed} because of their age or the size limit.\n"));
    }
    text.push_str(&match &verdict.seal {
        AuditSeal::Holds { number } if verdict.last == Some(*number) => "The end is sealed, and the seal is valid.\n".to_owned(),
        AuditSeal::Holds { number } => format!(
            "The seal is valid up to entry {number}. Anyone who can write to the file could have added or removed later entries.\n"
        ),
        AuditSeal::None if verdict.entries == 0 => String::new(),
        AuditSeal::None => "It is not sealed: anyone who can write to the file could have cut off its end, or replaced all of \
            it. It is sealed once a keychain is available.\n"
            .to_owned(),
        AuditSeal::Unchecked { cause } => format!("The seal could not be checked: {}\n", terminal_escape::escape_line(cause)),
        AuditSeal::Broken => String::new(),
    });
    let sealed = matches!(verdict.seal, AuditSeal::Holds { .. });
    for AuditSpan { from, to } in verdict.unproved.iter().filter(|_| sealed) {
        text.push_str(&format!("- entries {from} to {to} had no seal: nothing proves who wrote them\n"));
    }
    for finding in &verdict.findings {
        text.push_str(&format!("- {}\n", audit_finding_text(finding)));
    }
    if verdict.more > 0 {
        text.push_str(&format!("- and {} more\n", verdict.more));
    }
    text
}

fn audit_finding_text(finding: &AuditFinding) -> String {
    let at = match finding.to {
        Some(to) => format!("entries {} to {to}", finding.number),
        None => format!("entry {}", finding.number),
    };
    let what = match finding.what {
        TamperKind::Changed => format!("{at} was changed or moved"),
        TamperKind::Missing => format!("{at} missing"),
        TamperKind::CutOff => format!("cut off at the end: {at}"),
        TamperKind::SealBroken => {
            format!("the seal over {at} does not match: the log was rewritten, or sealed with another key")
        }
        TamperKind::SealMissing => "the seal was removed".to_owned(),
        TamperKind::CheckpointBroken => format!("entries up to {at} are missing, and Drawbridge did not remove them"),
        TamperKind::Noted => format!("the log was already damaged when {at} was written"),
        TamperKind::Unreadable => format!("{at} can't be read"),
    };
    match &finding.detail {
        Some(detail) => format!("{what}: {}", terminal_escape::escape_line(detail)),
        None => what,
    }
}

/// Parses the value of the option `option`, a date, a date with a time, or an age, to milliseconds since 1970.
fn parse_date_or_age_option(text: Option<&str>, option: &str) -> Result<Option<u64>, CommandFailure> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        CommandFailure::usage_error(format!(
            "{option}: {text:?} is not a time; expected 2026-11-21, 2026-11-21T08:00:00Z, 30m, 12h or 7d"
        ))
    };
    let millis = match parse_age(text) {
        Some(ago) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            return Ok(Some(u64::try_from(now).unwrap_or(u64::MAX).saturating_sub(ago)));
        }
        None => match text.parse::<NaiveDate>() {
            Ok(date) => date.and_time(chrono::NaiveTime::MIN).and_utc().timestamp_millis(),
            Err(_) => DateTime::parse_from_rfc3339(text).map_err(|_| wrong())?.timestamp_millis(),
        },
    };
    u64::try_from(millis).map(Some).map_err(|_| wrong())
}

/// Parses an age such as `30m`, `12h` or `7d` to milliseconds.
fn parse_age(text: &str) -> Option<u64> {
    let minute = 60_000;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit = match unit {
        "m" => minute,
        "h" => 60 * minute,
        "d" => 24 * 60 * minute,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn times_are_dates_or_durations_before_now() {
        let read = |text| parse_date_or_age_option(Some(text), "--since");
        assert_eq!(read("1970-01-02"), Ok(Some(86_400_000)), "a date should be parsed");
        assert_eq!(read("1970-01-01T01:00:00+01:00"), Ok(Some(0)), "a date with time and zone should be parsed");
        assert_eq!(
            (parse_age("30m"), parse_age("2h"), parse_age("1d")),
            (Some(1_800_000), Some(7_200_000), Some(86_400_000)),
            "an age should be parsed"
        );
        let week = read("7d").unwrap().unwrap();
        assert!(week > 1_700_000_000_000, "an age should be relative to the current time: {week}");
        for strange in ["", "d", "yesterday", "1969-12-31", "2026-13-01", "7w", "99999999999999999999d", "ä"] {
            assert!(read(strange).is_err(), "{strange:?} should not be a time");
        }
    }
}
