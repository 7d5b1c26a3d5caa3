//! Steps of the client in each scenario.

use chat::skills::SkillError;
use offers::skills::SkillFiles;
use serde_json::{Map, Value, json};

use crate::client::ConformanceClient;

/// Performs the steps of a conformance scenario with a client that is connected to the suite's server.
pub(crate) async fn run_scenario(client: &ConformanceClient, scenario: &str, context: &Value) -> Result<(), String> {
    match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Ok(()),
        "tools_call" => client.call_tool("add_numbers", into_object(json!({ "a": 5, "b": 3 }))).await,
        "elicitation-sep1034-client-defaults" | "sse-retry" | "http-invalid-tool-headers" => {
            call_every_tool(client).await
        }
        "http-standard-headers" => use_every_feature(client).await,
        "http-custom-headers" => make_specified_calls(client, context).await,
        "sep-2322-client-request-state" => call_round_trip_tools_concurrently(client).await,
        "json-schema-2020-12-preservation" => echo_tool_schema(client).await,
        "sep-2640-client-no-prefetch" => client.list_skills().await.map(|_| ()),
        skills if skills.starts_with("sep-2640-client-verify-") => load_every_skill(client).await,
        sign_in if sign_in.starts_with("auth/") => call_every_tool(client).await,
        other => Err(format!("nothing is known to do for the scenario {other}")),
    }
}

fn into_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Calls every listed tool without arguments, and returns an error if none is listed.
async fn call_every_tool(client: &ConformanceClient) -> Result<(), String> {
    let catalog = client.catalog().await?;
    for tool in &catalog.tools {
        client.call_tool(tool.name(), Map::new()).await?;
    }
    if catalog.tools.is_empty() { Err("no tool is left to call".to_owned()) } else { Ok(()) }
}

/// Calls every tool, reads every resource and gets every prompt once.
async fn use_every_feature(client: &ConformanceClient) -> Result<(), String> {
    call_every_tool(client).await?;
    let catalog = client.catalog().await?;
    for resource in &catalog.resources {
        client.read_resource(resource.name()).await?;
    }
    for prompt in &catalog.prompts {
        client.get_prompt(prompt.name()).await?;
    }
    Ok(())
}

/// Makes the tool calls that the suite lists in `context`.
async fn make_specified_calls(client: &ConformanceClient, context: &Value) -> Result<(), String> {
    let calls = context["toolCalls"].as_array().filter(|calls| !calls.is_empty()).ok_or("no calls were given")?;
    for call in calls {
        let name = call["name"].as_str().ok_or("a call without a name")?;
        client.call_tool(name, into_object(call["arguments"].clone())).await?;
    }
    Ok(())
}

/// Calls four tools that request input in their results (multi-round-trip requests) at the same time, so that the suite
/// can check that they are not mixed up.
async fn call_round_trip_tools_concurrently(client: &ConformanceClient) -> Result<(), String> {
    let [echo, plain, unrelated, untyped] =
        ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"]
            .map(|tool| client.call_tool(tool, Map::new()));
    let (echo, plain, unrelated, untyped) = tokio::join!(echo, plain, unrelated, untyped);
    echo.and(plain).and(unrelated).and(untyped)
}

/// Sends the input schema of a tool back to the suite, as the host has parsed it. Covers the MCP requirement
/// `[tools-schema-keywords]`.
async fn echo_tool_schema(client: &ConformanceClient) -> Result<(), String> {
    let catalog = client.catalog().await?;
    let tool = catalog.tool("json_schema_2020_12_tool").ok_or("the tool with the schema is missing")?;
    client.call_tool("json_schema_echo", into_object(json!({ "schema": tool.input_schema }))).await
}

/// Reads every skill and its files. A skill whose files differ from its list entry is skipped.
async fn load_every_skill(client: &ConformanceClient) -> Result<(), String> {
    for skill in client.list_skills().await?.skills {
        let loaded = match client.load_skill(skill).await {
            Ok(loaded) => loaded,
            Err(SkillError::Mismatch { .. }) => continue,
            Err(error) => return Err(error.to_string()),
        };
        let SkillFiles::Listed(files) = &loaded.skill.files else { continue };
        for file in files {
            client.read_skill_file(&loaded, &file.uri).await.map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}
