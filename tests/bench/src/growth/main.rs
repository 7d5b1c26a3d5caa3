//! Measures how the cost of an operation grows with the amount of data. Prints a line for each point: series, size and
//! cost, separated by tabs. `cargo xtask bench growth` plots them.

mod decisions;
mod records;
mod starts;

use std::io::Write as _;
use std::path::PathBuf;

use bench::drawbridge::Outcome;
use clap::Parser;

#[derive(Parser)]
#[command(about = "Measures how the cost of a step grows with what there is")]
struct Arguments {
    /// Path of the server binary, started as `PATH stdio --tools N`
    #[arg(long, value_name = "PATH")]
    server: PathBuf,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let Arguments { server } = Arguments::parse();
    starts::measure_starts(&server).await?;
    decisions::measure_decisions_by_rule_count()?;
    decisions::measure_reviews_by_pin_count()?;
    records::measure_calls(&server).await?;
    records::measure_search()
}

/// Prints a point of the series `series`: the measured cost at one data size.
fn print_measured_point(series: &str, size: usize, cost: f64) -> Outcome<()> {
    writeln!(std::io::stdout(), "{series}\t{size}\t{cost}")?;
    Ok(())
}

/// Runs `act` this many times, and returns the median of the durations in seconds.
fn median_seconds(times: usize, mut act: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut taken = Vec::with_capacity(times);
    for _ in 0..times {
        let began = std::time::Instant::now();
        act()?;
        taken.push(began.elapsed().as_secs_f64());
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken.get(times / 2).copied().unwrap_or_default())
}
