//! Measured scenarios, with the kind and number of their operations.

use clap::ValueEnum;

/// Number of calls that each client makes before the measurement, so that one-time costs are not measured.
pub const WARM_UP_CALLS: usize = 200;
/// Size of the image that the tool `big` returns, in bytes.
pub const IMAGE_BYTES: usize = 10 * 1024 * 1024;
/// Number of progress notifications that the tool `progress` sends.
pub const PROGRESS_NOTIFICATIONS: usize = 10_000;
/// Number of tools of the server in [`Scenario::StdioList5000`].
pub const MANY_TOOLS_COUNT: usize = 5_000;
/// Number of tools of the server in all other scenarios: `echo`, `big` and `progress`.
pub const FEW_TOOLS_COUNT: usize = 3;
/// Number of calls that wait for a response at the same time in the scenarios with concurrent calls.
pub const CALLS_IN_FLIGHT: usize = 64;
/// Number of sessions that are open at the end of [`Scenario::Idle200`].
pub const IDLE_SESSIONS: usize = 200;
/// Text that the calls of `echo` pass as their argument.
pub const ECHO_TEXT: &str = "hello";

/// Kind, transport and number of the operations to measure, which is one row of the result table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// 5,000 sequential `echo` calls over stdio.
    StdioSeq,
    /// 20,000 `echo` calls over stdio, 64 in flight.
    #[value(name = "stdio-64")]
    Stdio64,
    /// 20 reads of a list with 5,000 tools over stdio.
    #[value(name = "stdio-list-5000")]
    StdioList5000,
    /// Five calls over stdio that each return an image of 10 MB.
    #[value(name = "stdio-big-10MB", alias = "stdio-big-10mb")]
    StdioBig10MB,
    /// One call over stdio with 10,000 progress notifications.
    #[value(name = "stdio-progress-10000")]
    StdioProgress10000,
    /// 2,000 sequential `echo` calls over HTTP with JSON responses.
    HttpSeqJson,
    /// 2,000 sequential `echo` calls over HTTP with responses as event streams.
    HttpSeqSse,
    /// 5,000 `echo` calls over HTTP, 64 in flight.
    #[value(name = "http-64")]
    Http64,
    /// 200 idle sessions over stdio.
    #[value(name = "idle-200")]
    Idle200,
}

impl Scenario {
    /// Returns `true` if the server is reached over HTTP.
    #[must_use]
    pub const fn is_over_http(self) -> bool {
        matches!(self, Self::HttpSeqJson | Self::HttpSeqSse | Self::Http64)
    }

    /// Returns the number of measured operations of the scenario.
    #[must_use]
    pub const fn operation_count(self) -> usize {
        match self {
            Self::StdioSeq | Self::Http64 => 5_000,
            Self::Stdio64 => 20_000,
            Self::StdioList5000 => 20,
            Self::StdioBig10MB => 5,
            Self::StdioProgress10000 => 1,
            Self::HttpSeqJson | Self::HttpSeqSse => 2_000,
            Self::Idle200 => IDLE_SESSIONS,
        }
    }

    /// Returns the maximum number of calls of the scenario that are in flight at the same time.
    #[must_use]
    pub const fn calls_in_flight(self) -> usize {
        match self {
            Self::Stdio64 | Self::Http64 => CALLS_IN_FLIGHT,
            _ => 1,
        }
    }

    /// Returns the number of tools that the server offers in the scenario.
    #[must_use]
    pub const fn tool_count(self) -> usize {
        match self {
            Self::StdioList5000 => MANY_TOOLS_COUNT,
            _ => FEW_TOOLS_COUNT,
        }
    }

    /// Returns the name of the scenario on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}
