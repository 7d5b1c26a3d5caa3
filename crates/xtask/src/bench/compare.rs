//! `cargo xtask bench compare`: compares Drawbridge's client with those of other SDKs and with the lower bound, all
//! against the same fast server. Client and server share one core. On separate cores, the scheduler would determine the
//! result instead of the client.

use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::clients::{self, BenchClient};
use super::facts::{self, ProcessorUseSnapshot};
use super::measure::MeasurementConditions;
use super::results;
use super::rows::{self, BENCHMARK_ROWS, BenchmarkRow, IMAGE_SCENARIO};
use super::table::{self, BenchmarkCell};
use crate::problem::Problem;
use crate::progress::print_step;

#[derive(Args)]
pub(super) struct CompareBenchOptions {
    /// Measure only these rows, print the tables, and do not change the file
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(rows::benchmark_scenarios()))]
    rows: Vec<String>,
    /// Measure only these columns, print the tables, and do not change the file
    #[arg(long, value_delimiter = ',', value_enum)]
    clients: Vec<BenchClient>,
    /// Number of runs of each measurement. The median is reported
    #[arg(long, default_value_t = DEFAULT_ROUNDS, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Number of the core that client and server share
    #[arg(long, default_value_t = DEFAULT_PINNED_CORE)]
    core: usize,
    /// Cargo profile of the Rust clients and of the server
    #[arg(long, default_value = DEFAULT_PROFILE)]
    profile: String,
    /// Print the tables without writing the file
    #[arg(long)]
    no_write: bool,
}

const DEFAULT_ROUNDS: u16 = 3;
const DEFAULT_PINNED_CORE: usize = 1;
const DEFAULT_PROFILE: &str = "release";

impl Default for CompareBenchOptions {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            clients: Vec::new(),
            rounds: DEFAULT_ROUNDS,
            core: DEFAULT_PINNED_CORE,
            profile: DEFAULT_PROFILE.to_owned(),
            no_write: false,
        }
    }
}

pub(super) fn run(options: &CompareBenchOptions) -> Result<(), Problem> {
    let place = MeasurementConditions { core: options.core, profile: options.profile.clone() };
    place.check_core_pinning()?;
    let is_selected_row =
        |row: &BenchmarkRow| options.rows.is_empty() || options.rows.iter().any(|name| name == row.scenario);
    let is_selected_client = |client: &BenchClient| options.clients.is_empty() || options.clients.contains(client);
    let compared: Vec<BenchClient> = BenchClient::ALL.into_iter().filter(is_selected_client).collect();
    let mut cells: Vec<BenchmarkCell> = BENCHMARK_ROWS
        .into_iter()
        .filter(is_selected_row)
        .flat_map(|row| {
            let clients = compared.iter().filter(move |client| client.is_measured_over(row.is_http()));
            clients.map(move |client| BenchmarkCell::new(row, *client))
        })
        .collect();
    for (client, cause) in clients::install_benchmark_clients(&compared, &options.profile)? {
        for cell in cells.iter_mut().filter(|cell| cell.client == client) {
            cell.failure = Some(cause.clone());
        }
    }
    let (began, busy) = (Instant::now(), ProcessorUseSnapshot::now());
    for round in 1..=options.rounds {
        // All clients of a row are measured in turn, so that temporary load on the machine does not affect only one of
        // them.
        let mut row = None;
        for cell in &mut cells {
            if row != Some(cell.row) {
                print_step(&format!("round {round} of {}: {}", options.rounds, cell.row.meaning));
                row = Some(cell.row);
            }
            measure_cell_once(cell, &place)?;
        }
    }
    let others = busy.load_of_other_programs();
    print_step(&format!("measured in {:.0} seconds", began.elapsed().as_secs_f64()));
    let head = table::format_head(
        &facts::measurement_condition_lines(&options.profile, options.core, others),
        options.rounds.into(),
    );
    let tables = table::format_tables(&cells, image_response_size(&cells, &place)?);
    println!("{head}\n{tables}");
    if !options.no_write && options.rows.is_empty() && options.clients.is_empty() {
        results::write(&head, &tables)?;
    }
    let ours = |cell: &&BenchmarkCell| {
        matches!(cell.client, BenchClient::Bare | BenchClient::Drawbridge) && cell.failure.is_some()
    };
    match cells.iter().find(ours) {
        // A failure of another SDK's client is a result to report. A failure of Drawbridge's client or of the lower
        // bound ends the task.
        Some(cell) => Err(Problem::Machine(format!("{} failed; the cause is printed above", cell.client.title()))),
        None => Ok(()),
    }
}

/// Runs the client of a cell once in the cell's scenario, and adds its report or failure to the cell. A client that has
/// failed is not run again.
fn measure_cell_once(cell: &mut BenchmarkCell, place: &MeasurementConditions) -> Result<(), Problem> {
    let title = cell.client.title();
    if cell.failure.is_some() {
        eprintln!("    {title:<26} failed before");
        return Ok(());
    }
    match place.measure(cell.client, cell.row) {
        Ok(report) => {
            let session = report.session_pss.map(|kilobytes| format!(", {kilobytes:.1} kB a session"));
            eprintln!("    {title:<26} {:>8.4} s{}", report.seconds, session.unwrap_or_default());
            cell.reports.push(report);
        }
        Err(Problem::Interrupted) => return Err(Problem::Interrupted),
        Err(problem) => {
            eprintln!("    {title:<26} failed: {problem}");
            cell.reports.clear();
            cell.failure = Some(problem.to_string());
        }
    }
    Ok(())
}

/// Returns the size of the response that contains the image, in bytes, as reported by a client of the selected columns
/// or else by the lower bound. Returns `None` if the row with the image is not selected.
fn image_response_size(cells: &[BenchmarkCell], place: &MeasurementConditions) -> Result<Option<f64>, Problem> {
    let mut shown = cells.iter().filter(|cell| cell.row.scenario == IMAGE_SCENARIO).peekable();
    let Some(row) = shown.peek().map(|cell| cell.row) else { return Ok(None) };
    match shown.find_map(|cell| cell.reports.first()?.answer_bytes) {
        Some(bytes) => Ok(Some(bytes)),
        None => Ok(place.measure(BenchClient::Bare, row)?.answer_bytes),
    }
}
