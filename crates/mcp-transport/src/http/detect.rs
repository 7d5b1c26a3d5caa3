//! Detects the transport of a server: Streamable HTTP first, then HTTP+SSE, unless a transport is known or configured
//! (`basic/transports`, backwards compatibility).

use mcp_proto::{Carrier, DeliveryFault, OutgoingKind, Session, SessionConfig};

use super::endpoint::Endpoint;
use super::legacy::{self, Legacy};
use super::news::News;
use super::streamable::{self, Streamable};
use super::{HttpLimits, HttpTarget, TransportChoice, client, fault};
use crate::driver::core::{Core, now};
use crate::driver::{Owner, TransportFound};

/// Parameters of both transports.
struct Start {
    config: SessionConfig,
    endpoint: Endpoint,
    target: HttpTarget,
    limits: HttpLimits,
}

pub(super) async fn run(config: SessionConfig, target: HttpTarget, owner: &mut dyn Owner, limits: HttpLimits) {
    let first = match (target.transport, target.known) {
        (TransportChoice::Sse, _) => TransportFound::HttpSse,
        (TransportChoice::Auto, Some(known)) => known.transport,
        (TransportChoice::Auto | TransportChoice::Streamable, _) => TransportFound::StreamableHttp,
    };
    let config = configured(config, &target, first);
    let mut core = Core::new(config.clone(), owner, limits.message_bytes);
    let mut news = News::new();
    let client = match client::build(&target.url, &limits) {
        Ok(client) => client,
        Err(error) => {
            let cause = format!("no connection can be made on this system: {}", fault::root(&error));
            return give_up(core, &DeliveryFault::Unreachable { cause }).await;
        }
    };
    let agent = format!("{}/{}", config.client.name, config.client.version);
    let (endpoint, refused) = Endpoint::new(client, &target, &agent);
    for name in refused {
        news.note(&mut core.outbox, format!("the header {name} was left out: it belongs to the protocol"));
    }
    let start = Start { config, endpoint, target, limits };
    match first {
        TransportFound::StreamableHttp => start.streamable_first(core, news).await,
        TransportFound::HttpSse => start.legacy_first(core, news).await,
    }
}

impl Start {
    async fn streamable_first(self, core: Core<'_>, news: News) {
        let streamable::Finished::NotStreamable(found) = self.streamable(core, news, self.is_auto()).run().await else {
            return;
        };
        let (mut core, mut news, why) = *found;
        news.note(&mut core.outbox, "the server does not speak Streamable HTTP; HTTP+SSE is tried");
        let config = configured(self.config.clone(), &self.target, TransportFound::HttpSse);
        let failed = std::mem::replace(&mut core.session, Session::new(config, now()));
        let legacy::Finished::NotFound(found) = self.legacy(core, news, true).run().await else { return };
        let (mut core, mut news, fault) = *found;
        news.note(&mut core.outbox, format!("nor does it speak HTTP+SSE: {}", fault::shown(&fault.to_string())));
        // The first failure is more informative than that of the fallback.
        core.session = failed;
        core.tell(why);
        core.close_session();
        core.tell_rest();
        core.farewell(std::future::ready(())).await;
    }

    async fn legacy_first(self, core: Core<'_>, news: News) {
        let legacy::Finished::NotFound(found) = self.legacy(core, news, self.is_auto()).run().await else { return };
        let (mut core, mut news, fault) = *found;
        let shown = fault::shown(&fault.to_string());
        news.note(
            &mut core.outbox,
            format!("HTTP+SSE, which it spoke before, failed; Streamable HTTP is tried: {shown}"),
        );
        let config = configured(self.config.clone(), &self.target, TransportFound::StreamableHttp);
        let failed = std::mem::replace(&mut core.session, Session::new(config, now()));
        let streamable::Finished::NotStreamable(found) = self.streamable(core, news, true).run().await else {
            return;
        };
        let (mut core, _, why) = *found;
        if fault::is_passing(&fault) {
            // The server's transport is still the known one, and only unavailable at the moment.
            core.session = failed;
            return give_up(core, &fault).await;
        }
        core.tell(why);
        core.close_session();
        core.tell_rest();
        core.farewell(std::future::ready(())).await;
    }

    fn is_auto(&self) -> bool {
        self.target.transport == TransportChoice::Auto
    }

    fn streamable<'o>(&self, core: Core<'o>, news: News, may_fall_back: bool) -> Streamable<'o> {
        Streamable::new(core, news, self.endpoint.clone(), self.target.url.clone(), self.limits.clone(), may_fall_back)
    }

    fn legacy<'o>(&self, core: Core<'o>, news: News, may_give_back: bool) -> Legacy<'o> {
        Legacy::new(core, news, self.endpoint.clone(), self.target.url.clone(), self.limits.clone(), may_give_back)
    }
}

/// Returns the session's configuration for a transport. The known revision applies only to the transport it was found
/// with.
fn configured(mut config: SessionConfig, target: &HttpTarget, transport: TransportFound) -> SessionConfig {
    config.carrier = match transport {
        TransportFound::StreamableHttp => Carrier::StreamableHttp,
        TransportFound::HttpSse => Carrier::HttpSse,
    };
    config.known = target.known.filter(|known| known.transport == transport).map(|known| known.revision);
    config
}

/// Ends a session that cannot be opened.
async fn give_up(mut core: Core<'_>, fault: &DeliveryFault) {
    while let Some(outgoing) = core.session.poll_transmit() {
        if let OutgoingKind::Request { id, .. } = &outgoing.about {
            core.session.handle_undelivered(id, fault.clone(), now());
        }
    }
    core.close_session();
    core.tell_rest();
    core.farewell(std::future::ready(())).await;
}
