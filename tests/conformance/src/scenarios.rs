//! Steps of the client in each scenario.

use host::skills::SkillError;
use offers::skills::SkillFiles;
use serde_json::{Map, Value, json};

use crate::client::Client;

/// Performs the steps of a scenario with a connected client.
pub(crate) async fn perform(client: &Client, scenario: &str, context: &Value) -> Result<(), String> {
    match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => Ok(()),
        "tools_call" => client.call("add_numbers", object(json!({ "a": 5, "b": 3 }))).await,
        "elicitation-sep1034-client-defaults" | "sse-retry" | "http-invalid-tool-headers" => every_tool(client).await,
        "http-standard-headers" => everything(client).await,
        "http-custom-headers" => given_calls(client, context).await,
        "sep-2322-client-request-state" => all_at_once(client).await,
        "json-schema-2020-12-preservation" => echoed_schema(client).await,
        "sep-2640-client-no-prefetch" => client.skills().await.map(|_| ()),
        skills if skills.starts_with("sep-2640-client-verify-") => every_skill(client).await,
        sign_in if sign_in.starts_with("auth/") => every_tool(client).await,
        other => Err(format!("nothing is known to do for the scenario {other}")),
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Calls every allowed tool, without arguments.
async fn every_tool(client: &Client) -> Result<(), String> {
    let catalog = client.catalog().await?;
    for tool in &catalog.tools {
        client.call(tool.name(), Map::new()).await?;
    }
    if catalog.tools.is_empty() { Err("no tool is left to call".to_owned()) } else { Ok(()) }
}

/// Calls every tool, reads every resource and gets every prompt once.
async fn everything(client: &Client) -> Result<(), String> {
    every_tool(client).await?;
    let catalog = client.catalog().await?;
    for resource in &catalog.resources {
        client.read(resource.name()).await?;
    }
    for prompt in &catalog.prompts {
        client.get_prompt(prompt.name()).await?;
    }
    Ok(())
}

/// Makes the calls that the suite specifies.
async fn given_calls(client: &Client, context: &Value) -> Result<(), String> {
    let calls = context["toolCalls"].as_array().filter(|calls| !calls.is_empty()).ok_or("no calls were given")?;
    for call in calls {
        let name = call["name"].as_str().ok_or("a call without a name")?;
        client.call(name, object(call["arguments"].clone())).await?;
    }
    Ok(())
}

/// Calls every tool concurrently, to check that responses are not mixed up.
async fn all_at_once(client: &Client) -> Result<(), String> {
    let [echo, plain, unrelated, untyped] =
        ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"]
            .map(|tool| client.call(tool, Map::new()));
    let (echo, plain, unrelated, untyped) = tokio::join!(echo, plain, unrelated, untyped);
    echo.and(plain).and(unrelated).and(untyped)
}

/// Sends the schema of a tool back, in the form in which the host has parsed it: `[tools-schema-keywords]`.
async fn echoed_schema(client: &Client) -> Result<(), String> {
    let catalog = client.catalog().await?;
    let tool = catalog.tool("json_schema_2020_12_tool").ok_or("the tool with the schema is missing")?;
    client.call("json_schema_echo", object(json!({ "schema": tool.input_schema }))).await
}

/// Reads every skill and its files. Ignores a skill that differs from its list entry.
async fn every_skill(client: &Client) -> Result<(), String> {
    for skill in client.skills().await?.skills {
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
