//! Tests of commands that import servers from other apps, with the home folders in `tests/import`.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use api::{Api, AppEnvironment, ErrorCode, dispatch};
use host::HostOptions;
use ports::secrets::SecretsInMemory;
use ports::{Document, SecretError, SecretPersistence, Secrets};
use serde_json::{Value, json};
use testkit::app::{TestApp, demo_config};
use testkit::import::import_fixture_path;

use crate::run_command;

fn listed_import_candidate<'v>(listed: &'v Value, app: &str, name: &str) -> &'v Value {
    let app = listed["apps"].as_array().unwrap().iter().find(|one| one["id"] == app).expect("the app should be listed");
    app["servers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == name)
        .unwrap_or_else(|| panic!("no server {name} in {app:#}"))
}

#[tokio::test]
async fn only_selected_servers_are_imported() {
    let app = TestApp::start(Vec::new()).await;
    let api =
        Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(import_fixture_path("homes/linux")));
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    assert!(
        listed["searchedApps"].as_array().unwrap().contains(&json!("Junie")),
        "the searched apps should be listed: {listed}"
    );
    let linear = listed_import_candidate(&listed, "cursor", "linear");
    assert_eq!(
        linear["headers"],
        json!([{ "name": "Authorization", "kind": "secret", "requiresInput": false, "source": null }])
    );
    assert_eq!((&linear["target"], &linear["status"]), (&json!("https://mcp.linear.app/mcp"), &json!("new")));
    assert!(!listed.to_string().contains("lin_api_0123"), "the list should contain no secret");
    let filesystem = listed_import_candidate(&listed, "claude-desktop", "filesystem");
    assert_eq!(filesystem["origins"].as_array().unwrap().len(), 2, "two apps should share one candidate: {filesystem}");

    let before = app.host.snapshot().await.unwrap().servers.len();
    let picked = json!({ "source": {}, "ids": [linear["id"], "0".repeat(64)] });
    let outcomes = run_command(&api, "import_servers", picked).await["outcomes"].clone();
    assert_eq!(outcomes[0]["name"], "linear", "the selected server should be imported: {outcomes}");
    assert!(outcomes[0]["onlyThisRun"].is_string(), "the missing keychain should be reported");
    assert!(
        outcomes[1]["problem"].as_str().unwrap().contains("changed"),
        "an unknown candidate should be a problem: {outcomes}"
    );
    let servers = app.host.snapshot().await.unwrap().servers;
    assert_eq!(servers.len(), before + 1, "no other server should be imported");
    let file = fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    assert!(
        file.contains("${secret:linear.Authorization}") && !file.contains("lin_api"),
        "the file should contain no secret: {file}"
    );
    let again = run_command(&api, "find_import_candidates", json!({ "app": "cursor" })).await;
    assert_eq!(
        listed_import_candidate(&again, "cursor", "linear")["status"],
        "same",
        "the server should be listed as configured"
    );
    assert_eq!(again["apps"].as_array().unwrap().len(), 1, "only the requested app should be listed");
    assert_eq!(again["searchedApps"], json!(["Cursor"]), "only the requested app should be searched");
}

#[tokio::test]
async fn import_candidate_changed_since_listing_is_not_imported() {
    let app = TestApp::start(Vec::new()).await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let write = |command: &str| {
        let text = json!({ "mcpServers": { "one": { "command": command } } }).to_string();
        fs::write(home.path().join(".cursor/mcp.json"), text).unwrap();
    };
    write("harmless");
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    let id = listed_import_candidate(&listed, "cursor", "one")["id"].clone();
    write("harmful");
    let outcomes = run_command(&api, "import_servers", json!({ "source": {}, "ids": [id] })).await;
    assert!(outcomes["outcomes"][0]["problem"].is_string(), "the changed server should be rejected: {outcomes}");
    assert!(
        !fs::read_to_string(app.folder.path().join("mcp.json")).unwrap_or_default().contains("harm"),
        "nothing should be written"
    );
}

#[tokio::test]
async fn disabled_tool_lists_are_stored_with_their_server() {
    let app = TestApp::start(Vec::new()).await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".codeium/windsurf")).unwrap();
    let entry = json!({ "command": "harmless", "disabledTools": ["delete"], "enabledTools": ["re*"] });
    let server = json!({ "mcpServers": { "one": entry } });
    fs::write(home.path().join(".codeium/windsurf/mcp_config.json"), server.to_string()).unwrap();
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    let one = listed_import_candidate(&listed, "windsurf", "one");
    let tools = json!({ "enabled": ["re*"], "disabled": ["delete"] });
    assert_eq!(one["tools"], tools, "the lists are shown");
    let outcomes = run_command(&api, "import_servers", json!({ "source": {}, "ids": [one["id"]] })).await;
    assert_eq!(outcomes["outcomes"][0]["name"], "one", "{outcomes}");
    let written =
        || -> Value { serde_json::from_slice(&fs::read(app.folder.path().join("mcp.json")).unwrap()).unwrap() };
    assert_eq!(written()["mcpServers"]["one"], entry, "the settings contain them");
    assert!(app.host.rules_view().await.unwrap().rules.is_empty(), "no rule is added");

    // An update with or without the optional lists must be accepted.
    let update = async |config: Value| {
        run_command(&api, "update_server", json!({ "server": "one", "name": "one", "config": config })).await;
        written()["mcpServers"]["one"].clone()
    };
    let stored = update(json!({ "type": "stdio", "command": "other" })).await;
    assert_eq!(
        (&stored["command"], &stored["disabledTools"]),
        (&json!("other"), &json!(["delete"])),
        "the lists are kept"
    );
    let open = json!({ "type": "stdio", "command": "other", "tools": { "enabled": null, "disabled": [] } });
    let opened = update(open).await;
    assert_eq!(
        (&opened["enabledTools"], &opened["disabledTools"]),
        (&Value::Null, &json!([])),
        "the lists are cleared"
    );
}

/// Keychain that rejects new secrets while its flag is set.
#[derive(Default)]
struct FullKeychain {
    inner: SecretsInMemory,
    is_full: AtomicBool,
}

impl Secrets for FullKeychain {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        self.inner.get(key)
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretPersistence, SecretError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(SecretError::Failed("it is full".to_owned()));
        }
        self.inner.set(key, secret)
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.inner.delete(key)
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        self.inner.keys(prefix)
    }
}

#[tokio::test]
async fn server_is_removed_if_its_secrets_cannot_be_written() {
    let keychain = Arc::new(FullKeychain::default());
    let app =
        TestApp::start_with_secrets(tempfile::tempdir().unwrap(), Vec::new(), HostOptions::default(), keychain.clone())
            .await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".codeium/windsurf")).unwrap();
    let env = json!({ "API_KEY": "hunter2hunter2" });
    let server = json!({ "mcpServers": { "one": { "command": "x", "env": env, "disabledTools": ["delete"] } } });
    fs::write(home.path().join(".codeium/windsurf/mcp_config.json"), server.to_string()).unwrap();
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let import = async || {
        let listed = run_command(&api, "find_import_candidates", json!({})).await;
        let id = listed_import_candidate(&listed, "windsurf", "one")["id"].clone();
        run_command(&api, "import_servers", json!({ "source": {}, "ids": [id] })).await["outcomes"][0].clone()
    };
    let servers = async || app.host.snapshot().await.unwrap().servers.len();
    let before = servers().await;
    keychain.is_full.store(true, Ordering::SeqCst);
    let failed = import().await;
    assert!(
        failed["problem"].as_str().unwrap().contains("it is full"),
        "the problem should contain the cause: {failed}"
    );
    assert_eq!(servers().await, before, "the server should not remain");
    keychain.is_full.store(false, Ordering::SeqCst);
    assert_eq!(import().await["name"], "one", "the name should be free again");
    assert_eq!(servers().await, before + 1);
}

#[tokio::test]
async fn imported_secret_without_value_is_referenced_but_not_stored() {
    let app = TestApp::start(Vec::new()).await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let headers = json!({ "Authorization": "Bearer ${env:TOKEN}", "X-Team": "red" });
    let auth = json!({ "CLIENT_ID": "9f86d081884c7d659a2feaa0c55ad015", "CLIENT_SECRET": "hunter2hunter2" });
    let server =
        json!({ "mcpServers": { "far": { "url": "https://a.example/mcp", "headers": headers, "auth": auth } } });
    fs::write(home.path().join(".cursor/mcp.json"), server.to_string()).unwrap();
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    let far = listed_import_candidate(&listed, "cursor", "far");
    let sign_in = json!({ "clientId": auth["CLIENT_ID"], "hasSecret": true, "issuer": null, "scopes": [] });
    assert_eq!(far["signIn"], sign_in, "the client identifier is not a secret");
    run_command(&api, "import_servers", json!({ "source": {}, "ids": [far["id"]] })).await;
    let servers = app.host.snapshot().await.unwrap().servers;
    let http = servers[0].config.as_http().unwrap().clone();
    assert_eq!(
        http.headers["Authorization"], "Bearer ${secret:far.Authorization}",
        "the text before the secret should be unchanged"
    );
    assert_eq!(http.headers["X-Team"], "red");
    let auth = http.auth.unwrap();
    assert_eq!(auth.client_secret.as_deref(), Some("${secret:far.client_secret}"));
    let stored_keys = app.host.ports().secrets.keys("far.").unwrap();
    assert_eq!(stored_keys, ["far.client_secret @ https://a.example"], "a pending value should not be in the keychain");
}

#[tokio::test]
async fn only_folders_shared_as_roots_are_read_as_projects() {
    let app = TestApp::start(vec![("demo", demo_config(&[]))]).await;
    let home = tempfile::tempdir().unwrap();
    let project = home.path().canonicalize().unwrap().join("project");
    fs::create_dir_all(project.join(".vscode")).unwrap();
    fs::write(project.join(".mcp.json"), json!({ "mcpServers": { "one": { "command": "x" } } }).to_string()).unwrap();
    fs::write(project.join(".vscode/mcp.json"), json!({ "servers": { "two": { "command": "y" } } }).to_string())
        .unwrap();
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    for (command, request) in [
        ("list_project_files", json!({ "folder": project })),
        ("find_import_candidates", json!({ "project": project })),
        ("import_servers", json!({ "source": { "project": project }, "ids": [] })),
    ] {
        let error = dispatch(&api, command, request)
            .await
            .expect_err("a folder that the user did not select should be rejected");
        assert_eq!(error.code, ErrorCode::NotFound, "{command}: {error}");
    }
    app.host.set_roots("demo".to_owned(), vec![project.clone()]).await.unwrap();
    let files = run_command(&api, "list_project_files", json!({ "folder": project })).await;
    assert_eq!(files["files"], json!([".mcp.json", ".vscode/mcp.json"]));
    let listed = run_command(&api, "find_import_candidates", json!({ "project": project })).await;
    let two = listed_import_candidate(&listed, "vscode", "two");
    assert_eq!(app.host.snapshot().await.unwrap().servers.len(), 1, "no server should be added without a selection");
    let picked = json!({ "source": { "project": project }, "ids": [two["id"]] });
    assert_eq!(run_command(&api, "import_servers", picked).await["outcomes"][0]["name"], "two");
    let both = json!({ "app": "cursor", "project": project });
    let error = dispatch(&api, "find_import_candidates", both).await.expect_err("specifying both should be rejected");
    assert_eq!(error.code, ErrorCode::BadRequest, "{error}");
}

#[tokio::test]
async fn values_are_taken_from_the_environment_only_if_chosen() {
    let app = TestApp::start(Vec::new()).await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let env = json!({ "API_KEY": "${env:SHOP_KEY}", "AREA": "${SHOP_AREA}", "GONE": "${SHOP_GONE}" });
    let server = json!({ "mcpServers": { "one": { "command": "x", "env": env } } });
    fs::write(home.path().join(".cursor/mcp.json"), server.to_string()).unwrap();
    let api = Api::new(app.host.clone())
        .with_app_import_from(AppEnvironment::for_home(home.path().to_owned()))
        .with_environment_variables(|name| match name {
            "SHOP_KEY" => Some("hunter2".to_owned()),
            "SHOP_GONE" => None,
            other => panic!("{other} was not chosen"),
        });
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    let one = listed_import_candidate(&listed, "cursor", "one");
    let source = json!({ "is": "environment", "variables": ["SHOP_KEY"] });
    let key = json!({ "name": "API_KEY", "kind": "reference", "requiresInput": true, "source": source });
    assert_eq!(one["env"][0], key);
    let taken: Vec<Value> = ["API_KEY", "GONE"].map(|name| json!({ "id": one["id"], "name": name })).into();
    let picked = json!({ "source": {}, "ids": [one["id"]], "taken": taken });
    let imported = run_command(&api, "import_servers", picked).await;
    let outcome = &imported["outcomes"][0];
    assert_eq!((&outcome["taken"], &outcome["unset"]), (&json!(["API_KEY"]), &json!(["SHOP_GONE"])), "{imported}");
    assert!(!imported.to_string().contains("hunter2") && !listed.to_string().contains("hunter2"));
    let file = fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
    let settings: Value = serde_json::from_str(&file).unwrap();
    let expected = json!({ "API_KEY": "${secret:one.API_KEY}", "AREA": "${SHOP_AREA}", "GONE": "${SHOP_GONE}" });
    assert_eq!(settings["mcpServers"]["one"]["env"], expected);
    let secrets = &app.host.ports().secrets;
    let keys = secrets.keys("one.").unwrap();
    assert_eq!(keys.len(), 1, "{keys:?}");
    assert_eq!(secrets.get(&keys[0]).unwrap().as_deref(), Some("hunter2"));
}

#[tokio::test]
async fn chosen_workspace_folder_is_part_of_the_imported_server() {
    let app = TestApp::start(Vec::new()).await;
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let server = json!({ "mcpServers": { "one": { "command": "x", "args": ["${workspaceFolder}"] } } });
    fs::write(home.path().join(".cursor/mcp.json"), server.to_string()).unwrap();
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let listed = run_command(&api, "find_import_candidates", json!({})).await;
    assert_eq!(listed["needsWorkspace"], true, "the folder is unknown: {listed}");
    let source = json!({ "workspace": home.path() });
    let listed = run_command(&api, "find_import_candidates", source.clone()).await;
    assert_eq!(listed["needsWorkspace"], false, "{listed}");
    let id = &listed_import_candidate(&listed, "cursor", "one")["id"];
    let without = run_command(&api, "import_servers", json!({ "source": {}, "ids": [id] })).await;
    assert!(without["outcomes"][0]["problem"].is_string(), "the user saw another server: {without}");
    run_command(&api, "import_servers", json!({ "source": source, "ids": [id] })).await;
    let servers = app.host.snapshot().await.unwrap().servers;
    assert_eq!(servers[0].config.as_stdio().unwrap().args, [home.path().to_str().unwrap()]);
    let relative = dispatch(&api, "find_import_candidates", json!({ "workspace": "work" })).await;
    assert_eq!(relative.expect_err("the folder depends on the process").code, ErrorCode::BadRequest);
}

#[tokio::test]
async fn project_is_unseen_until_marked_and_again_when_its_files_change() {
    let app = TestApp::start(vec![("demo", demo_config(&[])), ("other", demo_config(&[]))]).await;
    let home = tempfile::tempdir().unwrap();
    let folder = |name: &str| home.path().canonicalize().unwrap().join(name);
    let (project, empty) = (folder("project"), folder("empty"));
    fs::create_dir(&project).unwrap();
    fs::create_dir(&empty).unwrap();
    let write = |command: &str| {
        let text = json!({ "mcpServers": { "one": { "command": command } } }).to_string();
        fs::write(project.join(".mcp.json"), text).unwrap();
    };
    write("x");
    let api = Api::new(app.host.clone()).with_app_import_from(AppEnvironment::for_home(home.path().to_owned()));
    let unseen = async || run_command(&api, "list_unseen_projects", json!({})).await["projects"].clone();
    assert_eq!(unseen().await, json!([]), "a folder that is not shared is not read");
    for server in ["demo", "other"] {
        app.host.set_roots(server.to_owned(), vec![empty.clone(), project.clone()]).await.unwrap();
    }
    let listed = unseen().await;
    let hash = listed[0]["hash"].clone();
    assert_eq!(listed, json!([{ "folder": project, "files": [".mcp.json"], "count": 1, "hash": hash }]));
    let before = app.host.snapshot().await.unwrap().servers.len();
    let mark = async |hash: &Value| {
        run_command(&api, "mark_project_seen", json!({ "folder": project, "hash": hash })).await;
    };
    mark(&json!("0".repeat(64))).await;
    assert_eq!(unseen().await, listed, "the hash of other content has no effect");
    mark(&hash).await;
    assert_eq!(unseen().await, json!([]), "the user has seen the project");
    write("y");
    let changed = unseen().await;
    assert_ne!(changed[0]["hash"], hash, "the changed file is reported: {changed}");
    assert_eq!(app.host.snapshot().await.unwrap().servers.len(), before, "no server is added");

    mark(&changed[0]["hash"]).await;
    let stored = || app.host.ports().documents.read(Document::Projects).unwrap().unwrap();
    assert_eq!(stored(), json!({ (project.to_str().unwrap()): changed[0]["hash"] }));
    for server in ["demo", "other"] {
        app.host.set_roots(server.to_owned(), vec![empty.clone()]).await.unwrap();
    }
    mark(&hash).await;
    assert_eq!(stored(), json!({}), "folders that are not shared are not stored");
    let without_home = Api::new(app.host.clone());
    assert_eq!(run_command(&without_home, "list_unseen_projects", json!({})).await, json!({ "projects": [] }));
}

#[tokio::test]
async fn server_is_exported_without_secrets() {
    let key = "sk-proj-4eC39HqLyjWDarjtT1zdp7dc";
    let mut config = demo_config(&[]);
    let stdio = config.as_stdio_mut().unwrap();
    stdio.command = "npx".to_owned();
    stdio.env.insert("API_KEY".to_owned(), key.to_owned());
    let app = TestApp::start(vec![("files", config)]).await;
    let api = Api::new(app.host.clone());
    let export =
        async |form: &str| run_command(&api, "export_server", json!({ "server": "files", "form": form })).await;
    for (form, start) in [
        ("mcp_servers", "{"),
        ("vs_code", "{"),
        ("link", "drawbridge://mcp/install?name=files&config="),
        ("link_markdown", "[Add to Drawbridge](drawbridge://mcp/install?name=files&config="),
    ] {
        let exported = export(form).await;
        let text = exported["text"].as_str().unwrap();
        assert!(text.starts_with(start), "{form}: {text}");
        assert_eq!(exported["omissions"]["secrets"], json!(["API_KEY"]), "{form}");
        let imported = other_apps::parse_pasted_servers(text, &[]).unwrap();
        assert_eq!((imported.len(), imported[0].name.as_str()), (1, "files"), "{form} can be imported again");
        assert!(!format!("{exported}{imported:?}").contains("4eC39"), "{form} contains no secret: {exported}");
    }
    let missing = json!({ "server": "absent", "form": "link" });
    let error = dispatch(&api, "export_server", missing).await.expect_err("the server does not exist");
    assert_eq!(error.code, ErrorCode::NotFound, "{error}");
}

#[tokio::test]
async fn import_candidates_fail_without_a_home_folder() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let error = dispatch(&api, "find_import_candidates", json!({}))
        .await
        .expect_err("the command should fail without a home folder");
    assert_eq!(error.code, ErrorCode::NotFound, "{error}");
}
