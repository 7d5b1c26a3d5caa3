//! Matrix of servers built on every SDK, over every transport and in every revision that they support, with all their
//! features. The working features are recorded in `MATRIX.md`.

mod checks;
mod features;
pub(crate) mod process;
pub(crate) mod servers;
pub(crate) mod table;
pub(crate) mod user;

use std::sync::Arc;

use checks::MatrixRowResult;
use futures_util::StreamExt as _;
use servers::{MATRIX_SERVERS, MatrixRow};

/// Maximum number of rows of the matrix that are tested concurrently. It is enough to use two cores while servers wait.
const MAX_PARALLEL_ROWS: usize = 4;

/// Checks all features of all rows, and compares the table with `MATRIX.md`, or writes that file if an environment
/// variable requests it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_sdk_has_the_recorded_features_over_every_transport() {
    let began = std::time::Instant::now();
    let mut remote = Vec::new();
    for server in MATRIX_SERVERS {
        remote.push(Arc::new(servers::HttpProcesses::new(server)));
    }
    let only = std::env::var("INTEROP_ONLY").unwrap_or_default();
    let rows: Vec<(MatrixRow, Arc<servers::HttpProcesses>)> = MATRIX_SERVERS
        .iter()
        .zip(&remote)
        .flat_map(|(server, remote)| {
            servers::matrix_rows_of_server(server).into_iter().map(|row| (row, Arc::clone(remote)))
        })
        .filter(|(row, _)| only.is_empty() || row.to_string().contains(&only))
        .collect();
    let checked: Vec<(MatrixRow, MatrixRowResult)> = futures_util::stream::iter(rows)
        .map(|(row, remote)| async move {
            // Runs in a separate task, so that a panic only fails this row.
            let checked = tokio::spawn(async move { checks::check_row(&row, &remote).await }).await;
            (row, checked.unwrap_or_else(|error| MatrixRowResult::failed(&error.to_string())))
        })
        .buffered(MAX_PARALLEL_ROWS)
        .collect()
        .await;
    let failed: Vec<String> = checked
        .iter()
        .flat_map(|(row, checked)| checked.failures().map(move |(what, why)| format!("{row}: {what}: {why}")))
        .collect();
    println!("{} rows in {:.1} s", checked.len(), began.elapsed().as_secs_f64());
    assert!(failed.is_empty(), "all supported features should work:\n{}", failed.join("\n"));
    if only.is_empty() {
        table::compare_feature_table(&table::render_feature_table(&checked));
    }
}
