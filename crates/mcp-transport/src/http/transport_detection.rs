//! Detects the transport of a server: Streamable HTTP first, then HTTP+SSE, unless a transport is known or configured
//! (`basic/transports`, backwards compatibility).

use mcp_proto::{DeliveryFault, OutgoingMessageKind, Session, SessionConfig, TransportKind};

use super::connection_notes::ConnectionNotes;
use super::endpoint::HttpEndpoint;
use super::http_sse::{self, HttpSseDriver};
use super::streamable::{self, StreamableDriver};
use super::{HttpLimits, HttpTarget, TransportChoice, client, delivery_faults};
use crate::driver::driver_core::{DriverCore, tokio_clock_now};
use crate::driver::{DetectedTransport, SessionOwner};

/// Parameters with which the driver of either HTTP transport is created.
struct TransportDriverParameters {
    config: SessionConfig,
    endpoint: HttpEndpoint,
    target: HttpTarget,
    limits: HttpLimits,
}

pub(super) async fn drive_detected_transport(
    config: SessionConfig,
    target: HttpTarget,
    owner: &mut dyn SessionOwner,
    limits: HttpLimits,
) {
    let first = match (target.transport, target.known) {
        (TransportChoice::Sse, _) => DetectedTransport::HttpSse,
        (TransportChoice::Auto, Some(known)) => known.transport,
        (TransportChoice::Auto | TransportChoice::Streamable, _) => DetectedTransport::StreamableHttp,
    };
    let config = session_config_for(config, &target, first);
    let mut core = DriverCore::new(config.clone(), owner, limits.message_bytes);
    let mut notes = ConnectionNotes::new();
    let client = match client::client_for_server(&target.url, &limits) {
        Ok(client) => client,
        Err(error) => {
            let cause =
                format!("no connection can be made on this system: {}", delivery_faults::root_cause_message(&error));
            return fail_handshake(core, &DeliveryFault::Unreachable { cause }).await;
        }
    };
    let agent = format!("{}/{}", config.client.name, config.client.version);
    let (endpoint, refused) = HttpEndpoint::new(client, &target, &agent);
    for name in refused {
        notes.emit_note(&mut core.outbox, format!("the header {name} was omitted: it belongs to the protocol"));
    }
    let start = TransportDriverParameters { config, endpoint, target, limits };
    match first {
        DetectedTransport::StreamableHttp => start.try_streamable_http_first(core, notes).await,
        DetectedTransport::HttpSse => start.try_http_sse_first(core, notes).await,
    }
}

impl TransportDriverParameters {
    async fn try_streamable_http_first(self, core: DriverCore<'_>, notes: ConnectionNotes) {
        let streamable::StreamableDriverEnd::NotStreamable(found) =
            self.streamable_http_driver(core, notes, self.detects_transport()).run().await
        else {
            return;
        };
        let (mut core, mut notes, why) = *found;
        notes.emit_note(&mut core.outbox, "the server does not speak Streamable HTTP; HTTP+SSE is tried");
        let config = session_config_for(self.config.clone(), &self.target, DetectedTransport::HttpSse);
        let failed = std::mem::replace(&mut core.session, Session::new(config, tokio_clock_now()));
        let http_sse::HttpSseDriverEnd::NotFound(found) = self.http_sse_driver(core, notes, true).run().await else {
            return;
        };
        let (mut core, mut notes, fault) = *found;
        notes.emit_note(
            &mut core.outbox,
            format!("nor does it speak HTTP+SSE: {}", delivery_faults::displayed_server_text(&fault.to_string())),
        );
        // The error of the first attempt explains more than that of the fallback.
        core.session = failed;
        core.emit_session_event(why);
        core.close_session();
        core.emit_remaining_events();
        core.deliver_remaining_events_while(std::future::ready(())).await;
    }

    async fn try_http_sse_first(self, core: DriverCore<'_>, notes: ConnectionNotes) {
        let http_sse::HttpSseDriverEnd::NotFound(found) =
            self.http_sse_driver(core, notes, self.detects_transport()).run().await
        else {
            return;
        };
        let (mut core, mut notes, fault) = *found;
        let shown = delivery_faults::displayed_server_text(&fault.to_string());
        notes.emit_note(
            &mut core.outbox,
            format!("HTTP+SSE, which it spoke before, failed; Streamable HTTP is tried: {shown}"),
        );
        let config = session_config_for(self.config.clone(), &self.target, DetectedTransport::StreamableHttp);
        let failed = std::mem::replace(&mut core.session, Session::new(config, tokio_clock_now()));
        let streamable::StreamableDriverEnd::NotStreamable(found) =
            self.streamable_http_driver(core, notes, true).run().await
        else {
            return;
        };
        let (mut core, _, why) = *found;
        if delivery_faults::is_temporary_fault(&fault) {
            // The known transport is still correct, and the server is unavailable.
            core.session = failed;
            return fail_handshake(core, &fault).await;
        }
        core.emit_session_event(why);
        core.close_session();
        core.emit_remaining_events();
        core.deliver_remaining_events_while(std::future::ready(())).await;
    }

    fn detects_transport(&self) -> bool {
        self.target.transport == TransportChoice::Auto
    }

    fn streamable_http_driver<'o>(
        &self,
        core: DriverCore<'o>,
        notes: ConnectionNotes,
        may_fall_back: bool,
    ) -> StreamableDriver<'o> {
        StreamableDriver::new(
            core,
            notes,
            self.endpoint.clone(),
            self.target.url.clone(),
            self.limits.clone(),
            may_fall_back,
        )
    }

    fn http_sse_driver<'o>(
        &self,
        core: DriverCore<'o>,
        notes: ConnectionNotes,
        may_fall_back_to_streamable: bool,
    ) -> HttpSseDriver<'o> {
        HttpSseDriver::new(
            core,
            notes,
            self.endpoint.clone(),
            self.target.url.clone(),
            self.limits.clone(),
            may_fall_back_to_streamable,
        )
    }
}

/// Returns the session's configuration for a transport. Includes the revision of the previous session only if its
/// transport was the same.
fn session_config_for(mut config: SessionConfig, target: &HttpTarget, transport: DetectedTransport) -> SessionConfig {
    config.carrier = match transport {
        DetectedTransport::StreamableHttp => TransportKind::StreamableHttp,
        DetectedTransport::HttpSse => TransportKind::HttpSse,
    };
    config.known = target.known.filter(|known| known.transport == transport).map(|known| known.revision);
    config
}

/// Reports to the session that its handshake failed with this fault, and delivers its remaining events to the owner.
async fn fail_handshake(mut core: DriverCore<'_>, fault: &DeliveryFault) {
    while let Some(outgoing) = core.session.poll_transmit() {
        if let OutgoingMessageKind::Request { id, .. } = &outgoing.about {
            core.session.handle_undelivered_request(id, fault.clone(), tokio_clock_now());
        }
    }
    core.close_session();
    core.emit_remaining_events();
    core.deliver_remaining_events_while(std::future::ready(())).await;
}
