//! `cargo xtask bench app`: measures start-up time, the time until a consent request is drawn, and memory of the app.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;

use super::median;
use crate::problem::Problem;
use crate::process::{self, Program, cargo};
use crate::progress::print_step;
use crate::screen::{VirtualScreen, has_display};
use crate::system_packages::{
    self, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, RequiredPackage, VIRTUAL_DISPLAY_PACKAGES,
};
use crate::{desktop_app, node, workspace};

/// Number of runs of each measurement. The median is reported.
const RUNS_PER_MEASUREMENT: usize = 7;
/// Maximum time from the start of the app until it prints its measurement.
const APP_START_TIMEOUT: Duration = Duration::from_secs(60);

/// Measurements of the app, which it prints if `DRAWBRIDGE_BENCH` contains their name. Each entry has the name, the
/// word that precedes the milliseconds in the output, and a description.
const APP_MEASUREMENTS: [(&str, &str, &str); 3] = [
    ("empty", "painted", "an empty window, from process start to drawn"),
    ("window", "painted", "our window, from process start to content drawn"),
    ("consent-request", "consent-request", "a consent request, from its place in the queue to drawn"),
];

#[derive(Args, Default)]
pub(super) struct DesktopAppBenchOptions {
    /// Measure a debug build, which is faster to build but slower to run
    #[arg(long)]
    debug: bool,
}

pub(super) fn run(options: &DesktopAppBenchOptions, yes: bool) -> Result<(), Problem> {
    let profile = if options.debug { desktop_app::DEBUG_PROFILE } else { desktop_app::RELEASE_PROFILE };
    let mut needs: Vec<RequiredPackage> = COMPILER_PACKAGES.iter().chain(DESKTOP_APP_BUILD_PACKAGES).copied().collect();
    if !has_display() {
        needs.extend(VIRTUAL_DISPLAY_PACKAGES);
    }
    system_packages::ensure_packages_are_installed(&needs, yes)?;
    node::check_node_version()?;
    node::install_packages(&workspace::ui_folder(), &mut Program::run)?;
    node::build_ui(&mut Program::run)?;
    print_step(&format!("building the app in profile {profile} (some minutes)"));
    desktop_app::desktop_app_build_command(profile).run()?;
    let app = desktop_app::desktop_app_path(profile)?;

    let screen = if has_display() { None } else { Some(VirtualScreen::start()?) };
    let mut times: [Vec<f64>; APP_MEASUREMENTS.len()] = Default::default();
    for run in 1..=RUNS_PER_MEASUREMENT {
        print_step(&format!("run {run} of {RUNS_PER_MEASUREMENT}"));
        // The measurements alternate, so that temporary load on the machine does not affect only one of them.
        for ((name, word, _), times) in APP_MEASUREMENTS.iter().zip(&mut times) {
            times.push(measure_app_once(screen.as_ref(), &app, name, word)?);
        }
    }
    let medians = times.map(median);
    println!("{}", format_table(&medians, profile));
    print_step("the host without a window: the way of a consent request, and the memory of 200 idle demo servers");
    let host = cargo().dir(workspace::root_folder()).args(["run", "-p", "host", "--example", "bench"]);
    if options.debug { host } else { host.arg("--release") }.run()
}

/// Starts the app once and returns the milliseconds that it prints for the measurement `name`.
fn measure_app_once(screen: Option<&VirtualScreen>, app: &Path, name: &str, word: &str) -> Result<f64, Problem> {
    // Uses an empty home folder, so that every start is a first start and the user's servers, windows and running
    // instances are not affected.
    let home = workspace::create_folder_in_target("bench/home")?;
    fs::remove_dir_all(&home).map_err(Problem::file_error(&home))?;
    fs::create_dir_all(&home).map_err(Problem::file_error(&home))?;
    let log = workspace::create_folder_in_target("bench")?.join(format!("{name}.log"));
    let output = fs::File::create(&log).map_err(Problem::file_error(&log))?;
    let program = match screen {
        Some(screen) => screen.program(app),
        None => Program::new(app),
    };
    let program = program
        .env("DRAWBRIDGE_BENCH", name)
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .output_to(&output)
        .map_err(Problem::file_error(&log))?;
    let mut running = program.start()?;
    let start = Instant::now();
    loop {
        let ended = running.exit_status()?;
        let text = fs::read_to_string(&log).map_err(Problem::file_error(&log))?;
        if let Some(milliseconds) = parse_measured_value(&text, word) {
            return Ok(milliseconds);
        }
        if ended.is_some() || start.elapsed() > APP_START_TIMEOUT {
            return Err(Problem::Machine(format!("the app did not report \"{word}\"; see {}", log.display())));
        }
        process::interruptible_sleep(Duration::from_millis(20))?;
    }
}

/// Returns the number after `word` in a line such as `painted 412`. A last line without a newline is ignored, since the
/// app may still be writing it.
fn parse_measured_value(text: &str, word: &str) -> Option<f64> {
    let whole = &text[..=text.rfind('\n')?];
    whole.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok())
}

fn format_table(medians: &[f64; APP_MEASUREMENTS.len()], profile: &str) -> String {
    let mut lines = vec![format!("Median of {RUNS_PER_MEASUREMENT} runs, {profile} build")];
    for ((_, _, meaning), median) in APP_MEASUREMENTS.iter().zip(medians) {
        lines.push(format!("{meaning:<52} {median:>8.1} ms"));
    }
    lines.push(format!("{:<52} {:>8.2}", "our window / an empty window", medians[1] / medians[0]));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_value_is_parsed_from_complete_lines_only() {
        assert_eq!(
            parse_measured_value("warning: x\npainted 412.5\n", "painted"),
            Some(412.5),
            "the reading should be found among other lines"
        );
        assert_eq!(parse_measured_value("painted 41", "painted"), None, "an incomplete line should be ignored");
        assert_eq!(
            parse_measured_value("painted soon\n", "painted"),
            None,
            "a value that is not a number should be ignored"
        );
    }

    #[test]
    fn table_contains_the_ratio() {
        let text = format_table(&[400.0, 600.0, 12.0], "release");
        assert!(text.ends_with("1.50"), "the ratio of 600 to 400 should be 1.50: {text}");
    }
}
