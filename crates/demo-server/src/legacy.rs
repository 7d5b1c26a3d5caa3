//! A variant of the server that does not know `server/discover`, as servers of older revisions.
//!
//! The SDK has no option for this: even if only older revisions are configured, it responds to the probe with
//! "unsupported protocol version". Real servers of older revisions respond with "method not found".

use std::borrow::Cow;

use rmcp::model::{
    ClientNotification, ClientRequest, DiscoverRequestMethod, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};

use crate::server::DemoServer;

/// The demo server without support for `server/discover`.
pub(crate) struct LegacyDemoServer(pub(crate) DemoServer);

impl Service<RoleServer> for LegacyDemoServer {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        if matches!(request, ClientRequest::DiscoverRequest(_)) {
            return Err(ErrorData::method_not_found::<DiscoverRequestMethod>());
        }
        Service::handle_request(&self.0, request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
