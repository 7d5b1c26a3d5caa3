//! MCP registry (API version 0.1) on loopback with scripted entries. Used by the tests of `installer`, `api` and `cli`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::HttpServer;

/// MCP registry on loopback whose entries a test can change.
pub struct TestRegistry {
    /// Entries of the registry. The newest version of a server must precede its other versions.
    pub entries: Arc<Mutex<Vec<Value>>>,
    /// Further files that the server provides, by path, such as `/notes.mcpb`.
    pub files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// HTTP server of the registry. The server stops when this value is dropped.
    pub server: HttpServer,
}

impl TestRegistry {
    /// Starts a registry with these entries.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn start(entries: Vec<Value>) -> Self {
        let entries = Arc::new(Mutex::new(entries));
        let files: Arc<Mutex<BTreeMap<String, Vec<u8>>>> = Arc::default();
        let (listed, given) = (Arc::clone(&entries), Arc::clone(&files));
        let server = HttpServer::start(move |request, mut answer| {
            let file = given.lock().unwrap_or_else(PoisonError::into_inner).get(request.path_without_query()).cloned();
            let entries = listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async move {
                if let Some(file) = file {
                    return answer.respond(200, "content-type: application/octet-stream\r\n", &file).await;
                }
                let found = find_registry_response(
                    &entries,
                    &request.path_without_query().replace("%2F", "/"),
                    &request.query(),
                );
                match found {
                    Some(found) => answer.json(&found).await,
                    None => answer.respond(404, "content-type: application/json\r\n", b"{}").await,
                }
            }
        });
        Self { entries, files, server: server.await }
    }
}

fn find_registry_response(entries: &[Value], path: &str, query: &[(String, String)]) -> Option<Value> {
    let name = |entry: &Value| entry["server"]["name"].as_str().unwrap_or_default().to_owned();
    let page = |found: Vec<&Value>| json!({ "servers": found, "metadata": { "count": found.len() } });
    if path == "/v0.1/servers" {
        let text = query.iter().find(|(name, _)| name == "search").map(|(_, text)| text.as_str()).unwrap_or_default();
        return Some(page(entries.iter().filter(|entry| name(entry).contains(text)).collect()));
    }
    let (server, version) = path.strip_prefix("/v0.1/servers/")?.split_once("/versions")?;
    let mut of_server = entries.iter().filter(|entry| name(entry) == server);
    match version.strip_prefix('/') {
        None => Some(page(of_server.collect())).filter(|page| page["metadata"]["count"] != 0),
        Some("latest") => of_server.next().cloned(),
        Some(version) => of_server.find(|entry| entry["server"]["version"] == version).cloned(),
    }
}

/// Returns a registry entry with this version, whose bundle is at this URL and has this hash.
pub fn bundle_registry_entry(version: &str, url: &str, sha256: &str) -> Value {
    json!({
        "server": {
            "name": "io.github.alice/demo", "version": version, "description": "Adds numbers",
            "packages": [{ "registryType": "mcpb", "identifier": url, "fileSha256": sha256, "transport": { "type": "stdio" } }],
        },
        "_meta": { "io.modelcontextprotocol.registry/official": active_registry_metadata() },
    })
}

/// Returns a registry entry in version 1.2.0 with an npm package that requires a secret, and with a remote that
/// requires a header. `listing` is the registry's metadata of the entry.
pub fn notes_registry_entry(listing: Value) -> Value {
    json!({
        "server": {
            "name": "io.github.alice/notes", "version": "1.2.0", "description": "Keeps \u{1b}[31mnotes",
            "packages": [{
                "registryType": "npm", "identifier": "@alice/notes", "version": "1.2.0", "transport": { "type": "stdio" },
                "environmentVariables": [{ "name": "NOTES_KEY", "description": "From your account", "isRequired": true, "isSecret": true }],
            }],
            "remotes": [{
                "type": "streamable-http", "url": "https://notes.example/mcp",
                "headers": [{ "name": "X-Team", "description": "Your team", "isRequired": true }],
            }],
        },
        "_meta": { "io.modelcontextprotocol.registry/official": listing },
    })
}

/// Returns the registry's metadata for a version with the status `active`.
pub fn active_registry_metadata() -> Value {
    json!({ "status": "active", "isLatest": true, "publishedAt": "2026-02-01T00:00:00Z" })
}
