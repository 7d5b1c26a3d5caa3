//! Sends the host's events to the page.
//!
//! A Tauri channel has an unbounded queue. Therefore the page acknowledges each batch, at most [`MAX_UNSEEN_BATCHES`]
//! batches are unacknowledged, and later events wait in the host's bounded stream.

use std::sync::{Arc, Mutex, PoisonError};

use api::{Api, ApiError, Events};
use tauri::State;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;
use tokio::sync::Semaphore;

/// Maximum number of sent batches of events that Drawbridge's page has not acknowledged.
const MAX_UNSEEN_BATCHES: usize = 8;

/// Async task that sends the host's events to Drawbridge's page. A reloaded page replaces it.
#[derive(Default)]
pub(crate) struct EventPump(Mutex<Option<RunningPump>>);

struct RunningPump {
    task: JoinHandle<()>,
    room: Arc<Semaphore>,
}

/// Starts to send all events of the host to Drawbridge's page that occur after this call.
#[tauri::command]
pub(crate) async fn listen_events(
    host: State<'_, Api>,
    pump: State<'_, EventPump>,
    channel: Channel<Events>,
) -> Result<(), ApiError> {
    // A page that is loaded again has no frames.
    host.app_views().remove_all();
    // Subscribes before the command returns, so that the page misses no event afterwards.
    let mut events = host.events();
    let room = Arc::new(Semaphore::new(MAX_UNSEEN_BATCHES));
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
    let earlier =
        pump.0.lock().unwrap_or_else(PoisonError::into_inner).replace(RunningPump { task, room: listener_room });
    if let Some(earlier) = earlier {
        earlier.task.abort();
    }
    Ok(())
}

/// Records that Drawbridge's page has acknowledged a batch of events.
#[tauri::command]
pub(crate) fn acknowledge_events(pump: State<'_, EventPump>) {
    let running = pump.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(RunningPump { room, .. }) = running.as_ref()
        && room.available_permits() < MAX_UNSEEN_BATCHES
    {
        room.add_permits(1);
    }
}
