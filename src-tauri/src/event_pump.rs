//! Delivery of the host's events to the page.
//!
//! A Tauri channel queues messages without a bound. The page therefore acknowledges each batch, only a few batches are
//! in flight at a time, and later events accumulate in the host's stream.

use std::sync::{Arc, Mutex, PoisonError};

use api::{Api, ApiError, Events};
use tauri::State;
use tauri::async_runtime::JoinHandle;
use tauri::ipc::Channel;
use tokio::sync::Semaphore;

/// Maximum number of batches that the page has not acknowledged.
const MAX_UNSEEN_BATCHES: usize = 8;

/// Delivery task of the window. A reloaded page replaces it.
#[derive(Default)]
pub(crate) struct EventPump(Mutex<Option<RunningPump>>);

struct RunningPump {
    task: JoinHandle<()>,
    room: Arc<Semaphore>,
}

/// Sends all events from now on to the page.
#[tauri::command]
pub(crate) async fn listen_events(
    host: State<'_, Api>,
    pump: State<'_, EventPump>,
    channel: Channel<Events>,
) -> Result<(), ApiError> {
    // Subscribed before the command returns, so that the page misses no event after it.
    let mut events = host.events();
    let room = Arc::new(Semaphore::new(MAX_UNSEEN_BATCHES));
    let seen = Arc::clone(&room);
    let task = tauri::async_runtime::spawn(async move {
        while let Ok(place) = room.acquire().await {
            place.forget();
            let Some(batch) = events.next().await else { return };
            if channel.send(batch).is_err() {
                return;
            }
        }
    });
    let earlier = pump.0.lock().unwrap_or_else(PoisonError::into_inner).replace(RunningPump { task, room: seen });
    if let Some(earlier) = earlier {
        earlier.task.abort();
    }
    Ok(())
}

/// Records that the page has processed a batch.
#[tauri::command]
pub(crate) fn events_seen(pump: State<'_, EventPump>) {
    let running = pump.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(RunningPump { room, .. }) = running.as_ref()
        && room.available_permits() < MAX_UNSEEN_BATCHES
    {
        room.add_permits(1);
    }
}
