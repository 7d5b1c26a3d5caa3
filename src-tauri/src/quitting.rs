//! Quits Drawbridge once the pages have stored their drafts. Called by `background.rs`, `menu_bar` and `tray`.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tauri::{AppHandle, Manager as _, Runtime};
use tokio::sync::oneshot;

use crate::shell_events::{ShellEvent, ShellEvents};

/// Timeout for the pages to store their drafts before Drawbridge quits.
const DRAFTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Pages that store their drafts because the user quits.
#[derive(Default)]
pub(crate) struct Quitting(Mutex<Option<UnstoredDrafts>>);

struct UnstoredDrafts {
    /// Labels of the windows whose pages have not reported that their drafts are stored.
    windows: HashSet<String>,
    /// Resolves the receiver once `windows` is empty.
    stored: Option<oneshot::Sender<()>>,
}

impl Quitting {
    /// Requests all pages to store their drafts. Returns `None` if they were requested before, or there is no page.
    fn begin(&self, events: &ShellEvents) -> Option<oneshot::Receiver<()>> {
        let mut unstored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unstored.is_some() {
            return None;
        }
        let windows: HashSet<String> = events.send_to_all(|| ShellEvent::Quitting).into_iter().collect();
        let (sender, stored) = oneshot::channel();
        let is_any = !windows.is_empty();
        *unstored = Some(UnstoredDrafts { windows, stored: Some(sender) });
        is_any.then_some(stored)
    }

    /// Records that the page of a window has stored its drafts. Returns `false` if the user does not quit.
    pub(crate) fn mark_stored(&self, window: &str) -> bool {
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

/// Exits Drawbridge once the pages have stored their drafts, or after [`DRAFTS_TIMEOUT`]. Exits at once if the user quits
/// a second time.
pub(crate) fn quit<R: Runtime>(app: &AppHandle<R>) {
    let quitting = app.try_state::<Quitting>();
    let Some(stored) = quitting.and_then(|quitting| quitting.begin(&app.state::<ShellEvents>())) else {
        app.exit(0);
        return;
    };
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if tokio::time::timeout(DRAFTS_TIMEOUT, stored).await.is_err() {
            tracing::warn!("a page did not store its drafts within {} ms", DRAFTS_TIMEOUT.as_millis());
        }
        app.exit(0);
    });
}

#[cfg(test)]
mod tests {
    use tauri::ipc::Channel;

    use super::*;

    #[test]
    fn app_quits_once_all_pages_have_stored_their_drafts() {
        let (quitting, events) = (Quitting::default(), ShellEvents::default());
        assert!(!quitting.mark_stored("conversation-1"), "closing one window does not quit");
        for window in ["main", "conversation-1"] {
            events.attach_page(window, Channel::new(|_| Ok(())));
        }
        let mut stored = quitting.begin(&events).expect("the pages should be requested");
        assert!(quitting.mark_stored("main"), "the windows should stay open while the user quits");
        assert!(stored.try_recv().is_err(), "another page has not stored its draft");
        assert!(quitting.mark_stored("conversation-1"), "the windows should stay open while the user quits");
        assert_eq!(stored.try_recv(), Ok(()), "all pages have stored their drafts");
        assert!(quitting.begin(&events).is_none(), "a second request should not wait for the pages");
    }

    #[test]
    fn app_without_a_page_quits_at_once() {
        assert!(Quitting::default().begin(&ShellEvents::default()).is_none(), "there is nothing to wait for");
    }
}
