//! Measures concurrent starts of servers: the time until all are ready, their memory, and the time that they take to
//! end.

use std::path::Path;
use std::time::{Duration, Instant};

use bench::drawbridge::Outcome;
use bench::drawbridge::open::{self, Bench};
use bench::report::Memory;
use bench::scenario::FEW_TOOLS;

use crate::point;

/// Measured numbers of servers that are started concurrently.
const SIZES: [usize; 4] = [1, 10, 50, 200];
/// Delay between the last start and the memory measurement.
const SETTLE_TIME: Duration = Duration::from_secs(1);

pub(crate) async fn measure(server: &Path) -> Outcome<()> {
    let config = open::local(server, FEW_TOOLS)?;
    for size in SIZES {
        let bench = Bench::start().await;
        let user = bench.spawn_approving_user();
        // Excludes costs that only the first start has.
        bench.open("first", &config).await?;
        let names: Vec<String> = (0..size).map(|server| format!("server-{server}")).collect();
        for name in &names {
            bench.add(name, &config).await?;
        }
        let (before, began) = (Memory::now()?, Instant::now());
        bench.start_all(&names).await?;
        point("ready", size, began.elapsed().as_secs_f64())?;
        tokio::time::sleep(SETTLE_TIME).await;
        point("memory", size, Memory::now()?.pss_since(before) / 1024.0)?;
        user.abort();
        let began = Instant::now();
        bench.host.close().await;
        point("ended", size, began.elapsed().as_secs_f64())?;
    }
    Ok(())
}
