//! `cargo xtask test`: every check and test in order, one line a part, the causes of failures at the end.

mod cause;
mod counts;
mod log;
mod outcome;
mod page_and_window;
mod parts;
mod processor;
mod real_servers;
mod rust;
mod summary;

use std::time::Instant;

use clap::Args;
use log::Log;
use outcome::Outcome;
use parts::Part;
use summary::{Summary, Time};

use crate::problem::Problem;
use crate::{node, system_packages};

#[derive(Args)]
pub(crate) struct Options {
    /// The parts to run; all when none is named
    parts: Vec<Part>,
    /// Install missing system packages without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(options: &Options) -> Result<(), Problem> {
    let mut summary = Summary::default();
    if let Err(problem) = run_parts(options, &mut summary) {
        summary.stopped(&problem);
    }
    summary.finish()
}

/// An error stops everything: the machine lacks something, or Ctrl-C was pressed.
fn run_parts(options: &Options, summary: &mut Summary) -> Result<(), Problem> {
    let parts = parts::in_order(&options.parts);
    let needs = parts::system_packages(&parts, system_packages::has_debian_chromium());
    system_packages::ensure(&needs, options.yes)?;
    if parts.iter().any(Part::needs_node) {
        node::check()?;
    }
    for part in parts {
        let name = part.name();
        let (start, processor) = (Instant::now(), processor::of_children());
        let mut log = Log::create(name)?;
        let outcome = match part.run(&mut log) {
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            result => Outcome::of(result, &log.text()?),
        };
        let computed = processor::of_children().zip(processor).map(|(after, before)| after.saturating_sub(before));
        summary.add(name, Time { wall: start.elapsed(), processor: computed }, outcome, &log)?;
    }
    Ok(())
}
