//! Our client beside those of other SDKs and the bare limit, all against one small fast server. Client and server share
//! one core: across cores the scheduler would decide, not the client.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::clients::{self, Client};
use super::table::{Measured, Row};
use super::{median, table};
use crate::problem::Problem;
use crate::process::{Program, Running};
use crate::progress::step;
use crate::workspace;

#[derive(Args)]
pub(super) struct Options {
    /// Only these rows, by their scenarios' names
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// Only these columns, by their titles
    #[arg(long, value_delimiter = ';')]
    clients: Vec<String>,
    /// How often each is measured; the middle one counts
    #[arg(long, default_value_t = ROUNDS)]
    rounds: usize,
    /// The core that client and server share
    #[arg(long, default_value_t = CORE)]
    core: usize,
    /// The cargo profile of the Rust clients and of the server
    #[arg(long, default_value = PROFILE)]
    profile: String,
    /// Only print the tables
    #[arg(long)]
    no_write: bool,
}

const ROUNDS: usize = 3;
const CORE: usize = 1;
const PROFILE: &str = "release";

impl Default for Options {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            clients: Vec::new(),
            rounds: ROUNDS,
            core: CORE,
            profile: PROFILE.to_owned(),
            no_write: false,
        }
    }
}

/// The bytes of a JSON answer of `echo`, and of the event that carries it.
const ECHO_BYTES: &str = "87";
const ECHO_EVENT_BYTES: &str = "109";

pub(super) fn run(options: &Options) -> Result<(), Problem> {
    let rows: Vec<Row> = table::ROWS.into_iter().filter(|row| wanted(&options.rows, row.scenario)).collect();
    let compared: Vec<Client> =
        Client::ALL.into_iter().filter(|client| wanted(&options.clients, client.title())).collect();
    clients::prepare(&compared, &options.profile)?;
    let mut all: BTreeMap<(usize, usize), Vec<Value>> = BTreeMap::new();
    for round in 1..=options.rounds {
        for (number, row) in rows.iter().enumerate() {
            step(&format!("round {round} of {}: {}", options.rounds, row.scenario));
            // In turn, so that a busy moment of the machine does not fall on one of them alone.
            for (column, client) in compared.iter().enumerate().filter(|(_, client)| client.runs(row.is_http())) {
                let report = measure(*client, *row, options)?;
                all.entry((number, column)).or_default().push(report);
            }
        }
    }
    let middle = |reports: &[Value], field: &str| {
        median(reports.iter().filter_map(|report| report.get(field)?.as_f64()).collect())
    };
    let measured: Vec<Measured> = all
        .iter()
        .map(|((row, column), reports)| Measured {
            row: rows[*row],
            client: compared[*column],
            seconds: middle(reports, "seconds"),
            processor: middle(reports, "user_cpu_s") + middle(reports, "sys_cpu_s"),
            megabytes: middle(reports, "max_rss_kb") / 1024.0,
            counted: middle(reports, "counted"),
            session_kb: middle(reports, "pss_per_session_kb"),
        })
        .collect();
    let text = table::document(&measured, &clients::versions(&options.profile), options.rounds);
    println!("{text}");
    if options.no_write || !options.rows.is_empty() || !options.clients.is_empty() {
        return Ok(());
    }
    let file = workspace::tests().join("bench/RESULTS.md");
    fs::write(&file, text).map_err(Problem::file(&file))
}

fn wanted(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|wanted| wanted == name)
}

/// Runs a client once and reads the line that it prints.
fn measure(client: Client, row: Row, options: &Options) -> Result<Value, Problem> {
    let core = options.core;
    let server = clients::server(&options.profile);
    let (program, first) = client.command(&options.profile);
    let client_program = pinned(core).arg(program).args(first).arg(row.scenario);
    let text = if row.is_http() {
        let (_server, url) = http_server(client, row, &server, core)?;
        client_program.args(["--url", &url]).output()?
    } else {
        client_program.arg("--server").arg(server).output()?
    };
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).map_err(|error| {
        Problem::Machine(format!("{} did not report on {}: {error}: {line}", client.title(), row.scenario))
    })
}

fn pinned(core: usize) -> Program {
    Program::new("taskset").args(["-c", &core.to_string()])
}

/// Starts the server that a client is measured against. It ends when it is dropped.
fn http_server(client: Client, row: Row, server: &Path, core: usize) -> Result<(Running, String), Problem> {
    let (answers, bytes) =
        if row.scenario == "http-seq-sse" { ("sse", ECHO_EVENT_BYTES) } else { ("json", ECHO_BYTES) };
    let server = pinned(core).arg(server);
    let server = match client {
        Client::Bare => server.args(["http-bare", "--answers", answers, "--bytes", bytes]),
        _ => server.args(["http", "--answers", answers]),
    };
    let mut running = server.piped().start()?;
    let mut url = String::new();
    if let Some(stdout) = running.take_stdout() {
        BufReader::new(stdout).read_line(&mut url).map_err(Problem::file("bench-server"))?;
    }
    // The listener is there before the URL is told; its threads may take a moment.
    std::thread::sleep(Duration::from_millis(20));
    Ok((running, url.trim().to_owned()))
}
