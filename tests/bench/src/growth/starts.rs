//! Measures concurrent starts of servers: the time until all are ready, their memory, and the time that they take to
//! end.

use std::path::Path;
use std::time::{Duration, Instant};

use bench::drawbridge::Outcome;
use bench::drawbridge::open::{self, BenchHost};
use bench::report::ProcessMemory;
use bench::scenario::FEW_TOOLS_COUNT;

use crate::print_measured_point;

/// Numbers of servers that are started concurrently, each in a separate measurement.
const SERVER_COUNTS: [usize; 4] = [1, 10, 50, 200];
/// Delay between the start of the last server and the measurement of the memory.
const SETTLE_TIME: Duration = Duration::from_secs(1);

pub(crate) async fn measure_starts(server: &Path) -> Outcome<()> {
    let config = open::local_server_config(server, FEW_TOOLS_COUNT)?;
    for size in SERVER_COUNTS {
        let bench = BenchHost::start().await;
        let user = bench.spawn_approving_user();
        // Excludes costs that only the first start has.
        bench.add_and_start_server("first", &config).await?;
        let names: Vec<String> = (0..size).map(|server| format!("server-{server}")).collect();
        for name in &names {
            bench.add_server(name, &config).await?;
        }
        let (before, began) = (ProcessMemory::measure()?, Instant::now());
        bench.start_all_servers(&names).await?;
        print_measured_point("ready", size, began.elapsed().as_secs_f64())?;
        tokio::time::sleep(SETTLE_TIME).await;
        print_measured_point("memory", size, ProcessMemory::measure()?.pss_since(before) / 1024.0)?;
        user.abort();
        let began = Instant::now();
        bench.host.close().await;
        print_measured_point("ended", size, began.elapsed().as_secs_f64())?;
    }
    Ok(())
}
