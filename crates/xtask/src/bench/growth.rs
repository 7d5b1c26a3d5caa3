//! `cargo xtask bench growth`: measures how the cost of a step grows with the amount of data. Writes
//! `tests/bench/GROWTH.md` and a plot for each series next to it. There are no assertions.

use std::fs;

use clap::Args;

use super::{facts, plot};
use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::workspace;

#[derive(Args)]
pub(super) struct GrowthBenchOptions {
    /// Cargo profile of the measured build
    #[arg(long, default_value = "release")]
    profile: String,
}

/// Series of measurements by `bench-growth`: the cost of one operation at several data sizes.
struct GrowthSeries {
    name: &'static str,
    title: &'static str,
    /// Unit of the data sizes on the horizontal axis.
    size_unit: &'static str,
    /// Unit of the plotted cost, and the factor that converts a measured cost to it.
    cost_unit: (&'static str, f64),
}

const MEASURED_SERIES: [GrowthSeries; 7] = [
    GrowthSeries {
        name: "ready",
        title: "Servers started at once until all are ready",
        size_unit: "servers",
        cost_unit: ("s", 1.0),
    },
    GrowthSeries {
        name: "memory",
        title: "Memory that these servers' sessions take",
        size_unit: "servers",
        cost_unit: ("MB", 1.0),
    },
    GrowthSeries {
        name: "ended",
        title: "The end of the app with these servers",
        size_unit: "servers",
        cost_unit: ("s", 1.0),
    },
    GrowthSeries { name: "rules", title: "A decision about a call", size_unit: "rules", cost_unit: ("µs", 1e6) },
    GrowthSeries {
        name: "pins",
        title: "Whether a tool is as it was reviewed",
        size_unit: "pinned tools",
        cost_unit: ("µs", 1e6),
    },
    GrowthSeries {
        name: "audit",
        title: "A call that is written to the audit log",
        size_unit: "entries",
        cost_unit: ("ms", 1e3),
    },
    GrowthSeries {
        name: "search",
        title: "A search for a frequent and a rare word",
        size_unit: "messages",
        cost_unit: ("ms", 1e3),
    },
];

/// Measures all series, and writes `tests/bench/GROWTH.md` and the plots.
///
/// # Errors
/// Returns a [`Problem`] if the build or the measurement fails, or if a file can't be written.
pub(super) fn run(options: &GrowthBenchOptions) -> Result<(), Problem> {
    print_step(&format!("building in profile {} (some minutes)", options.profile));
    let build = cargo().dir(workspace::root_folder()).args(["build", "--profile", &options.profile, "-p", "bench"]);
    build.args(["--bin", "bench-server", "--bin", "bench-growth"]).run()?;
    print_step("measuring (some minutes)");
    let text = Program::new(workspace::binary_path(&options.profile, "bench-growth"))
        .arg("--server")
        .arg(workspace::binary_path(&options.profile, "bench-server"))
        .output()?;
    let folder = workspace::tests_folder().join("bench");
    let mut report = format!(
        "# How cost grows\n\nWritten by `cargo xtask bench growth`, in profile `{}`, on {}. The last size of rules and of pinned tools is the most \
         that the app takes.\n",
        options.profile,
        facts::machine_description(),
    );
    for series in MEASURED_SERIES {
        let points = parse_points(&text, series.name);
        if points.is_empty() {
            return Err(Problem::Machine(format!("bench-growth printed no point of {:?}", series.name)));
        }
        let points: Vec<(f64, f64)> =
            points.into_iter().map(|(size, cost)| (size, cost * series.cost_unit.1)).collect();
        let file = folder.join(format!("growth-{}.svg", series.name));
        fs::write(&file, plot::growth_chart_svg(&points, series.size_unit, series.cost_unit.0))
            .map_err(Problem::file_error(&file))?;
        report.push_str(&format_growth_section(&series, &points));
    }
    let file = folder.join("GROWTH.md");
    fs::write(&file, report).map_err(Problem::file_error(&file))?;
    println!("wrote {}", file.display());
    Ok(())
}

/// Returns the points of one series from the output of `bench-growth`, as pairs of data size and cost.
fn parse_points(text: &str, series: &str) -> Vec<(f64, f64)> {
    let of_series = text.lines().filter_map(|line| line.strip_prefix(series)?.strip_prefix('\t')?.split_once('\t'));
    of_series.filter_map(|(size, cost)| Some((size.parse().ok()?, cost.parse().ok()?))).collect()
}

fn format_growth_section(series: &GrowthSeries, points: &[(f64, f64)]) -> String {
    let (unit, size_unit) = (series.cost_unit.0, series.size_unit);
    let mut text = format!("\n## {}\n\n![{} by {size_unit}](growth-{}.svg)\n\n", series.title, unit, series.name);
    text.push_str(&format!("| {size_unit} | {unit} |\n|--:|--:|\n"));
    for (size, cost) in points {
        text.push_str(&format!("| {size} | {} |\n", plot::format_number(*cost)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_parsed_by_series() {
        let text = "rules\t10\t0.5\nrule\t1\t1\nrules\t500\t2e-6\nready\t1\tx\n";
        assert_eq!(
            parse_points(text, "rules"),
            [(10.0, 0.5), (500.0, 2e-6)],
            "only points of this series should be returned, in order"
        );
        assert!(parse_points(text, "ready").is_empty(), "a line without numbers should be skipped");
    }
}
