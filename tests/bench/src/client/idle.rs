//! Measures the memory of idle sessions.

use std::time::Duration;

use bench::drawbridge::Outcome;
use bench::drawbridge::open::BenchHost;
use bench::report::{BenchClock, BenchReport, ProcessMemory};
use bench::scenario::{IDLE_SESSIONS, Scenario};
use ports::server_config::ServerConfig;

/// Delay after the start of the last session, after which its activity has ended and the memory is measured.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// Opens further sessions in addition to the first one, and reports the memory per session.
pub(crate) async fn measure_idle_sessions(bench: &BenchHost, config: &ServerConfig) -> Outcome<BenchReport> {
    tokio::time::sleep(SETTLE_TIME).await;
    let before = ProcessMemory::measure()?;
    let clock = BenchClock::start()?;
    for session in 1..IDLE_SESSIONS {
        bench.add_and_start_server(&format!("idle-{session}"), config).await?;
    }
    let mut report = clock.stop(Scenario::Idle200)?;
    tokio::time::sleep(SETTLE_TIME).await;
    ProcessMemory::measure()?.add_memory_per_session(before, IDLE_SESSIONS - 1, &mut report);
    Ok(report)
}
