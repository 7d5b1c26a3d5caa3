//! Reads the current state of the files that decide what a command runs, when the user approves a start and immediately
//! before the start. The reads run on separate threads, so that no turn of the owner in `host` waits for the disk.

use std::time::Duration;

use process::LaunchFiles;
use tokio::sync::Semaphore;

/// Maximum time to read the current state of the files that decide what a command runs.
const FILE_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Permits that limit the number of concurrent reads. A read from a file system that hangs blocks its thread, so the
/// number of such threads must be limited.
static FILE_READ_SLOTS: Semaphore = Semaphore::const_new(8);

/// Reads the current state of these files by calling `look` on a separate thread. Returns `None` if that takes longer
/// than ten seconds.
pub async fn read_current_launch_files(
    files: LaunchFiles,
    look: fn(&LaunchFiles) -> LaunchFiles,
) -> Option<LaunchFiles> {
    read_with_timeout(FILE_READ_TIMEOUT, move || look(&files)).await
}

async fn read_with_timeout<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let looking = async {
        let place = FILE_READ_SLOTS.acquire().await.ok()?;
        // The thread holds its permit until it finishes, even if the caller has stopped waiting.
        let looked = tokio::task::spawn_blocking(move || {
            let _place = place;
            look()
        });
        looked.await.ok()
    };
    tokio::time::timeout(patience, looking).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn s15_hanging_file_system_times_out() {
        let (answer, hangs) = mpsc::sync_channel::<()>(1);
        // Paused time doesn't advance during blocking work, so the timeout has to be zero.
        let looked = read_with_timeout(Duration::ZERO, move || hangs.recv().is_ok()).await;
        assert_eq!(looked, None, "a hanging read must time out");
        drop(answer);
        assert_eq!(read_with_timeout(FILE_READ_TIMEOUT, || 7).await, Some(7), "later reads must still work");
    }
}
