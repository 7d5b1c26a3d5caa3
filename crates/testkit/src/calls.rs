//! Tool calls by the user without a record in the history. Callers: tests and measurements of the host.

use domain::call::CallFailure;
use host::{CallOrigin, Host};
use mcp_proto::types::CallToolResult;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

/// Result of a tool call, with the sent arguments if the user changed them.
pub type CallOutcome = Result<(CallToolResult, Option<Map<String, Value>>), CallFailure>;

/// Calls tools of a host on behalf of the user.
pub trait UserCalls {
    /// Calls a tool, after a consent request if one is required.
    fn call_tool(
        &self,
        id: String,
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        conversation: Option<String>,
    ) -> impl Future<Output = CallOutcome> + Send;
}

impl UserCalls for Host {
    async fn call_tool(
        &self,
        id: String,
        server: String,
        tool: String,
        arguments: Map<String, Value>,
        conversation: Option<String>,
    ) -> CallOutcome {
        let (sent, mut was_sent) = oneshot::channel();
        let result = self.call_tool_as(CallOrigin::User { conversation }, id, server, tool, arguments, sent).await?;
        Ok((result, was_sent.try_recv().ok().flatten()))
    }
}
