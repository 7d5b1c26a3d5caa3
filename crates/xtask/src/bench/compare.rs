//! Compares our client with those of other SDKs and the bare limit, all against a small fast server. Client and server
//! share a core. Across cores, the scheduler would determine the result instead of the client.

use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::clients::{self, Client};
use super::facts::{self, ProcessorUse};
use super::measure::MeasurementConditions;
use super::results;
use super::rows::{self, IMAGE_SCENARIO, ROWS, Row};
use super::table::{self, Cell};
use crate::problem::Problem;
use crate::progress::step;

#[derive(Args)]
pub(super) struct Options {
    /// Only these rows; prints the tables and does not change the file
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(rows::scenarios()))]
    rows: Vec<String>,
    /// Only these columns; prints the tables and does not change the file
    #[arg(long, value_delimiter = ',', value_enum)]
    clients: Vec<Client>,
    /// Number of runs of each measurement, of which the median is reported
    #[arg(long, default_value_t = ROUNDS, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The core that client and server share
    #[arg(long, default_value_t = PINNED_CORE)]
    core: usize,
    /// The cargo profile of the Rust clients and of the server
    #[arg(long, default_value = PROFILE)]
    profile: String,
    /// Only print the tables
    #[arg(long)]
    no_write: bool,
}

const ROUNDS: u16 = 3;
const PINNED_CORE: usize = 1;
const PROFILE: &str = "release";

impl Default for Options {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            clients: Vec::new(),
            rounds: ROUNDS,
            core: PINNED_CORE,
            profile: PROFILE.to_owned(),
            no_write: false,
        }
    }
}

pub(super) fn run(options: &Options) -> Result<(), Problem> {
    let place = MeasurementConditions { core: options.core, profile: options.profile.clone() };
    place.check()?;
    let wanted_row = |row: &Row| options.rows.is_empty() || options.rows.iter().any(|name| name == row.scenario);
    let wanted_client = |client: &Client| options.clients.is_empty() || options.clients.contains(client);
    let compared: Vec<Client> = Client::ALL.into_iter().filter(wanted_client).collect();
    let mut cells: Vec<Cell> = ROWS
        .into_iter()
        .filter(wanted_row)
        .flat_map(|row| {
            let clients = compared.iter().filter(move |client| client.is_measured_over(row.is_http()));
            clients.map(move |client| Cell::new(row, *client))
        })
        .collect();
    for (client, cause) in clients::prepare(&compared, &options.profile)? {
        for cell in cells.iter_mut().filter(|cell| cell.client == client) {
            cell.failure = Some(cause.clone());
        }
    }
    let (began, busy) = (Instant::now(), ProcessorUse::now());
    for round in 1..=options.rounds {
        // Alternates between all clients of a row, so that load on the machine does not affect only one of them.
        let mut row = None;
        for cell in &mut cells {
            if row != Some(cell.row) {
                step(&format!("round {round} of {}: {}", options.rounds, cell.row.meaning));
                row = Some(cell.row);
            }
            add_round(cell, &place)?;
        }
    }
    let others = busy.other_load();
    step(&format!("measured in {:.0} seconds", began.elapsed().as_secs_f64()));
    let head = table::format_head(&facts::fact_lines(&options.profile, options.core, others), options.rounds.into());
    let tables = table::format_tables(&cells, image_line_length(&cells, &place)?);
    println!("{head}\n{tables}");
    if !options.no_write && options.rows.is_empty() && options.clients.is_empty() {
        results::write(&head, &tables)?;
    }
    let ours = |cell: &&Cell| matches!(cell.client, Client::Bare | Client::Drawbridge) && cell.failure.is_some();
    match cells.iter().find(ours) {
        // A client of others that fails is a result; ours is a fault, and so is the limit.
        Some(cell) => Err(Problem::Machine(format!("{} failed; the cause stands above", cell.client.title()))),
        None => Ok(()),
    }
}

/// Adds a round of measurement. A failed cell is not tried again.
fn add_round(cell: &mut Cell, place: &MeasurementConditions) -> Result<(), Problem> {
    let title = cell.client.title();
    if cell.failure.is_some() {
        eprintln!("    {title:<26} failed before");
        return Ok(());
    }
    match place.measure(cell.client, cell.row) {
        Ok(report) => {
            let session = report.session_pss.map(|kilobytes| format!(", {kilobytes:.1} kB a session"));
            eprintln!("    {title:<26} {:>8.4} s{}", report.seconds, session.unwrap_or_default());
            cell.rounds.push(report);
        }
        Err(Problem::Interrupted) => return Err(Problem::Interrupted),
        Err(problem) => {
            eprintln!("    {title:<26} failed: {problem}");
            cell.rounds.clear();
            cell.failure = Some(problem.to_string());
        }
    }
    Ok(())
}

/// The length of the line with the image, if that row is shown: as the bare client counted it.
fn image_line_length(cells: &[Cell], place: &MeasurementConditions) -> Result<Option<f64>, Problem> {
    let mut shown = cells.iter().filter(|cell| cell.row.scenario == IMAGE_SCENARIO).peekable();
    let Some(row) = shown.peek().map(|cell| cell.row) else { return Ok(None) };
    match shown.find_map(|cell| cell.rounds.first()?.answer_bytes) {
        Some(bytes) => Ok(Some(bytes)),
        None => Ok(place.measure(Client::Bare, row)?.answer_bytes),
    }
}
