//! `cargo xtask bench`: measures speed and memory of the app and its MCP client. `guard` fails if an operation costs
//! more instructions than before, and the other benchmarks only report.

mod app;
mod clients;
mod compare;
mod facts;
mod growth;
pub(crate) mod guard;
mod measure;
mod plot;
mod results;
mod rows;
mod table;

use clap::{Args, Subcommand};

use crate::problem::Problem;

#[derive(Args)]
pub(crate) struct BenchOptions {
    #[command(subcommand)]
    part: Option<Benchmark>,
    /// Install missing system packages without confirmation
    #[arg(long, global = true)]
    yes: bool,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Measure the app: start-up, the time until a consent request is drawn, and memory
    App(app::DesktopAppBenchOptions),
    /// Compare Drawbridge's client with other SDKs and the lower bound, and write tests/bench/RESULTS.md
    Compare(compare::CompareBenchOptions),
    /// Measure how costs grow with the amount of data, and write tests/bench/GROWTH.md and its plots
    Growth(growth::GrowthBenchOptions),
    /// Count instructions of single operations, and compare them with tests/bench/instructions.tsv
    Guard(guard::InstructionGuardOptions),
}

pub(crate) fn run(options: &BenchOptions) -> Result<(), Problem> {
    match &options.part {
        None => {
            app::run(&app::DesktopAppBenchOptions::default(), options.yes)?;
            compare::run(&compare::CompareBenchOptions::default())
        }
        Some(Benchmark::App(part)) => app::run(part, options.yes),
        Some(Benchmark::Compare(options)) => compare::run(options),
        Some(Benchmark::Growth(options)) => growth::run(options),
        Some(Benchmark::Guard(part)) => guard::run(part, options.yes),
    }
}

/// Returns the median of the measurements, or NaN if there are none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]), 5.0, "the median should not be the mean");
        assert!(median(vec![]).is_nan(), "the median of no values should be NaN");
    }
}
