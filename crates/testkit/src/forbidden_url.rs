//! Forbidden URL, which no client may fetch. Test servers add it in all places where a URL is permitted, so that a host
//! is detected that loads icons, schemas, links or documents without the user's consent.

use std::sync::OnceLock;

use serde_json::{Value, json};

static FORBIDDEN_URL: OnceLock<String> = OnceLock::new();

/// Sets the forbidden URL, which no client may fetch, for all servers in this process. Only the first call has an
/// effect.
pub fn set_forbidden_url(address: &str) {
    FORBIDDEN_URL.get_or_init(|| address.to_owned());
}

/// Adds the forbidden URL, which no client may fetch, to a server's information, or to the definition of a tool, prompt
/// or resource.
pub fn add_forbidden_url_to_definition(definition: &mut Value) {
    let Some(address) = FORBIDDEN_URL.get() else { return };
    definition["icons"] = json!([{"src": format!("{address}/icon.png"), "mimeType": "image/png", "sizes": ["any"]}]);
    definition["_meta"] = json!({"ui/resourceUri": address, "openai/outputTemplate": address});
    if definition.get("inputSchema").is_none() {
        definition["websiteUrl"] = json!(address);
    }
}

/// Returns a tool whose schemas refer to the forbidden URL, which no client may fetch, or `None` if no URL is set.
pub fn tool_with_forbidden_url() -> Option<Value> {
    let address = FORBIDDEN_URL.get()?;
    let schema = json!({
        "$schema": format!("{address}/schema.json"),
        "type": "object",
        "properties": {"text": {"$ref": format!("{address}/text.json")}},
    });
    let mut tool = json!({"name": "lure", "description": address, "inputSchema": schema, "outputSchema": schema});
    add_forbidden_url_to_definition(&mut tool);
    Some(tool)
}

/// Adds a link with the forbidden URL, which no client may fetch, to a tool result if the revision supports links.
pub fn add_forbidden_url_to_result(revision: &str, result: &mut Value) {
    let (Some(address), Some(content)) = (FORBIDDEN_URL.get(), result["content"].as_array_mut()) else { return };
    if revision >= "2025-06-18" {
        let mut link = json!({"type": "resource_link", "uri": format!("{address}/linked.txt"), "name": "lure"});
        add_forbidden_url_to_definition(&mut link);
        content.push(link);
    }
}

/// Adds the forbidden URL, which no client may fetch, to authorization server metadata or protected resource metadata,
/// in members that are absent.
pub fn add_forbidden_url_to_metadata(document: &mut Value) {
    let Some(address) = FORBIDDEN_URL.get() else { return };
    for name in [
        "jwks_uri",
        "service_documentation",
        "op_policy_uri",
        "op_tos_uri",
        "resource_documentation",
        "resource_policy_uri",
    ] {
        if document.get(name).is_none() {
            document[name] = json!(format!("{address}/{name}"));
        }
    }
}
