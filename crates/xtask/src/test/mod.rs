//! `cargo xtask test`: runs all checks and tests in parts, prints one line per part, and lists the causes of failures
//! at the end.

mod cause;
mod counts;
mod downloads;
mod log;
mod outcome;
mod page_and_window;
mod parts;
mod processor;
mod real_servers;
mod rust;
mod stages;
mod summary;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use clap::Args;
use log::TestPartLog;
use outcome::ReportedOutcome;
use parts::TestPart;
use summary::{TestPartTime, TestRunSummary};

use crate::problem::Problem;

#[derive(Args)]
pub(crate) struct TestOptions {
    /// Parts to run (default: all but `models`)
    parts: Vec<TestPart>,
    /// Install missing system packages without confirmation
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(options: &TestOptions) -> Result<(), Problem> {
    let mut summary = TestRunSummary::default();
    if let Err(problem) = run_parts(options, &mut summary) {
        summary.record_abort(&problem);
    }
    summary.finish()
}

/// Runs the requested parts. Continues after failed tests, but not after an error: an unmet requirement of the machine,
/// or Ctrl-C.
fn run_parts(options: &TestOptions, summary: &mut TestRunSummary) -> Result<(), Problem> {
    let parts = parts::ordered_parts(&options.parts);
    downloads::install_test_dependencies(&parts, options.yes)?;
    let summary = Mutex::new(summary);
    for stage in stages::stages_with_parts(&parts) {
        match &stage.lanes[..] {
            [lane] => run_sequential_parts(lane, CpuTimeAttribution::SinglePart, &summary)?,
            lanes => run_sequences_in_parallel(lanes, &summary)?,
        }
    }
    Ok(())
}

/// Test parts to which a measurement of processor time belongs: a single part, or all parts that run in parallel, whose
/// processor times can't be measured separately.
#[derive(Clone, Copy)]
enum CpuTimeAttribution {
    SinglePart,
    ParallelParts,
}

fn run_sequences_in_parallel(lanes: &[Vec<TestPart>], summary: &Mutex<&mut TestRunSummary>) -> Result<(), Problem> {
    let (start, processor) = (Instant::now(), processor::exited_children_processor_time());
    let outcomes: Vec<Result<(), Problem>> = thread::scope(|scope| {
        let start = |lane| scope.spawn(move || run_sequential_parts(lane, CpuTimeAttribution::ParallelParts, summary));
        let running: Vec<_> = lanes.iter().map(Vec::as_slice).map(start).collect();
        running.into_iter().map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    outcomes.into_iter().collect::<Result<(), Problem>>()?;
    let computed =
        processor::exited_children_processor_time().zip(processor).map(|(after, before)| after.saturating_sub(before));
    lock_summary(summary).print_parallel_time(TestPartTime { wall: start.elapsed(), processor: computed });
    Ok(())
}

fn run_sequential_parts(
    lane: &[TestPart],
    attribution: CpuTimeAttribution,
    summary: &Mutex<&mut TestRunSummary>,
) -> Result<(), Problem> {
    for part in lane {
        let name = part.name();
        let (start, processor) = (Instant::now(), processor::exited_children_processor_time());
        let mut log = TestPartLog::create(name)?;
        let outcome = match part.run(&mut log) {
            Err(Problem::Interrupted) => return Err(Problem::Interrupted),
            result => ReportedOutcome::new(result, &log.text()?),
        };
        let wall = start.elapsed();
        let processor = match attribution {
            CpuTimeAttribution::SinglePart => processor::exited_children_processor_time()
                .zip(processor)
                .map(|(after, before)| after.saturating_sub(before)),
            CpuTimeAttribution::ParallelParts => None,
        };
        lock_summary(summary).add(name, TestPartTime { wall, processor }, outcome, &log)?;
    }
    Ok(())
}

fn lock_summary<'l, 's>(summary: &'l Mutex<&'s mut TestRunSummary>) -> MutexGuard<'l, &'s mut TestRunSummary> {
    summary.lock().unwrap_or_else(PoisonError::into_inner)
}
