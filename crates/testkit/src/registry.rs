//! A registry of servers (API version 0.1) on loopback, which lists what a test says. Callers: the tests of `installer`, `api` and `cli`.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::HttpServer;

/// A registry whose entries a test may change.
pub struct TestRegistry {
    /// The entries, the newest version of a server before its others.
    pub entries: Arc<Mutex<Vec<Value>>>,
    /// The server; the registry is gone when this is dropped.
    pub server: HttpServer,
}

impl TestRegistry {
    /// Serves these entries.
    ///
    /// # Panics
    /// If there is no free port.
    pub async fn start(entries: Vec<Value>) -> Self {
        let entries = Arc::new(Mutex::new(entries));
        let listed = Arc::clone(&entries);
        let server = HttpServer::start(move |request, mut answer| {
            let entries = listed.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async move {
                let found = answer_of(&entries, &request.path_alone().replace("%2F", "/"), &request.query());
                match found {
                    Some(found) => answer.json(&found).await,
                    None => answer.whole(404, "content-type: application/json\r\n", b"{}").await,
                }
            }
        });
        Self { entries, server: server.await }
    }
}

fn answer_of(entries: &[Value], path: &str, query: &[(String, String)]) -> Option<Value> {
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

/// A server in version 1.2.0 with a package of npm, which needs a secret, and a remote, which needs a header.
pub fn notes(listing: Value) -> Value {
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

/// What a registry says of a version that is offered.
pub fn active() -> Value {
    json!({ "status": "active", "isLatest": true, "publishedAt": "2026-02-01T00:00:00Z" })
}
