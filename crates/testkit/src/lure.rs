//! An address that nobody may fetch, named wherever a server may name one: a host that looks by itself at icons, schemas, links
//! or documents goes there.

use std::sync::OnceLock;

use serde_json::{Value, json};

static ADDRESS: OnceLock<String> = OnceLock::new();

/// From now on the servers of this process name it; the first one stays.
pub fn set(address: &str) {
    ADDRESS.get_or_init(|| address.to_owned());
}

/// Puts it into what a server says of itself, or into the definition of a tool, prompt or resource.
pub fn in_definition(definition: &mut Value) {
    let Some(address) = ADDRESS.get() else { return };
    definition["icons"] = json!([{"src": format!("{address}/icon.png"), "mimeType": "image/png", "sizes": ["any"]}]);
    definition["_meta"] = json!({"ui/resourceUri": address, "openai/outputTemplate": address});
    if definition.get("inputSchema").is_none() {
        definition["websiteUrl"] = json!(address);
    }
}

/// A tool whose schemas stand there; none if there is no address.
pub fn tool() -> Option<Value> {
    let address = ADDRESS.get()?;
    let schema = json!({
        "$schema": format!("{address}/schema.json"),
        "type": "object",
        "properties": {"text": {"$ref": format!("{address}/text.json")}},
    });
    let mut tool = json!({"name": "lure", "description": address, "inputSchema": schema, "outputSchema": schema});
    in_definition(&mut tool);
    Some(tool)
}

/// Adds a link to the result of a tool, for revisions that know such links.
pub fn in_result(revision: &str, result: &mut Value) {
    let (Some(address), Some(content)) = (ADDRESS.get(), result["content"].as_array_mut()) else { return };
    if revision >= "2025-06-18" {
        let mut link = json!({"type": "resource_link", "uri": format!("{address}/linked.txt"), "name": "lure"});
        in_definition(&mut link);
        content.push(link);
    }
}

/// Puts it into the metadata of an authorization server or of what it protects, where nothing is named that is needed.
pub fn in_metadata(document: &mut Value) {
    let Some(address) = ADDRESS.get() else { return };
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
