//! Tests of servers and connections that fail during calls, with every SDK over every transport: pending calls end with
//! their cause, no call is executed twice, and the server recovers without the user. The outcomes are recorded in
//! `MATRIX.md`.

mod connected_host;
mod local;
mod remote;
mod stopped;

use std::path::Path;

use futures_util::StreamExt as _;

use crate::matrix::servers::{MATRIX_SERVERS, MatrixRow, Transport, rows_with_newest_revision_of_each_transport};
use crate::matrix::table;

/// Maximum number of rows of the table that are tested concurrently. Most of the time, the test of a row waits.
const MAX_PARALLEL_ROWS: usize = 4;

/// Outcome of an injected fault as the text of a table cell, or a description of an unexpected outcome.
type FaultOutcome = Result<&'static str, String>;

/// Table cell for a fault during which the call succeeded, and the server received it only once.
const OUTCOME_SUCCEEDED: &str = "answered";
/// Table cell for a fault with which the call failed, with its cause in the message, and the next call succeeded.
const OUTCOME_FAILED_WITH_CAUSE: &str = "ends";
/// Table cell for a fault with which the call failed, with its cause in the message, and the host restarted or
/// reconnected to the server.
const OUTCOME_SERVER_RECOVERED: &str = "comes back";
/// Table cell for a fault during which the call succeeded on a resumed stream, and the server received it only once.
const OUTCOME_STREAM_RESUMED: &str = "goes on";
/// Table cell for a fault that can't occur with the transport.
const FAULT_NOT_APPLICABLE: &str = "-";

const FAULT_TABLE_LEGEND: &str = "
What comes of faults in the middle of a session. Nobody helps: no call is sent again, no server started by hand. Each server speaks the
revision that is found; over Streamable HTTP also the newest with sessions, where streams can be taken up again.

- `answered`: the call is answered as if nothing were wrong, and reached the server once
- `goes on`: the call lost its stream and is answered on another one, and reached the server once
- `ends`: the call ends soon, with its cause and the name of the server; the next call is answered
- `comes back`: the same, and the server was started, or connected to, anew
- `-`: there is no such fault over this transport

";

/// One row of the table: the outcomes of all faults with one server, transport and revision of the protocol.
struct FaultOutcomes {
    killed: FaultOutcome,
    restarted: FaultOutcome,
    cut: FaultOutcome,
    bytewise: FaultOutcome,
    late: FaultOutcome,
    twice: FaultOutcome,
    never: FaultOutcome,
}

impl FaultOutcomes {
    /// Returns the headings of all fault columns, each with the outcome of that fault in this row.
    fn table_columns(&self) -> [(&'static str, &FaultOutcome); 7] {
        [
            ("process killed", &self.killed),
            ("server restarts", &self.restarted),
            ("stream cut", &self.cut),
            ("byte by byte", &self.bytewise),
            ("answer late", &self.late),
            ("answer twice", &self.twice),
            ("no answer", &self.never),
        ]
    }

    /// Returns a row for a server whose test failed, with the cause `why`, before any fault was injected.
    fn all_failed(why: &str) -> Self {
        let untried = || Ok(FAULT_NOT_APPLICABLE);
        Self {
            killed: Err(why.to_owned()),
            restarted: untried(),
            cut: untried(),
            bytewise: untried(),
            late: untried(),
            twice: untried(),
            never: untried(),
        }
    }
}

/// Sets the fault that the proxy process between host and server injects from now on.
fn write_fault_file(folder: &Path, fault: &str) {
    // Written in a single operation, so that no partial file is read.
    std::fs::write(folder.join("next"), fault).unwrap();
    std::fs::rename(folder.join("next"), folder.join("fault")).unwrap();
}

/// Counts the occurrences of `text` in a file that the proxy process has written.
fn count_in_file(folder: &Path, file: &str, text: &str) -> usize {
    std::fs::read_to_string(folder.join(file)).unwrap_or_default().matches(text).count()
}

/// Injects all faults in all rows, and compares the table of outcomes with `MATRIX.md`, or writes that file if an
/// environment variable requests it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sdk_has_the_recorded_outcome_for_every_fault() {
    let began = std::time::Instant::now();
    let only = std::env::var("INTEROP_ONLY").unwrap_or_default();
    let rows = MATRIX_SERVERS
        .iter()
        .flat_map(rows_with_newest_revision_of_each_transport)
        .filter(|row| row.to_string().contains(&only));
    let tried: Vec<(MatrixRow, FaultOutcomes)> = futures_util::stream::iter(rows)
        .map(|row| async move {
            // Runs in a separate task, so that a panic only fails this row.
            let tried = tokio::spawn(async move {
                match row.transport {
                    Transport::Stdio => local::inject_faults(&row).await,
                    Transport::StreamableHttp | Transport::HttpSse => remote::inject_faults(&row).await,
                }
            });
            (row, tried.await.unwrap_or_else(|error| FaultOutcomes::all_failed(&error.to_string())))
        })
        .buffered(MAX_PARALLEL_ROWS)
        .collect()
        .await;
    println!("{} rows in {:.1} s", tried.len(), began.elapsed().as_secs_f64());
    let failed: Vec<String> = tried
        .iter()
        .flat_map(|(row, outcomes)| outcomes.table_columns().map(|(fault, outcome)| (row, fault, outcome.clone())))
        .filter_map(|(row, fault, outcome)| outcome.err().map(|why| format!("{row}: {fault}: {why}")))
        .collect();
    assert!(failed.is_empty(), "all faults should have their expected outcomes:\n{}", failed.join("\n"));
    if only.is_empty() {
        table::compare_fault_table(&render_fault_table(&tried));
    }
}

fn render_fault_table(tried: &[(MatrixRow, FaultOutcomes)]) -> String {
    let mut out = FAULT_TABLE_LEGEND.to_owned();
    let heads = tried.first().map(|(_, outcomes)| outcomes.table_columns().map(|(head, _)| head)).unwrap_or_default();
    table::append_table_heading(&mut out, &heads);
    for (row, outcomes) in tried {
        let cells =
            outcomes.table_columns().map(|(_, outcome)| outcome.as_deref().map_or("no", |word| word).to_owned());
        table::append_table_row(&mut out, &row.to_string(), cells.into_iter());
    }
    out
}
