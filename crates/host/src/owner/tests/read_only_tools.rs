//! Tests of the read-only tools that a consent request offers to allow together, with many large tools and with
//! definitions that change while the request is open.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_proto::types::{ListEntry, Tool, ToolAnnotations};
use offers::catalog::ServerCatalog;
use offers::review::DefinitionKind;
use serde_json::{Value, json};

use super::world::{HostFixture, SERVER, poll_once};
use crate::DecisionError;
use crate::connection::ConnectionEvent;
use crate::owner::Owner;
use crate::view::{ConsentRequestBody, UserDecision};

/// Size of the description of a large tool, in bytes.
const LARGE_DESCRIPTION_BYTES: usize = 32 * 1024;
/// Maximum total size of the definitions that the host compares to determine one list of read-only tools, in bytes.
const MAX_COMPARED_BYTES: usize = 256 * 1024;

/// Returns a tool that declares that it only reads, with a description of this size.
fn read_only_tool(name: &str, bytes: usize) -> Tool {
    let hints =
        ToolAnnotations { read_only_hint: Some(true), open_world_hint: Some(false), ..ToolAnnotations::default() };
    Tool {
        name: name.to_owned(),
        description: Some("x".repeat(bytes)),
        input_schema: json!({ "type": "object" }),
        annotations: Some(hints),
        ..Tool::default()
    }
}

fn large_tools(count: usize) -> Vec<Tool> {
    (0..count).map(|number| read_only_tool(&format!("large-{number:03}"), LARGE_DESCRIPTION_BYTES)).collect()
}

/// Delivers a list of these tools, in this order.
pub(super) async fn deliver_tool_list(world: &HostFixture, parts: &[&[Tool]]) {
    let tools: Vec<ListEntry<Tool>> = parts.concat().iter().map(ListEntry::from).collect();
    let catalog = ServerCatalog { tools, is_read: true, ..ServerCatalog::default() };
    world.report(ConnectionEvent::Catalog(Arc::new(catalog))).await;
}

/// Pins tools as the user reviews them.
pub(super) async fn pin_tools(world: &HostFixture, tools: &[Tool]) {
    let reviewed: Vec<(String, Value)> = tools.iter().map(|tool| (tool.name.clone(), json!(tool))).collect();
    let pin = move |owner: &mut Owner| {
        let identity = owner.servers.records[SERVER].offer.identity.clone();
        owner.reviews.change_pins(SERVER, |pins| {
            for (name, definition) in &reviewed {
                assert!(pins.pin(DefinitionKind::Tool, name, definition, identity.as_ref(), 1), "there is room");
            }
        });
        owner.on_reviewed_definitions_changed(SERVER);
    };
    world.host.with_owner(pin).await.unwrap();
}

/// Returns the tools that can be allowed together with a call of `called`.
async fn read_only_tools(world: &HostFixture, called: &Tool) -> Vec<String> {
    let called = called.clone();
    world.host.with_owner(move |owner| owner.read_only_tools(SERVER, &called)).await.unwrap()
}

/// Returns the read-only tools that the only pending consent request offers to allow together.
async fn offered_tools(world: &HostFixture) -> Vec<String> {
    match &world.requests().await[0].body {
        ConsentRequestBody::Tool { read_only, .. } => read_only.clone(),
        other => panic!("it is a call of a tool: {other:?}"),
    }
}

#[tokio::test]
async fn definition_bytes_compared_for_one_request_are_bounded() {
    let world = HostFixture::new().await;
    let (called, tools) = (read_only_tool("called", 1), large_tools(100));
    deliver_tool_list(&world, &[std::slice::from_ref(&called), &tools]).await;
    pin_tools(&world, &tools).await;
    let offered = read_only_tools(&world, &called).await;
    assert!(offered.len() > 1, "some reviewed tools are offered");
    assert!(
        (offered.len() - 1) * LARGE_DESCRIPTION_BYTES <= MAX_COMPARED_BYTES,
        "{} large tools are too many",
        offered.len() - 1
    );
    assert_eq!(read_only_tools(&world, &called).await, offered, "cached definitions do not change the list");
    world.close().await;
}

#[tokio::test]
async fn unreviewed_tools_are_not_compared() {
    let world = HostFixture::new().await;
    let (called, small, tools) = (read_only_tool("called", 1), read_only_tool("small", 1), large_tools(500));
    deliver_tool_list(&world, &[std::slice::from_ref(&called), &tools, std::slice::from_ref(&small)]).await;
    pin_tools(&world, &[small]).await;
    assert_eq!(read_only_tools(&world, &called).await, ["called", "small"], "a reviewed tool at the end is found");
    world.close().await;
}

#[tokio::test]
async fn number_of_offered_read_only_tools_is_bounded() {
    let world = HostFixture::new().await;
    let tools: Vec<Tool> = (0..60).map(|number| read_only_tool(&format!("small-{number:02}"), 1)).collect();
    deliver_tool_list(&world, &[&tools]).await;
    pin_tools(&world, &tools).await;
    let offered = read_only_tools(&world, &tools[0]).await;
    assert_eq!(offered.len(), 32);
    assert_eq!(offered[0], tools[0].name, "the called tool is the first one");
    world.close().await;
}

#[tokio::test]
async fn pending_request_offers_only_tools_that_are_still_eligible() {
    let world = HostFixture::new().await;
    world.log.delays.store(false, Ordering::SeqCst);
    world.documents.release_document_writes();
    let tools = ["called", "first", "second"].map(|name| read_only_tool(name, 1));
    deliver_tool_list(&world, &[&tools]).await;
    pin_tools(&world, &tools[1..]).await;
    let mut call = world.call("call", "called", 0);
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    assert_eq!(offered_tools(&world).await, ["called", "first", "second"]);
    let shown = world.requests().await.remove(0);
    // One of the tools changes.
    deliver_tool_list(&world, &[&[tools[0].clone(), read_only_tool("first", 2), tools[2].clone()]]).await;
    assert_eq!(offered_tools(&world).await, ["called", "second"], "the request is updated");
    let names = |names: &[&str]| UserDecision::AllowReadOnly(names.iter().map(|&name| name.to_owned()).collect());
    let stale = world.decide(&shown, names(&["called", "first", "second"])).await;
    assert_eq!(stale, Err(DecisionError::Stale), "the changed tool is not allowed");
    let request = world.requests().await.remove(0);
    assert_eq!(world.decide(&request, names(&["called", "second"])).await, Ok(()), "the updated list can be allowed");
    drop(call);
    world.close().await;
}

#[tokio::test]
async fn rejected_decision_updates_the_offered_read_only_tools() {
    let world = HostFixture::new().await;
    let tools = ["called", "first", "second"].map(|name| read_only_tool(name, 1));
    deliver_tool_list(&world, &[&tools]).await;
    pin_tools(&world, &tools[1..]).await;
    let mut call = world.call("call", "called", 0);
    assert!(poll_once(&mut call).await.is_none(), "the call requires consent");
    let request = world.requests().await.remove(0);
    let forget = |owner: &mut Owner| {
        owner.reviews.change_pins(SERVER, |pins| pins.tools.remove("first").is_some());
        owner.on_reviewed_definitions_changed(SERVER);
    };
    world.host.with_owner(forget).await.unwrap();
    let all = ["called", "first", "second"].map(str::to_owned).to_vec();
    let decided = world.decide(&request, UserDecision::AllowReadOnly(all)).await;
    assert_eq!(decided, Err(DecisionError::Stale));
    assert_eq!(offered_tools(&world).await, ["called", "second"], "the next decision is about what is eligible now");
    drop(call);
    world.close().await;
}
