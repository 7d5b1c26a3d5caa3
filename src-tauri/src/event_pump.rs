//! Sends the host's events to the page of each window.
//!
//! A Tauri channel has an unbounded queue. Therefore the page acknowledges each batch, at most
//! [`MAX_UNACKNOWLEDGED_BATCHES`] batches are unacknowledged, and later events wait in the host's bounded stream.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use api::{Api, ApiError, Events};
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;
use tauri::{Runtime, State, Webview};
use tokio::sync::Semaphore;

use crate::conversation_windows::ConversationWindows;
use crate::window_labels::MAIN_WINDOW_LABEL;

/// Maximum number of batches of events that were sent to a page and not yet acknowledged by it.
const MAX_UNACKNOWLEDGED_BATCHES: usize = 8;

/// Tasks that send the host's events to the pages, by the label of the page's window. If a page is loaded again, a new
/// task replaces that of the window.
#[derive(Default)]
pub(crate) struct EventPump(Mutex<HashMap<String, RunningPump>>);

struct RunningPump {
    task: JoinHandle<()>,
    room: Arc<Semaphore>,
}

impl EventPump {
    /// Stops sending events to the page of a closed window.
    pub(crate) fn stop(&self, window: &str) {
        if let Some(RunningPump { task, .. }) = self.lock().remove(window) {
            task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunningPump>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Command by which a page subscribes to the host's events: sends it all events that occur after this call.
#[tauri::command]
pub(crate) async fn listen_events<R: Runtime>(
    webview: Webview<R>,
    host: State<'_, Api>,
    pump: State<'_, EventPump>,
    windows: State<'_, ConversationWindows>,
    channel: Channel<Events>,
) -> Result<(), ApiError> {
    // A page that is loaded again has no frames. Those of other windows remain.
    if webview.label() == MAIN_WINDOW_LABEL {
        host.app_views().remove_views_of_main_window(&windows.conversations());
    } else if let Some(own) = windows.conversation_in_window(webview.label()) {
        host.app_views().remove_views_of_conversation(&own);
    }
    // Subscribes before the command returns, so that the page misses no event afterwards.
    let mut events = host.events();
    let room = Arc::new(Semaphore::new(MAX_UNACKNOWLEDGED_BATCHES));
    let listener_room = Arc::clone(&room);
    let task = tauri::async_runtime::spawn(async move {
        while let Ok(place) = room.acquire().await {
            place.forget();
            let Some(batch) = events.next().await else { return };
            if channel.send(batch).is_err() {
                return;
            }
        }
    });
    let earlier = pump.lock().insert(webview.label().to_owned(), RunningPump { task, room: listener_room });
    if let Some(earlier) = earlier {
        earlier.task.abort();
    }
    Ok(())
}

/// Command by which a page reports that it has processed a batch of events, so that another one may be sent.
#[tauri::command]
pub(crate) fn acknowledge_events<R: Runtime>(webview: Webview<R>, pump: State<'_, EventPump>) {
    let running = pump.lock();
    if let Some(RunningPump { room, .. }) = running.get(webview.label())
        && room.available_permits() < MAX_UNACKNOWLEDGED_BATCHES
    {
        room.add_permits(1);
    }
}
