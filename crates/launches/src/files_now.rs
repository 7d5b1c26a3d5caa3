//! The files of a command as they are now, read beside the owner's turns: when the user answers a start, and right before it.

use std::time::Duration;

use process::LaunchFiles;
use tokio::sync::Semaphore;

/// How long a file system may take to tell of a command's files. Only what changed is read, and of that only small files.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most looks at a time. One at a file system that hangs keeps its thread, so more have to wait.
static LOOKS: Semaphore = Semaphore::const_new(8);

/// The same files as they are now; none if the file system does not tell in time.
pub async fn files_now(files: LaunchFiles, look: fn(&LaunchFiles) -> LaunchFiles) -> Option<LaunchFiles> {
    within(PATIENCE, move || look(&files)).await
}

async fn within<T: Send + 'static>(patience: Duration, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let looking = async {
        let place = LOOKS.acquire().await.ok()?;
        // The thread keeps its place for as long as it takes, however long that is waited for.
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
    async fn s15_a_file_system_that_hangs_is_given_up() {
        let (answer, hangs) = mpsc::sync_channel::<()>(1);
        // Time stands still while a thread works, so the patience is over before it begins.
        let looked = within(Duration::ZERO, move || hangs.recv().is_ok()).await;
        assert_eq!(looked, None, "it is not waited for");
        drop(answer);
        assert_eq!(within(PATIENCE, || 7).await, Some(7), "others are looked at as ever");
    }
}
