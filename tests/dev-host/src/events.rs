//! Serves events of the host on the WebSocket `/events`, each batch as one text message.

use api::{Api, EventStream};
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;

pub(crate) async fn serve_events(State(api): State<Api>, upgrade: WebSocketUpgrade) -> Response {
    // Subscribes before the page is notified, so that it misses no later event.
    let events = api.events();
    upgrade.on_upgrade(|socket| forward_events(socket, events))
}

async fn forward_events(mut socket: WebSocket, mut events: EventStream) {
    loop {
        let batch = tokio::select! {
            batch = events.next() => batch,
            // The page sends nothing. The connection ends when the page closes it.
            received = socket.recv() => match received {
                Some(Ok(_)) => continue,
                _ => return,
            },
        };
        let Some(batch) = batch else { return };
        let text = match serde_json::to_string(&batch) {
            Ok(text) => text,
            Err(error) => return tracing::error!("a batch of events is no JSON: {error}"),
        };
        if socket.send(Message::text(text)).await.is_err() {
            return;
        }
    }
}
