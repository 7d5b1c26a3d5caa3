//! Quits or restarts Drawbridge once the pages have stored their drafts. Called by `background.rs`, `closing.rs`,
//! `menu_bar`, `tray` and `app_updates`.
//!
//! On macOS, the Dock and the end of the session end an app without a way to wait. A page stores a draft a moment after
//! a change, so the last words of a draft may then be missing.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tauri::{AppHandle, Manager as _, Runtime};
use tokio::sync::oneshot;

use crate::shell_events::{ShellEvent, ShellEvents};

/// Maximum time that Drawbridge waits for the pages to store their drafts before it quits.
const DRAFT_STORING_TIMEOUT: Duration = Duration::from_secs(1);

/// Windows whose pages still have to store their drafts before Drawbridge quits. Empty while it does not quit.
#[derive(Default)]
pub(crate) struct PendingQuit(Mutex<Option<UnstoredDrafts>>);

struct UnstoredDrafts {
    /// Labels of the windows whose pages have not reported that their drafts are stored.
    windows: HashSet<String>,
    /// Sender that is used once `windows` is empty, for which the task that quits Drawbridge waits.
    stored: Option<oneshot::Sender<()>>,
}

/// Result of requesting the pages to store their drafts when Drawbridge begins to quit.
#[derive(Debug)]
enum DraftsOnQuit {
    /// The pages were requested to store their drafts. The receiver resolves when all have reported that they did.
    Requested(oneshot::Receiver<()>),
    /// No window has a page, so there are no drafts to store.
    NoPage,
    /// An earlier call has requested it, and Drawbridge is about to exit.
    AlreadyRequested,
}

impl PendingQuit {
    /// Requests the pages of all windows to store their drafts, unless an earlier call has done so.
    fn begin(&self, events: &ShellEvents) -> DraftsOnQuit {
        let mut unstored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unstored.is_some() {
            return DraftsOnQuit::AlreadyRequested;
        }
        let windows: HashSet<String> = events.send_to_all(|| ShellEvent::Quitting).into_iter().collect();
        let (sender, stored) = oneshot::channel();
        let is_any = !windows.is_empty();
        *unstored = Some(UnstoredDrafts { windows, stored: Some(sender) });
        if is_any { DraftsOnQuit::Requested(stored) } else { DraftsOnQuit::NoPage }
    }

    /// Records that the page of a window has stored its drafts. Returns `false` if Drawbridge is not quitting.
    pub(crate) fn mark_drafts_stored(&self, window: &str) -> bool {
        let mut unstored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(UnstoredDrafts { windows, stored }) = unstored.as_mut() else { return false };
        windows.remove(window);
        if windows.is_empty()
            && let Some(stored) = stored.take()
        {
            // The receiver is gone after the timeout.
            let _ = stored.send(());
        }
        true
    }
}

/// Exits Drawbridge once the pages have stored their drafts, or after [`DRAFT_STORING_TIMEOUT`]. Does nothing if
/// Drawbridge already quits.
pub(crate) fn quit<R: Runtime>(app: &AppHandle<R>) {
    end_app_after_storing_drafts(app, |app| app.exit(0));
}

/// Restarts Drawbridge once the pages have stored their drafts, or after [`DRAFT_STORING_TIMEOUT`]. Does nothing if
/// Drawbridge already quits.
pub(crate) fn restart<R: Runtime>(app: &AppHandle<R>) {
    end_app_after_storing_drafts(app, AppHandle::request_restart);
}

fn end_app_after_storing_drafts<R: Runtime>(app: &AppHandle<R>, end: impl FnOnce(&AppHandle<R>) + Send + 'static) {
    let drafts = match app.try_state::<PendingQuit>() {
        Some(quitting) => quitting.begin(&app.state::<ShellEvents>()),
        None => DraftsOnQuit::NoPage,
    };
    let stored = match drafts {
        DraftsOnQuit::Requested(stored) => stored,
        DraftsOnQuit::NoPage => return end(app),
        DraftsOnQuit::AlreadyRequested => return,
    };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if tokio::time::timeout(DRAFT_STORING_TIMEOUT, stored).await.is_err() {
            tracing::warn!("a page did not store its drafts within {} ms", DRAFT_STORING_TIMEOUT.as_millis());
        }
        end(&app);
    });
}

#[cfg(test)]
mod tests {
    use tauri::ipc::Channel;

    use super::*;

    #[test]
    fn drawbridge_quits_once_all_pages_have_stored_their_drafts() {
        let (quitting, events) = (PendingQuit::default(), ShellEvents::default());
        assert!(!quitting.mark_drafts_stored("conversation-1"), "closing one window does not quit");
        for window in ["main", "conversation-1"] {
            events.attach_test_page(window, Channel::new(|_| Ok(())));
        }
        let DraftsOnQuit::Requested(mut stored) = quitting.begin(&events) else {
            panic!("the pages should be requested");
        };
        assert!(quitting.mark_drafts_stored("main"), "the windows should stay open while the app quits");
        assert!(stored.try_recv().is_err(), "another page has not stored its draft");
        assert!(quitting.mark_drafts_stored("conversation-1"), "the windows should stay open while the app quits");
        assert!(
            matches!(quitting.begin(&events), DraftsOnQuit::AlreadyRequested),
            "a signal while the user quits should not end the wait"
        );
        assert_eq!(stored.try_recv(), Ok(()), "all pages have stored their drafts");
    }

    #[test]
    fn drawbridge_without_a_page_quits_at_once() {
        let drafts = PendingQuit::default().begin(&ShellEvents::default());
        assert!(matches!(drafts, DraftsOnQuit::NoPage), "there is nothing to wait for");
    }
}
