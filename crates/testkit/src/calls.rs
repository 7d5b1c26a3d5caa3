//! Tool calls by the user that are not stored in a conversation. Used by tests and benchmarks of the host.

use domain::call::CallFailure;
use host::{CallOrigin, Host};
use mcp_proto::types::CallToolResult;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

/// Result of a tool call together with the sent arguments if the user changed them, or the reason why the call failed.
pub type CallOutcome = Result<(CallToolResult, Option<Map<String, Value>>), CallFailure>;

/// Extension trait of the host that lets tests call tools on behalf of the user.
pub trait UserCalls {
    /// Calls a tool and returns its result, after the user's consent if the policy requires it.
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
        Ok((result, was_sent.try_recv().ok().and_then(|sent| sent.edited)))
    }
}
