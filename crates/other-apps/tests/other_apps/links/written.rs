//! Links that Drawbridge writes are parsed as the same servers again.

use std::collections::BTreeMap;

use other_apps::{InstallLink, LinkTarget, install_link, parse_pasted_servers};
use ports::server_config::{HttpConfig, ServerConfig, ServerEntry, StdioConfig};

use super::describe_server;

const APPS: [LinkTarget; 3] = [LinkTarget::Drawbridge, LinkTarget::Cursor, LinkTarget::VsCode];

fn local_config(command: &str, args: &[&str], env: &[(&str, &str)]) -> ServerConfig {
    StdioConfig {
        command: command.into(),
        args: args.iter().map(|word| (*word).to_owned()).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..StdioConfig::default()
    }
    .into()
}

fn remote_config(url: &str, headers: &[(&str, &str)]) -> ServerConfig {
    let headers: BTreeMap<String, String> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    HttpConfig { url: url.into(), headers, ..HttpConfig::default() }.into()
}

fn write_link(name: &str, config: ServerConfig, app: LinkTarget) -> InstallLink {
    install_link(&ServerEntry { name: name.into(), config }, app).unwrap_or_else(|problem| panic!("{name}: {problem}"))
}

#[test]
fn written_link_parses_to_the_same_server() {
    let servers = [
        (
            local_config("npx", &["-y", "@acme/files", "ü ?&#()'\"\\", ""], &[("REGION", "eu west")]),
            r#"a: npx -y @acme/files 'ü ?&#()'\''"\' '' {"REGION":"eu west"}"#,
        ),
        (local_config("acme", &[], &[]), "a: acme {}"),
        (local_config("C:\\Program Files\\acme.exe", &["x"], &[]), "a: 'C:\\Program Files\\acme.exe' x {}"),
    ];
    for (config, words) in servers {
        for app in APPS {
            let written = write_link("a", config.clone(), app);
            for text in [Some(&written.link), written.web.as_ref(), Some(&written.markdown())].into_iter().flatten() {
                let found = parse_pasted_servers(text, &[]).unwrap_or_else(|problem| panic!("{text}: {problem}"));
                assert_eq!(found.iter().map(describe_server).collect::<Vec<_>>(), [words], "for {app:?}: {text}");
            }
        }
    }
    let far = remote_config("https://mcp.example.com/mcp?team=red", &[("X-Team", "red")]);
    let words = APPS
        .map(|app| describe_server(&parse_pasted_servers(&write_link("a", far.clone(), app).link, &[]).unwrap()[0]));
    let same = "https://mcp.example.com/mcp?team=red {\"X-Team\":\"red\"}";
    assert_eq!(
        words,
        [format!("a: {same}"), format!("a: {same}"), format!("a: http {same}")],
        "VS Code needs a transport"
    );
}

#[test]
fn link_contains_no_secret() {
    let key = "sk-proj-4eC39HqLyjWDarjtT1zdp7dc";
    let configs = [
        local_config(
            "npx",
            &["acme", "--api-key", key],
            &[("API_KEY", key), ("PLAIN", key), ("KEPT", "${secret:a.KEPT}"), ("REGION", "eu")],
        ),
        remote_config(
            &format!("https://mcp.example.com/mcp?api_key={key}"),
            &[("Authorization", &format!("Bearer {key}")), ("X-Kept", "Token ${secret:a.X}")],
        ),
    ];
    for config in configs {
        for app in APPS {
            let written = write_link("a", config.clone(), app);
            let read = parse_pasted_servers(&written.link, &[]).unwrap();
            let all = format!("{written:?}{}{}", written.markdown(), describe_server(&read[0]));
            assert!(
                !all.contains("4eC39") && !all.contains("secret:"),
                "the link for {app:?} contains no secret: {all}"
            );
        }
    }
}

#[test]
fn omitted_secrets_are_noted() {
    let config = local_config("npx", &["acme"], &[("API_KEY", "${secret:a.API_KEY}"), ("REGION", "eu")]);
    let written = write_link("a", config.clone(), LinkTarget::Drawbridge);
    assert_eq!(written.omissions.secrets, ["API_KEY"]);
    assert_eq!(
        written.omissions.link_notes(),
        ["\"API_KEY\" is left blank, as a secret"],
        "the note names the variable"
    );
    let read = parse_pasted_servers(&written.link, &[]).unwrap().remove(0);
    assert_eq!(read.config.as_stdio().unwrap().env["API_KEY"], "", "the value is blank");
    assert_eq!(read.secrets, ["API_KEY"], "the entered value is stored in the keychain");
    let imported = parse_pasted_servers(&write_link("a", config, LinkTarget::VsCode).link, &[]).unwrap().remove(0);
    assert_eq!(imported.config.as_stdio().unwrap().env["API_KEY"], "${input:a-api-key}", "VS Code asks for it");
    let header = remote_config("https://a.example", &[("Authorization", "Bearer ${secret:a.Authorization}")]);
    let read = parse_pasted_servers(&write_link("a", header, LinkTarget::Cursor).link, &[]).unwrap().remove(0);
    assert_eq!(
        read.config.as_http().unwrap().headers["Authorization"],
        "Bearer <Authorization>",
        "text before the secret stays"
    );
}

#[test]
fn omitted_settings_are_noted() {
    let mut config = local_config("/home/ann/acme", &["~/notes", "-v"], &[]);
    config.as_stdio_mut().unwrap().cwd = Some("/srv".into());
    config.as_stdio_mut().unwrap().sandbox = Some(ports::server_config::SandboxConfig::default());
    let written = write_link("my server!", config, LinkTarget::Drawbridge);
    assert_eq!(
        written.omissions.link_notes(),
        [
            "it is called my-server in the link, where a name has only letters, digits, \".\", \"-\" and \"_\"",
            "no link carries the folder it starts in, its sandbox",
            "these paths may be only on this computer: \"/home/ann/acme\", \"~/notes\"",
        ],
        "notes on the name, omitted settings and local paths"
    );
}

#[test]
fn server_that_would_be_rejected_is_not_written() {
    let refused = |config: ServerConfig| {
        let entry = ServerEntry { name: "a".into(), config };
        APPS.map(|app| install_link(&entry, app).expect_err("the link must be rejected").message)
    };
    let long = "word ".repeat(8 * 1_024);
    let cases = [
        (remote_config("http://mcp.example.com", &[]), "its address is not encrypted"),
        (local_config("acme", &[&long], &[]), "the link is longer than 32 KiB"),
        (local_config("acme", &["a\u{202e}"], &[]), "has an invisible character"),
        (local_config("my program", &[], &[]), "its command has blanks in it"),
    ];
    for (config, message) in cases {
        for found in refused(config) {
            assert!(found.starts_with("no link can install this server: ") && found.contains(message), "{found}");
        }
    }
}

#[test]
fn markdown_shows_own_link_as_text_and_other_links_as_web_urls() {
    let config = || local_config("npx", &["acme"], &[]);
    let own = write_link("acme", config(), LinkTarget::Drawbridge);
    let expected = "drawbridge://mcp/install?name=acme&config=eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyJhY21lIl19";
    assert_eq!(own.link, expected, "the link contains the server");
    assert_eq!(
        own.markdown(),
        format!(
            "[Add to Drawbridge]({expected}), or copy this and paste it under *Add server*:\n\n```text\n{expected}\n```"
        ),
        "the Markdown contains the link as text"
    );
    let cursor = write_link("acme", config(), LinkTarget::Cursor).markdown();
    assert!(
        cursor.starts_with("[Add to Cursor](https://cursor.com/install-mcp?name=acme&config="),
        "the Markdown links to a web page: {cursor}"
    );
    let code = write_link("acme", config(), LinkTarget::VsCode).markdown();
    assert!(
        code.starts_with("[Add to VS Code](https://vscode.dev/redirect/mcp/install?name=acme&config=%7B"),
        "the Markdown links to a web page: {code}"
    );
}
