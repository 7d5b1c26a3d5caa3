//! Tables of the measurements, as Markdown.

use std::fmt::Write as _;

use super::clients::BenchClient;
use super::measure::ClientReport;
use super::median;
use super::rows::{
    BENCHMARK_ROWS, BenchmarkRow, EXPECTED_NOTIFICATION_COUNT, IMAGE_SCENARIO, MAX_IMAGE_PEAK_MEMORY_RATIO,
};

/// Cell of a table: the reports of one client in one scenario, or the reason why the client failed.
#[derive(Debug)]
pub(super) struct BenchmarkCell {
    pub(super) row: BenchmarkRow,
    pub(super) client: BenchClient,
    /// Report of each run of the client. Empty if the client failed.
    pub(super) reports: Vec<ClientReport>,
    pub(super) failure: Option<String>,
}

/// Function that extracts the value to show from a report.
type ReportValue<'a> = &'a dyn Fn(&ClientReport) -> Option<f64>;

impl BenchmarkCell {
    pub(super) fn new(row: BenchmarkRow, client: BenchClient) -> Self {
        Self { row, client, reports: Vec::new(), failure: None }
    }

    /// Returns the median of a value over all runs of the client, or NaN if there are none.
    fn median_over_runs(&self, figure: ReportValue<'_>) -> f64 {
        median(self.reports.iter().filter_map(figure).collect())
    }
}

/// Returns the text above the tables: the title, the number of runs of each measurement, and the conditions in `facts`.
pub(super) fn format_head(facts: &[String], rounds: usize) -> String {
    let mut text = String::from("# How fast the client is\n\n");
    text.push_str("Written by `cargo xtask bench compare`. ");
    text.push_str("Every client is measured against `bench-server`, on one core that both share. ");
    let _ = writeln!(text, "{rounds} interleaved rounds; the median counts.\n");
    for line in facts {
        let _ = writeln!(text, "- {line}");
    }
    text
}

/// Returns all tables, followed by the failures. `image_line` is the size in bytes of the response that contains the
/// image.
pub(super) fn format_tables(cells: &[BenchmarkCell], image_line: Option<f64>) -> String {
    let mut text = String::new();
    add_wall_time(&mut text, cells);
    add_ratios(&mut text, cells);
    add_section(&mut text, "The client's own processor time (seconds)", cells);
    for row in distinct_rows(cells).into_iter().filter(|row| !row.is_idle()) {
        add_table_line(&mut text, row.meaning, cells, row, &|report| Some(report.processor));
    }
    add_memory(&mut text, cells, image_line);
    add_failures(&mut text, cells);
    text
}

fn add_wall_time(text: &mut String, cells: &[BenchmarkCell]) {
    add_section(text, "Wall time (seconds)", cells);
    for row in distinct_rows(cells).into_iter().filter(|row| !row.is_idle()) {
        add_table_line(text, row.meaning, cells, row, &|report| Some(report.seconds));
    }
    let lost: Vec<String> = cells
        .iter()
        .map(|cell| (cell.client, cell.median_over_runs(&|report| report.counted)))
        .filter(|(_, counted)| *counted < EXPECTED_NOTIFICATION_COUNT)
        .map(|(client, counted)| format!("{} counted {counted}", client.title()))
        .collect();
    if !lost.is_empty() {
        let _ = writeln!(text, "\nOf 10,000 progress notifications: {}.", lost.join(", "));
    }
}

fn add_ratios(text: &mut String, cells: &[BenchmarkCell]) {
    text.push_str("\n## Drawbridge to the others\n\n");
    text.push_str("In wall time; idle sessions in PSS. In brackets the goal: a ratio in bold is above it. ");
    text.push_str("The best column of rmcp counts.\n\n| | to bare | to rmcp |\n|---|--:|--:|\n");
    for row in distinct_rows(cells) {
        let figure: ReportValue<'_> =
            if row.is_idle() { &|report| report.session_pss } else { &|report| Some(report.seconds) };
        let least = |is_included: &dyn Fn(BenchClient) -> bool| {
            let found = cells.iter().filter(|cell| cell.row == row && is_included(cell.client));
            found.map(|cell| cell.median_over_runs(figure)).fold(f64::NAN, f64::min)
        };
        let ours = least(&|client| client == BenchClient::Drawbridge);
        let bare = format_ratio(ours / least(&|client| client == BenchClient::Bare), row.to_bare);
        let rmcp = format_ratio(ours / least(&BenchClient::is_rmcp), row.to_rmcp);
        let _ = writeln!(text, "| {} | {bare} | {rmcp} |", row.meaning);
    }
}

fn add_memory(text: &mut String, cells: &[BenchmarkCell], image_line: Option<f64>) {
    add_section(text, "Memory", cells);
    for row in distinct_rows(cells) {
        add_table_line(text, &format!("{}: peak, MB", row.meaning), cells, row, &|report| Some(report.megabytes));
        if let Some(length) = image_line.filter(|_| row.scenario == IMAGE_SCENARIO) {
            let title = format!(
                "… peak / length of the line, {:.1} MB (goal: {MAX_IMAGE_PEAK_MEMORY_RATIO:.2})",
                length / 1_048_576.0
            );
            add_table_line(text, &title, cells, row, &|report| Some(report.megabytes * 1_048_576.0 / length));
        }
        if row.is_idle() {
            add_table_line(text, "… PSS of each, kB", cells, row, &|report| report.session_pss);
            add_table_line(text, "… RSS of each, kB", cells, row, &|report| report.session_rss);
        }
    }
}

fn add_failures(text: &mut String, cells: &[BenchmarkCell]) {
    let failed: Vec<(&BenchmarkCell, &String)> =
        cells.iter().filter_map(|cell| cell.failure.as_ref().map(|cause| (cell, cause))).collect();
    if failed.is_empty() {
        return;
    }
    text.push_str("\n## What failed\n");
    for (cell, cause) in failed {
        let _ = writeln!(text, "\n{}, {}:\n\n```text\n{cause}\n```", cell.client.title(), cell.row.scenario);
    }
}

fn distinct_rows(cells: &[BenchmarkCell]) -> Vec<BenchmarkRow> {
    BENCHMARK_ROWS.into_iter().filter(|row| cells.iter().any(|cell| cell.row == *row)).collect()
}

fn clients_in_columns(cells: &[BenchmarkCell]) -> Vec<BenchClient> {
    BenchClient::ALL.into_iter().filter(|client| cells.iter().any(|cell| cell.client == *client)).collect()
}

/// Appends the title and the header rows of a table.
fn add_section(text: &mut String, title: &str, cells: &[BenchmarkCell]) {
    let columns = clients_in_columns(cells);
    let _ = write!(text, "{}## {title}\n\n| |", if text.is_empty() { "" } else { "\n" });
    for client in &columns {
        let _ = write!(text, " {} |", client.title());
    }
    let _ = writeln!(text, "\n|---|{}", "--:|".repeat(columns.len()));
}

/// Appends a row of a table. A cell is empty if its client was not measured in this scenario.
fn add_table_line(text: &mut String, title: &str, cells: &[BenchmarkCell], row: BenchmarkRow, figure: ReportValue<'_>) {
    let _ = write!(text, "| {title} |");
    for client in clients_in_columns(cells) {
        match cells.iter().find(|cell| cell.row == row && cell.client == client) {
            Some(cell) if cell.failure.is_some() => text.push_str(" failed |"),
            Some(cell) => {
                let _ = write!(text, " {} |", format_value(cell.median_over_runs(figure)));
            }
            None => text.push_str(" |"),
        }
    }
    text.push('\n');
}

/// Returns a ratio together with its target as text, in bold if the ratio exceeds the target.
fn format_ratio(ratio: f64, goal: f64) -> String {
    if ratio.is_nan() {
        return format!("– ({goal:.2})");
    }
    // The rounded ratio is compared, so that a ratio that is displayed as equal to the target does not count as
    // exceeding it.
    let shown = format!("{ratio:.2}");
    let missed = shown.parse::<f64>().is_ok_and(|shown| shown > goal);
    if missed { format!("**{shown}** ({goal:.2})") } else { format!("{shown} ({goal:.2})") }
}

/// Returns a value with about three significant digits as text, or a dash if it is NaN.
fn format_value(value: f64) -> String {
    match value {
        value if value.is_nan() => "–".to_owned(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(row: BenchmarkRow, client: BenchClient, seconds: f64) -> BenchmarkCell {
        BenchmarkCell {
            reports: vec![ClientReport { seconds, megabytes: 20.0, ..ClientReport::default() }],
            ..BenchmarkCell::new(row, client)
        }
    }

    #[test]
    fn ratios_are_relative_to_the_lower_bound_and_the_fastest_rmcp() {
        let row = BENCHMARK_ROWS[0];
        let all = [
            cell(row, BenchClient::Bare, 1.0),
            cell(row, BenchClient::Drawbridge, 3.0),
            cell(row, BenchClient::Rmcp, 9.0),
            cell(row, BenchClient::RmcpOneThread, 6.0),
        ];
        let text = format_tables(&all, None);
        assert!(
            text.contains("| **3.00** (2.25) | 0.50 (0.55) |"),
            "3 to 1 should exceed its target, and 3 to 6 should not: {text}"
        );
    }

    #[test]
    fn missing_measurement_is_shown_as_a_dash() {
        assert_eq!(format_value(f64::NAN), "–", "a missing value should be a dash");
        assert_eq!(format_ratio(f64::NAN, 0.5), "– (0.50)", "a missing ratio should not exceed its target");
        assert_eq!(format_value(0.0271), "0.0271", "small times should keep their digits");
    }

    #[test]
    fn failure_is_in_the_table_and_its_cause_below() {
        let mut failed = BenchmarkCell::new(BENCHMARK_ROWS[0], BenchClient::Python);
        failed.failure = Some("exit status: 1\nNo module named mcp".to_owned());
        let text = format_tables(&[cell(BENCHMARK_ROWS[0], BenchClient::Drawbridge, 1.0), failed], None);
        assert!(
            text.contains("| stdio, 5,000 echo calls one by one | 1.00 | failed |"),
            "the failure should be in the client's column: {text}"
        );
        assert!(
            text.contains("Python, stdio-seq:\n\n```text\nexit status: 1\nNo module named mcp"),
            "the cause of the failure should be below the tables: {text}"
        );
    }

    #[test]
    fn peak_of_the_image_is_compared_to_its_line_length() {
        let row = BENCHMARK_ROWS.into_iter().find(|row| row.scenario == IMAGE_SCENARIO).unwrap();
        let text = format_tables(&[cell(row, BenchClient::Drawbridge, 1.0)], Some(10.0 * 1_048_576.0));
        assert!(
            text.contains("length of the line, 10.0 MB (goal: 1.60) | 2.00 |"),
            "the peak of 20 MB should be twice the length of 10 MB: {text}"
        );
    }

    #[test]
    fn lost_notifications_are_noted() {
        let mut lost = cell(BENCHMARK_ROWS[4], BenchClient::TypeScript, 1.0);
        lost.reports[0].counted = Some(9_906.0);
        assert!(
            format_tables(&[lost], None).contains("Of 10,000 progress notifications: TypeScript counted 9906."),
            "lost notifications should be reported"
        );
    }
}
