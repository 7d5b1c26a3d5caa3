//! Tests of model servers that are killed while they respond.

use futures_util::StreamExt as _;
use models::{ModelError, ModelRequest, Provider as _, ProviderKind, ReplyDelta, ReplyStream};

use crate::ask::text_request;
use crate::place::{ModelServer, ServedWire, start_server, wire_name};

/// Kills the server while it streams a response with each of its APIs, and asserts that no response looks complete.
pub(crate) async fn assert_truncated_if_killed_on_all_apis(server: ModelServer) {
    assert_truncated_if_killed(server, server.wires()).await;
}

/// Kills the server while it streams a response with each of these APIs, and asserts that no response looks complete.
pub(crate) async fn assert_truncated_if_killed(server: ModelServer, wires: &[ProviderKind]) {
    let behind = (server == ModelServer::LiteLlm).then(|| start_server(ModelServer::Aimock, None));
    let mut running = start_server(server, behind.as_ref());
    let mut responses = Vec::new();
    for wire in wires {
        let place = ServedWire::new(server, *wire, &running.url);
        let max_tokens = if place.is_scripted() { None } else { Some(7_000) };
        let request = ModelRequest { max_tokens, ..text_request(&place, "write a long answer") };
        let mut deltas = place.client().stream(request).await.expect("a response");
        let begun = wait_for_text(&mut deltas).await;
        assert_eq!(begun, Ok(()), "{place}: the response should begin");
        responses.push((*wire, deltas));
    }
    running.kill();
    for (wire, mut deltas) in responses {
        let name = format!("{}, {}", server.name(), wire_name(wire));
        let mut last = None;
        while let Some(delta) = deltas.next().await {
            assert!(
                !matches!(delta, Ok(ReplyDelta::Ended(_))),
                "{name}: a truncated response should not look complete"
            );
            last = Some(delta);
        }
        assert_eq!(last, Some(Err(ModelError::Cut)), "{name}: the truncation should be reported");
    }
}

/// Reads the events of a response until the first text.
async fn wait_for_text(deltas: &mut ReplyStream) -> Result<(), String> {
    loop {
        match deltas.next().await {
            Some(Ok(ReplyDelta::Text(_))) => return Ok(()),
            Some(Ok(ReplyDelta::Ended(reply))) => return Err(format!("the response ended without text: {reply:?}")),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.to_string()),
            None => return Err("the stream ended without a result".into()),
        }
    }
}
