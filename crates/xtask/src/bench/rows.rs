//! Rows of the tables: the scenarios, with their target ratios.

/// Row of the comparison tables: a scenario, with the maximum ratios of Drawbridge's result to the lower bound and to
/// the fastest rmcp client. The results are wall times, or memory in the scenario of idle sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BenchmarkRow {
    /// Name of the scenario on the clients' command line.
    pub(super) scenario: &'static str,
    pub(super) meaning: &'static str,
    pub(super) to_bare: f64,
    pub(super) to_rmcp: f64,
}

const fn new_benchmark_row(scenario: &'static str, meaning: &'static str, to_bare: f64, to_rmcp: f64) -> BenchmarkRow {
    BenchmarkRow { scenario, meaning, to_bare, to_rmcp }
}

/// Scenario whose peak memory is compared with the size of the response that contains the image.
pub(super) const IMAGE_SCENARIO: &str = "stdio-big-10MB";
/// Maximum peak memory of a client in [`IMAGE_SCENARIO`], as a multiple of the size of the response with the image.
pub(super) const MAX_IMAGE_PEAK_MEMORY_RATIO: f64 = 1.6;
/// Number of progress notifications that the server sends in the scenario that measures them.
pub(super) const EXPECTED_NOTIFICATION_COUNT: f64 = 10_000.0;

pub(super) const BENCHMARK_ROWS: [BenchmarkRow; 9] = [
    new_benchmark_row("stdio-seq", "stdio, 5,000 echo calls one by one", 2.25, 0.55),
    new_benchmark_row("stdio-64", "stdio, 20,000 echo calls, 64 in flight", 7.5, 0.36),
    new_benchmark_row("stdio-list-5000", "stdio, a list of 5,000 tools, 20 times", 10.0, 0.2),
    new_benchmark_row(IMAGE_SCENARIO, "stdio, an image of 10 MB, 5 times", 1.33, 0.53),
    new_benchmark_row("stdio-progress-10000", "stdio, one call with 10,000 progress notifications", 10.0, 0.25),
    new_benchmark_row("http-seq-json", "HTTP, 2,000 calls, JSON answers", 1.5, 0.67),
    new_benchmark_row("http-seq-sse", "HTTP, 2,000 calls, SSE answers", 1.5, 0.65),
    new_benchmark_row("http-64", "HTTP, 5,000 calls, 64 in flight", 1.5, 0.7),
    new_benchmark_row("idle-200", "200 idle stdio sessions", 2.3, 0.6),
];

/// Returns the names of the scenarios of all rows.
pub(super) fn benchmark_scenarios() -> [&'static str; BENCHMARK_ROWS.len()] {
    BENCHMARK_ROWS.map(|row| row.scenario)
}

impl BenchmarkRow {
    pub(super) fn is_http(self) -> bool {
        self.scenario.starts_with("http")
    }

    pub(super) fn is_idle(self) -> bool {
        self.scenario == "idle-200"
    }
}
