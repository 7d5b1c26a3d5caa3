//! Tests of [`export_server`]: the entry of one server, and what it omits.

use other_apps::{OmittedSetting, SecretPlace, ServerExportFormat, export, export_server, parse_pasted_servers};
use ports::server_config::{AuthConfig, HttpConfig, SandboxConfig, ServerEntry, StdioConfig, ToolFilter};
use serde_json::json;

const KEY: &str = "sk-proj-4eC39HqLyjWDarjtT1zdp7dc";

fn local_server() -> ServerEntry {
    let mut config = StdioConfig {
        command: "npx".to_owned(),
        args: ["acme", "--api-key", KEY].map(str::to_owned).into(),
        cwd: Some("/srv".into()),
        sandbox: Some(SandboxConfig::default()),
        ..StdioConfig::default()
    };
    config.env.insert("API_KEY".to_owned(), "${secret:files.API_KEY}".to_owned());
    config.env.insert("REGION".to_owned(), "eu".to_owned());
    let mut entry = ServerEntry { name: "files".to_owned(), config: config.into() };
    entry.config.tools = ToolFilter { enabled: None, disabled: vec!["delete".to_owned()] };
    entry
}

#[test]
fn exported_server_names_what_it_omits() {
    let server = local_server();
    let most = export_server(&server, ServerExportFormat::McpServers);
    let entry = &most.document["mcpServers"]["files"];
    assert_eq!((&entry["cwd"], &entry["env"]["REGION"]), (&json!("/srv"), &json!("eu")), "{entry}");
    assert_eq!(entry["env"]["API_KEY"], "${FILES_API_KEY}", "a reference replaces the secret");
    assert_eq!(most.omissions.secrets, ["API_KEY"]);
    assert_eq!(most.omissions.settings, [OmittedSetting::Sandbox]);
    assert_eq!(most.omissions.removed, [SecretPlace::Argument { number: 3 }]);
    let note = "a value that looks like a secret was removed from argument 3: enter it yourself".to_owned();
    assert!(most.omissions.entry_notes().contains(&note), "{:?}", most.omissions.entry_notes());
    let code = export_server(&server, ServerExportFormat::VsCode);
    assert_eq!(code.document["inputs"][0]["id"], "files-api-key");
    assert_eq!(code.omissions.settings, [OmittedSetting::Sandbox, OmittedSetting::Tools]);
    for one in [most, code] {
        let all = format!("{one:?}");
        assert!(!all.contains("4eC39") && !all.contains("${secret:"), "the export contains no secret: {all}");
    }
}

#[test]
fn server_that_is_started_by_hand_is_exported_as_such() {
    let mut server = local_server();
    let entry = |server: &ServerEntry, form| export_server(server, form).document;
    let of_most = entry(&server, ServerExportFormat::McpServers);
    assert!(of_most["mcpServers"]["files"].get("autostart").is_none(), "the default is not written: {of_most}");
    server.config.autostart = false;
    let of_most = entry(&server, ServerExportFormat::McpServers);
    assert_eq!(of_most["mcpServers"]["files"]["autostart"], json!(false), "{of_most}");
    let of_code = entry(&server, ServerExportFormat::VsCode);
    assert!(of_code["servers"]["files"].get("autostart").is_none(), "VS Code knows no such key: {of_code}");
    let read = parse_pasted_servers(&of_most.to_string(), &[]).unwrap();
    assert!(!read[0].config.autostart, "it is read back as written");
}

#[test]
fn sign_in_of_a_remote_server_is_omitted() {
    let config = HttpConfig {
        url: "https://a.example/mcp".to_owned(),
        auth: Some(AuthConfig::default()),
        ..HttpConfig::default()
    };
    let server = ServerEntry { name: "far".to_owned(), config: config.into() };
    for form in [ServerExportFormat::McpServers, ServerExportFormat::VsCode] {
        let exported = export_server(&server, form);
        assert_eq!(exported.omissions.settings, [OmittedSetting::SignIn]);
        let all = export(std::slice::from_ref(&server), form);
        assert_eq!(exported.document, all.document, "all servers are exported alike");
    }
}

#[test]
fn omissions_of_several_servers_are_separate() {
    let far = HttpConfig { url: "https://a.example/mcp".to_owned(), ..HttpConfig::default() };
    let second = ServerEntry { name: "second".to_owned(), ..local_server() };
    let servers = [local_server(), ServerEntry { name: "far".to_owned(), config: far.into() }, second];
    for form in [ServerExportFormat::McpServers, ServerExportFormat::VsCode] {
        let exported = export(&servers, form);
        let alone = servers.each_ref().map(|server| export_server(server, form).omissions);
        assert_eq!(exported.omissions, alone, "each server has its own omissions");
        assert_eq!(exported.omissions[1].entry_notes(), Vec::<String>::new(), "nothing of it is omitted");
        assert_eq!(exported.omissions[2].secrets, ["API_KEY"], "the same name in another server is also a secret");
    }
    let notes = export(&servers, ServerExportFormat::McpServers).omissions[0].entry_notes();
    assert_eq!(notes[0], "\"API_KEY\" is replaced by a reference, as a secret");
    assert_eq!(notes.last().map(String::as_str), Some("the format has no place for its sandbox"));
}
