//! Measurements with data on disk: a call with a large audit log, and a search in a large conversation history.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bench::drawbridge::open::{self, BENCH_SERVER_NAME, BenchHost};
use bench::drawbridge::{Outcome, calls};
use bench::scenario::FEW_TOOLS_COUNT;
use domain::history::{Conversation, HistorySearch, ItemPosition, NewHistoryItem};
use domain::item::ItemState;
use ports::{AuditEntry, Ports};
use serde_json::json;
use store::FileBackedPlatform;

use crate::{median_seconds, print_measured_point};

/// Numbers of entries in the audit log at which calls are measured.
const AUDIT_LOG_SIZES: [usize; 4] = [0, 1_000, 100_000, 1_000_000];
/// Number of calls that are measured at each size of the audit log.
const CALLS_PER_SIZE: usize = 500;
/// Numbers of messages in the history at which searches are measured.
const HISTORY_SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Number of messages in each conversation of the history.
const MESSAGES_PER_CONVERSATION: usize = 1_000;
const SEARCHES_PER_SIZE: usize = 5;

fn open_ports_in(folder: &Path) -> Outcome<Ports> {
    let platform = Arc::new(FileBackedPlatform::new(folder));
    Ok(store::open(&folder.join("mcp.json"), &folder.join("data"), platform)?)
}

pub(crate) async fn measure_calls(server: &Path) -> Outcome<()> {
    let config = open::local_server_config(server, FEW_TOOLS_COUNT)?;
    let folder = tempfile::tempdir()?;
    let mut written = 0;
    for entries in AUDIT_LOG_SIZES {
        let ports = open_ports_in(folder.path())?;
        let log = Arc::clone(&ports.audit);
        let more = entries.saturating_sub(written);
        tokio::task::spawn_blocking(move || append_entries(log.as_ref(), more)).await??;
        written = written.max(entries) + CALLS_PER_SIZE;
        let bench = BenchHost::start_with_ports(ports).await;
        let user = bench.spawn_approving_user();
        bench.add_and_start_server(BENCH_SERVER_NAME, &config).await?;
        calls::call_echo(&bench.host, "first".to_owned()).await?;
        let began = Instant::now();
        for call in 0..CALLS_PER_SIZE {
            calls::call_echo(&bench.host, call.to_string()).await?;
        }
        print_measured_point("audit", entries, began.elapsed().as_secs_f64() / CALLS_PER_SIZE as f64)?;
        bench.host.remove_server(BENCH_SERVER_NAME.to_owned()).await?;
        user.abort();
        bench.host.close().await;
    }
    Ok(())
}

fn append_entries(log: &dyn ports::AuditLog, entries: usize) -> Outcome<()> {
    for entry in 0..entries {
        let entry = AuditEntry {
            number: 0,
            at: 1,
            asker: "user".into(),
            server: "another".to_owned(),
            kind: "tool".into(),
            subject: format!("tool-{}", entry % 100),
            content: Some("{\"text\":\"hello\"}".to_owned()),
            content_bytes: None,
            decision: "allowed".into(),
            scope: None,
            by: "policy".into(),
            rule: "".into(),
            conversation: None,
            hash: String::new(),
            imported: false,
        };
        // The log rejects entries while its buffer is full.
        if log.append_later(entry.clone(), 0).is_err() {
            log.flush()?;
            log.append_later(entry, 0)?;
        }
    }
    Ok(log.flush()?)
}

pub(crate) fn measure_search() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let ports = open_ports_in(folder.path())?;
    let history = ports.history.as_ref();
    let mut written = 0;
    for messages in HISTORY_SIZES {
        while written < messages {
            let id = format!("c{written}");
            history.create(&Conversation { id: id.clone(), title: id.clone(), ..Conversation::default() })?;
            let items: Vec<NewHistoryItem> =
                (written..written + MESSAGES_PER_CONVERSATION).map(sample_message).collect();
            history.write(&id, &items)?;
            written += MESSAGES_PER_CONVERSATION;
        }
        let search = HistorySearch { text: "harbour rare512".to_owned(), limit: 20, before: None };
        let taken = median_seconds(SEARCHES_PER_SIZE, || Ok(history.search(&search).map(|_| ())?))?;
        print_measured_point("search", messages, taken)?;
    }
    Ok(())
}

/// Returns the message with this number. It contains words that all messages contain, and every thousandth message also
/// contains a rare word.
fn sample_message(number: usize) -> NewHistoryItem {
    let text = format!("the harbour opens at {} o'clock for ship rare{} of line {number}", number % 24, number % 1_000);
    NewHistoryItem {
        id: format!("m{number}"),
        after: ItemPosition::Head,
        at: 1,
        body: json!({"kind": "message", "role": "user", "content": [{"type": "text", "text": text}], "prompt": null}),
        state: ItemState::Whole,
        sources: Vec::new(),
        read_contents: Vec::new(),
    }
}
