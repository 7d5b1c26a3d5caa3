//! Tests of sampling requests of the page, and of the results that it receives.

use mcp_apps::{HostResponse, HostResponseError, SamplingResultProblem, ViewFaultKind};
use mcp_proto::types::CreateMessageResult;
use serde_json::{Value, json};

use super::page::{TestPage, to_json_map};

fn sampling_params(members: Value) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Which card is next?" } });
    let mut params = to_json_map(json!({ "messages": [message], "maxTokens": 50 }));
    params.extend(to_json_map(members));
    Value::Object(params)
}

fn sampling_result(content: Value) -> Box<CreateMessageResult> {
    let result = json!({ "role": "assistant", "content": content, "model": "m", "stopReason": "endTurn" });
    Box::new(serde_json::from_value(result).unwrap())
}

#[test]
fn invalid_sampling_requests_are_refused() {
    let mut page = TestPage::ready();
    let tool = json!({ "name": "move", "inputSchema": { "type": "object" } });
    let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
    let use_of_tool = json!({ "type": "tool_use", "id": "1", "name": "move", "input": {} });
    for members in [
        json!({ "messages": 5 }),
        json!({ "maxTokens": "many" }),
        json!({ "messages": [{ "role": "system", "content": { "type": "text", "text": "a" } }] }),
        json!({ "messages": [{ "role": "user", "content": link }] }),
        json!({ "messages": [{ "role": "assistant", "content": use_of_tool }], "tools": [tool] }),
        json!({ "tools": [tool, tool] }),
        json!({ "tools": [tool], "toolChoice": { "mode": "sometimes" } }),
    ] {
        let response = page.request("sampling/createMessage", sampling_params(members.clone()));
        assert_eq!(response["error"]["code"], json!(-32602), "{members}");
    }
    assert_eq!(page.fault_kinds(), [ViewFaultKind::InvalidContent; 7]);
    assert_eq!(page.requests, []);
}

#[test]
fn sampling_result_without_tools_is_a_single_block() {
    let mut page = TestPage::ready();
    page.request("sampling/createMessage", sampling_params(json!({})));
    let (id, _) = page.only_request();
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": "YQ==", "mimeType": "image/png" });
    let unrequested = json!([{ "type": "tool_use", "id": "1", "name": "move", "input": {} }]);
    for (content, problem) in [
        (json!([]), SamplingResultProblem::Empty),
        (json!([text("a"), image]), SamplingResultProblem::SeveralBlocks),
        (unrequested, SamplingResultProblem::Tool),
        (json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }), SamplingResultProblem::Content),
    ] {
        let refused = page.view.respond(id, HostResponse::Sampling(sampling_result(content)));
        assert_eq!(refused, Err(HostResponseError::InvalidResult(problem)), "the request should keep waiting");
    }
    let other_kind = page.view.respond(id, HostResponse::Result(to_json_map(json!({ "content": [] }))));
    assert_eq!(other_kind, Err(HostResponseError::WrongKind), "a result without its type should not be sent");
    let result = sampling_result(json!([text("Paint"), text("the buoy")]));
    page.view.respond(id, HostResponse::Sampling(result)).unwrap();
    page.drain_view_outputs();
    let expected =
        json!({ "role": "assistant", "content": text("Paint\n\nthe buoy"), "model": "m", "stopReason": "endTurn" });
    assert_eq!(page.response_to(page.last_request_id())["result"], expected);
}

#[test]
fn sampling_result_may_use_the_tools_of_its_request() {
    let mut page = TestPage::ready();
    let tool = json!({ "name": "move", "inputSchema": { "type": "object" } });
    page.request("sampling/createMessage", sampling_params(json!({ "tools": [tool] })));
    let (id, _) = page.only_request();
    let tool_use = |name: &str| json!({ "type": "tool_use", "id": "1", "name": name, "input": {} });
    let content = |name: &str| json!([{ "type": "text", "text": "a" }, tool_use(name)]);
    let other = page.view.respond(id, HostResponse::Sampling(sampling_result(content("delete"))));
    assert_eq!(other, Err(HostResponseError::InvalidResult(SamplingResultProblem::Tool)));
    page.view.respond(id, HostResponse::Sampling(sampling_result(content("move")))).unwrap();
    page.drain_view_outputs();
    assert_eq!(page.response_to(page.last_request_id())["result"]["content"], content("move"));
}

#[test]
fn refused_sampling_request_gets_the_error_code_of_mcp() {
    let mut page = TestPage::ready();
    page.request("sampling/createMessage", sampling_params(json!({})));
    let (id, _) = page.only_request();
    page.view.respond(id, HostResponse::Refused("the user rejected the request".into())).unwrap();
    page.drain_view_outputs();
    let error = json!({ "code": -1, "message": "the user rejected the request" });
    assert_eq!(page.response_to(page.last_request_id())["error"], error);
}
