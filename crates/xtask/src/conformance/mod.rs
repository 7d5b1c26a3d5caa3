//! `cargo xtask conformance`: runs the official MCP conformance suite against Drawbridge's client. Warnings count as
//! failures.

mod scenarios;
mod suite;
mod verdict;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use scenarios::{STATEFUL_AND_STATELESS_REVISIONS, ScenarioRun};
use suite::ConformanceSuite;
use verdict::ScenarioVerdict;

use crate::node::ProgramRunner;
use crate::problem::Problem;
use crate::process::{self, Program, cargo};
use crate::progress::print_step;
use crate::workspace;

/// Maximum number of scenarios that run concurrently.
const MAX_PARALLEL_SCENARIOS: usize = 4;

#[derive(Args, Default)]
pub(crate) struct ConformanceOptions {
    /// Run only scenarios whose name contains one of these texts
    scenarios: Vec<String>,
    /// Run only scenarios of this protocol revision
    #[arg(long, value_parser = STATEFUL_AND_STATELESS_REVISIONS)]
    wire: Option<String>,
}

impl ConformanceOptions {
    fn includes_scenario(&self, run: &ScenarioRun) -> bool {
        let by_name = |name: &String| run.scenario.contains(name.as_str());
        let is_named = self.scenarios.iter().any(by_name) || self.scenarios.is_empty();
        let over_wire = self.wire.is_none() || self.wire.as_deref() == run.wire;
        is_named && over_wire
    }
}

pub(crate) fn run(options: &ConformanceOptions) -> Result<(), Problem> {
    print_step("building the conformance client");
    cargo().dir(workspace::root_folder()).args(["build", "--package", "conformance"]).run()?;
    run_scenarios(options, &mut Program::run, &mut |line| {
        println!("{line}");
        Ok(())
    })
}

/// Installs the conformance suite, and runs the scenarios against the client that has been built. Calls `say` with a
/// line of text for each scenario, and with the totals at the end.
pub(crate) fn run_scenarios(
    options: &ConformanceOptions,
    run: ProgramRunner,
    say: &mut dyn FnMut(&str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let suite = ConformanceSuite::install(run)?;
    let runs: Vec<ScenarioRun> = scenarios::parse_scenario_runs(&suite.list_scenarios()?)
        .into_iter()
        .filter(|run| options.includes_scenario(run))
        .collect();
    if runs.is_empty() {
        return Err(Problem::Machine("no scenario is meant by that; `cargo xtask conformance` runs every one".into()));
    }
    print_step(&format!("conformance: {} scenarios", runs.len()));
    let client = workspace::binary_path("debug", "conformance-client");
    let count = runs.len();
    let mut passed = 0;
    for (name, outcome) in run_scenarios_concurrently(&suite, runs, &client)? {
        let verdict = outcome?;
        say(&verdict.summary_line(&name))?;
        for fault in &verdict.faults {
            say(&format!("         {fault}"))?;
        }
        passed += usize::from(verdict.passed());
    }
    say(&format!("{passed} passed, {} failed", count - passed))?;
    if passed == count { Ok(()) } else { Err(Problem::ChecksFailed) }
}

type ScenarioOutcomes = Vec<(String, Result<ScenarioVerdict, Problem>)>;

/// Runs the scenarios concurrently, and returns the verdicts in the order of the suite.
fn run_scenarios_concurrently(
    suite: &ConformanceSuite,
    runs: Vec<ScenarioRun>,
    client: &Path,
) -> Result<ScenarioOutcomes, Problem> {
    let output = workspace::create_folder_in_target("conformance/output")?;
    let queue: Mutex<VecDeque<(usize, ScenarioRun)>> = Mutex::new(runs.into_iter().enumerate().collect());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..MAX_PARALLEL_SCENARIOS {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some((at, run)) = next else { return };
                    let verdict = run_scenario(suite, &run, client, &output);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, run.name(), verdict));
                }
            });
        }
    });
    process::fail_if_interrupted()?;
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, ..)| *at);
    Ok(done.into_iter().map(|(_, name, verdict)| (name, verdict)).collect())
}

/// Runs a scenario and returns its verdict. The output of the suite and of the client is written to a folder for this
/// scenario.
fn run_scenario(
    suite: &ConformanceSuite,
    run: &ScenarioRun,
    client: &Path,
    output: &Path,
) -> Result<ScenarioVerdict, Problem> {
    process::fail_if_interrupted()?;
    let folder: PathBuf = output.join(run.name().replace(['/', ' '], "_"));
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(Problem::file_error(&folder))?;
    }
    fs::create_dir_all(&folder).map_err(Problem::file_error(&folder))?;
    let log = folder.join("suite.log");
    let log = fs::File::create(&log).map_err(Problem::file_error(&log))?;
    let program = suite.scenario_program(run, client, &folder).stderr_to(&log).map_err(Problem::file_error(&folder))?;
    let (printed, ended) = program.output_and_result()?;
    match ended {
        Err(Problem::Interrupted) => Err(Problem::Interrupted),
        ended => Ok(ScenarioVerdict::parse(&printed, ended.is_ok())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario_run(scenario: &str, wire: Option<&'static str>) -> ScenarioRun {
        ScenarioRun { scenario: scenario.to_owned(), wire }
    }

    #[test]
    fn all_scenarios_run_without_a_selection() {
        assert!(
            ConformanceOptions::default()
                .includes_scenario(&scenario_run("auth/basic-cimd", Some(STATEFUL_AND_STATELESS_REVISIONS[0]))),
            "all scenarios should be selected by default"
        );
    }

    #[test]
    fn revision_and_name_select_scenarios() {
        let options = ConformanceOptions {
            scenarios: vec!["tools".into()],
            wire: Some(STATEFUL_AND_STATELESS_REVISIONS[1].into()),
        };
        assert!(
            options.includes_scenario(&scenario_run("tools_call", Some(STATEFUL_AND_STATELESS_REVISIONS[1]))),
            "a run that matches both options should be selected"
        );
        assert!(
            !options.includes_scenario(&scenario_run("tools_call", Some(STATEFUL_AND_STATELESS_REVISIONS[0]))),
            "a run with another revision should not be selected"
        );
        assert!(
            !options.includes_scenario(&scenario_run("initialize", Some(STATEFUL_AND_STATELESS_REVISIONS[1]))),
            "another scenario should not be selected"
        );
    }
}
