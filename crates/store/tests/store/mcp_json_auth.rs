//! Tests of the `auth` setting of remote servers in `mcp.json`: it is read, rejected with a line number, and changed
//! without other changes of the file.

use std::fs;

use crate::common::TestStore;
use ports::server_config::{AuthConfig, AuthIdentityProvider, GrantType, HttpConfig, ServerEntry};

fn remote_entry(auth: Option<AuthConfig>) -> ServerEntry {
    let config = HttpConfig { url: "https://a.example/mcp".into(), auth, ..HttpConfig::default() };
    ServerEntry { name: "far".into(), config: config.into() }
}

fn settings_text(auth: &str) -> String {
    format!("{{\"mcpServers\": {{\"far\": {{\"url\": \"https://a.example/mcp\", \"auth\": {auth}}}}}}}")
}

fn some_string(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn auth_settings_round_trip() {
    let whole = AuthConfig {
        client_id: some_string("us"),
        client_secret: some_string("${secret:far.clientSecret}"),
        client_auth: some_string("client_secret_post"),
        client_metadata_url: some_string("https://us.example/client.json"),
        issuer: some_string("https://login.example/tenant"),
        scopes: vec!["read".into(), "files:write".into()],
        grant: GrantType::EnterpriseManaged,
        private_key: some_string("${secret:far.key}"),
        algorithm: some_string("RS256"),
        identity_provider: Some(AuthIdentityProvider {
            issuer: "https://idp.example".into(),
            token_endpoint: some_string("https://idp.example/token"),
            client_id: "at-idp".into(),
            client_secret: some_string("${secret:far.idp}"),
            client_auth: some_string("private_key_jwt"),
            private_key: some_string("${secret:far.idpKey}"),
            algorithm: some_string("PS256"),
            id_token: some_string("${secret:far.idToken}"),
        }),
        dpop: Some(true),
        redirect_port: Some(4321),
        assertion: some_string("${secret:far.assertion}"),
    };
    for auth in [None, Some(AuthConfig::default()), Some(whole)] {
        let store = TestStore::new();
        store.ports.servers.put(&remote_entry(auth.clone()), None).unwrap();
        assert_eq!(
            store.ports.servers.load().unwrap(),
            [remote_entry(auth.clone())],
            "the setting is read back as written"
        );
        // Writes each configuration over the existing one.
        for other in [Some(AuthConfig { client_id: some_string("x"), ..AuthConfig::default() }), auth, None] {
            store.ports.servers.put(&remote_entry(other.clone()), None).unwrap();
            assert_eq!(
                store.ports.servers.load().unwrap(),
                [remote_entry(other)],
                "the setting is read back after a change"
            );
        }
        let left = fs::read_to_string(store.config()).unwrap();
        assert!(!left.contains("auth"), "a removed setting is gone: {left}");
    }
}

#[test]
fn unknown_auth_settings_are_preserved() {
    let store = TestStore::new();
    let before = settings_text(
        r#"{ "clientId":  "a", "later": {"k": [1]}, "scopes": [ "x",  "y" ], "grant": "authorization_code" }"#,
    );
    fs::write(store.config(), &before).unwrap();
    let scopes = vec!["x".to_owned(), "y".to_owned()];
    let changed = AuthConfig { client_id: some_string("b"), scopes, ..AuthConfig::default() };
    store.ports.servers.put(&remote_entry(Some(changed)), None).unwrap();
    let after = fs::read_to_string(store.config()).unwrap();
    assert_eq!(after, before.replace("\"a\"", "\"b\""), "only the id is changed");
}

#[test]
fn invalid_auth_settings_are_reported_with_their_line() {
    let cases = [
        (r#""x""#, "must be an object"),
        (r#"{"clientId": 1}"#, "\"clientId\" in \"auth\" of server \"far\" must be a text"),
        (r#"{"clientId": "a", "clientSecret": "in plain text"}"#, "must be a reference \"${secret:NAME}\""),
        // [auth-ema-secure-storage]
        (
            r#"{"grant": "enterprise_managed", "clientId": "a", "issuer": "https://i.example",
                "identityProvider": {"issuer": "https://idp.example", "clientId": "b", "idToken": "in plain text"}}"#,
            "\"idToken\" must be a reference",
        ),
        (r#"{"clientId": "a", "clientSecret": "x${secret:a}"}"#, "must be a reference \"${secret:NAME}\""),
        (r#"{"issuer": "login.example"}"#, "\"issuer\" must be a URL"),
        (r#"{"scopes": "read"}"#, "must be a list of texts"),
        (r#"{"scopes": ["read write"]}"#, "names without spaces"),
        (r#"{"grant": "password"}"#, "must be one of authorization_code"),
        (
            r#"{"grant": "client_credentials", "clientId": "a", "issuer": "https://i.example"}"#,
            "needs a \"clientSecret\"",
        ),
        (r#"{"grant": "client_credentials", "clientId": "a", "clientSecret": "${secret:a}"}"#, "needs an \"issuer\""),
        (r#"{"grant": "workload_identity", "issuer": "https://i.example"}"#, "needs an \"assertion\""),
        (r#"{"grant": "enterprise_managed", "clientId": "a", "issuer": "https://i.example"}"#, "\"identityProvider\""),
        (r#"{"clientAuth": "magic"}"#, "\"clientAuth\" must be one of"),
        (
            r#"{"identityProvider": {"issuer": "https://idp.example", "clientId": "b", "clientAuth": "magic"}}"#,
            "\"clientAuth\" must be one of",
        ),
        (r#"{"redirectPort": 70000}"#, "must be a port"),
        (r#"{"redirectPort": "80"}"#, "must be a port"),
        (r#"{"dpop": "yes"}"#, "must be true or false"),
    ];
    for (auth, expected) in cases {
        let store = TestStore::new();
        fs::write(store.config(), settings_text(auth)).unwrap();
        let problem = store.ports.servers.load().expect_err(auth);
        assert!(problem.message.contains(expected), "the message for {auth}: {problem}");
        assert_eq!(problem.line, Some(1), "the problem has its line: {problem}");
        assert!(!problem.message.contains("plain text"), "a possible secret is not repeated: {problem}");
    }
}

#[test]
fn examples_of_the_guide_are_valid() {
    let guides =
        [include_str!("../../../../ui/guide/en/sign-in.md"), include_str!("../../../../ui/guide/zh/sign-in.md")];
    for guide in guides {
        let examples = guide.split("```json\n").skip(1).map(|part| part.split_once("\n```").unwrap().0);
        let mut grants = Vec::new();
        for example in examples {
            let (_, example) = example.split_once(": ").unwrap();
            let store = TestStore::new();
            fs::write(store.config(), settings_text(example)).unwrap();
            let read =
                store.ports.servers.load().unwrap_or_else(|problem| panic!("{example} can't be used: {problem}"));
            let auth = read[0].config.as_http().unwrap().auth.clone().unwrap();
            grants.push(auth.grant);
            // The written file has all keys that the parser knows, and no other.
            let again = TestStore::new();
            again.ports.servers.put(&remote_entry(Some(auth)), None).unwrap();
            let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let written = parsed(&fs::read_to_string(again.config()).unwrap());
            assert_eq!(written["mcpServers"]["far"]["auth"], parsed(example), "every key of the example is known");
        }
        assert_eq!(grants, GrantType::ALL, "there is an example for each grant");
    }
}
