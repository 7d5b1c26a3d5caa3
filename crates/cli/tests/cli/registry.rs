//! Registries, served on this computer: searching them, and showing servers, also without a network.

use serde_json::{Value, json};
use testkit::http::HttpServer;
use tokio::runtime::Runtime;

use crate::program::{Ended, Folder};

/// A registry that lists these entries.
pub(crate) struct Listed {
    server: HttpServer,
    _runtime: Runtime,
}

impl Listed {
    pub(crate) fn of(entries: Vec<Value>) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(HttpServer::start(move |request, mut answer| {
            let entries = entries.clone();
            async move {
                let path = request.path_alone().replace("%2F", "/");
                let of_name = |entry: &&Value| {
                    let name = entry["server"]["name"].as_str().unwrap();
                    let version = entry["server"]["version"].as_str().unwrap();
                    let versions = format!("/v0.1/servers/{name}/versions");
                    path == format!("{versions}/{version}") || path == format!("{versions}/latest")
                };
                match entries.iter().find(of_name) {
                    Some(entry) => answer.json(entry).await,
                    None if path == "/v0.1/servers" => {
                        let text = request.query().into_iter().find(|(name, _)| name == "search").unwrap().1;
                        let name = |entry: &&Value| entry["server"]["name"].as_str().unwrap().contains(&text);
                        let found: Vec<&Value> = entries.iter().filter(name).collect();
                        answer.json(&json!({ "servers": found, "metadata": { "count": found.len() } })).await
                    }
                    None => answer.whole(404, "content-type: application/json\r\n", b"{}").await,
                }
            }
        }));
        Self { server, _runtime: runtime }
    }

    pub(crate) fn run(&self, folder: &Folder, arguments: &[&str]) -> Ended {
        self.run_with_input(folder, arguments, "")
    }

    pub(crate) fn run_with_input(&self, folder: &Folder, arguments: &[&str], input: &str) -> Ended {
        let address = self.server.url("");
        let mut arguments = arguments.to_vec();
        arguments.extend(["--registry", &address]);
        folder.run_with_input(&arguments, input)
    }
}

/// A server with a package of npm and a remote.
pub(crate) fn notes(status: Value) -> Value {
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
        "_meta": { "io.modelcontextprotocol.registry/official": status },
    })
}

pub(crate) fn active() -> Value {
    json!({ "status": "active", "isLatest": true, "publishedAt": "2026-02-01T00:00:00Z" })
}

#[test]
fn a_server_is_found_and_kept_for_when_the_registry_is_gone() {
    let folder = Folder::with_config("{}");
    let deprecated = json!({ "status": "deprecated", "statusMessage": "Use another", "isLatest": true });
    let listed = Listed::of(vec![notes(deprecated)]);
    let ended = listed.run(&folder, &["registry", "search", "notes"]);
    let found = &ended.value()["servers"][0];
    assert_eq!((&found["name"], &found["version"]), (&json!("io.github.alice/notes"), &json!("1.2.0")));
    assert_eq!((&found["status"], &found["statusMessage"]), (&json!("deprecated"), &json!("Use another")));
    assert!(found["publisher"].as_str().unwrap().starts_with("the GitHub account alice"), "who: {found}");
    assert_eq!(ended.value()["fromCache"], false);
    assert_eq!(listed.run(&folder, &["registry", "search", "absent"]).value()["servers"], json!([]), "nothing else");
    let ended = listed.run(&folder, &["registry", "show", "io.github.alice/absent"]);
    assert_eq!(ended.error(1).0, "not_found", "{ended:?}");

    let address = listed.server.url("");
    drop(listed);
    let search = |text: &str| folder.run_with_input(&["registry", "search", text, "--registry", &address], "");
    let kept = search("notes");
    assert_eq!(kept.value()["fromCache"], true, "what is fresh is not asked again: {kept:?}");
    let kept = search("note");
    assert!(kept.value()["offline"].is_string(), "that the registry is gone is told: {kept:?}");
    assert_eq!(kept.value()["servers"][0]["name"], "io.github.alice/notes", "what is kept is searched");
}

#[test]
fn the_exact_command_and_address_of_a_server_are_shown() {
    let folder = Folder::with_config("{}");
    let listed = Listed::of(vec![notes(active())]);
    let ended = listed.run(&folder, &["registry", "show", "io.github.alice/notes@1.2.0"]);
    let plan = &ended.value()["packages"][0]["plan"];
    assert_eq!((&plan["command"], &plan["args"]), (&json!("npx"), &json!(["-y", "@alice/notes@1.2.0"])));
    assert_eq!(plan["inputs"][0]["description"], "From your account", "what is to be filled in");
    assert_eq!(ended.value()["remotes"][0]["plan"]["url"], "https://notes.example/mcp");
    let mut command = folder.command();
    command.env("XDG_CACHE_HOME", folder.path("cache")).args(["registry", "show", "io.github.alice/notes"]);
    let output = command.args(["--registry", &listed.server.url("")]).output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    for part in ["argument    @alice/notes@1.2.0\n", "header      X-Team: ⟨X-Team⟩\n", "answered just now"] {
        assert!(words.contains(part), "{part:?} is told to people: {words}");
    }
    assert!(!words.contains('\u{1b}'), "X11: nothing acts on a terminal: {words:?}");
}

#[test]
fn a_registry_that_others_can_read_along_is_refused() {
    let folder = Folder::with_config("{}");
    let ended = folder.run_with_input(&["registry", "search", "a", "--registry", "http://registry.example"], "");
    assert!(ended.error(2).1.contains("not encrypted"), "{ended:?}");
}
