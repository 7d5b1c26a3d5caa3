//! Tests of signing in from a terminal or a script: the payload is shown first, and the browser may be on another
//! computer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::authorization::{
    AuthorizationBehaviour, AuthorizationScript, AuthorizationServer, ProtectedScript, ProtectedServer,
    ResourceMetadataLocation,
};
use testkit::browser;

use crate::program::{ProgramResult, TestFolder, parse_output};

/// Starts an authorization server and an MCP server that requires it, and creates a folder whose settings contain the
/// MCP server.
async fn start_servers(script: AuthorizationScript) -> (AuthorizationServer, ProtectedServer, TestFolder) {
    start_scripted_servers(script, ProtectedScript::default()).await
}

async fn start_scripted_servers(
    script: AuthorizationScript,
    serves: ProtectedScript,
) -> (AuthorizationServer, ProtectedServer, TestFolder) {
    let issuer = AuthorizationServer::start(script).await;
    let server = ProtectedServer::start(serves, &[&issuer]).await;
    let folder = TestFolder::with_config(&json!({"mcpServers": {"far": {"url": server.url()}}}).to_string());
    (issuer, server, folder)
}

/// Returns the content of an answers file that approves the connection to the server, the sign-in with this issuer, and
/// all calls.
fn sign_in_answers(issuer: &str) -> Value {
    json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "tool", "unreviewed": true, "answer": {"action": "allow"}},
        {"kind": "sign-in", "server": "far", "name": issuer, "answer": {"action": "allow"}},
    ])
}

/// Runs `login --paste`, follows the printed URL like a browser, and writes to standard input the lines that `paste`
/// returns for the redirect URL.
async fn run_login_and_paste_redirect(
    folder: TestFolder,
    issuer: &AuthorizationServer,
    paste: fn(&str) -> Vec<String>,
) -> (ProgramResult, TestFolder) {
    run_and_paste_redirect(folder, issuer, &["login", "far"], paste).await
}

/// Runs a command that requires a sign-in with `--paste`, and completes the sign-in as
/// [`run_login_and_paste_redirect`] does.
async fn run_and_paste_redirect(
    folder: TestFolder,
    issuer: &AuthorizationServer,
    arguments: &[&str],
    paste: fn(&str) -> Vec<String>,
) -> (ProgramResult, TestFolder) {
    let options = folder.answers_option(&sign_in_answers(&issuer.issuer()));
    let mut command = folder.command();
    command.arg("--json").args(options).args(arguments).arg("--paste");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
    let mut keys = child.stdin.take().expect("it reads");
    let mut output = BufReader::new(child.stdout.take().expect("it prints"));
    let (url, printed, output) = tokio::task::spawn_blocking(move || {
        let mut printed = String::new();
        loop {
            let start = printed.len();
            assert!(
                output.read_line(&mut printed).expect("lines are text") > 0,
                "the sign-in should wait for the browser: {printed}"
            );
            let line: Value = serde_json::from_str(&printed[start..]).expect("each line is JSON");
            if line["event"] == "open_url" {
                assert_eq!(line["opened"], false, "with --paste no browser should be opened");
                return (line["url"].as_str().expect("the address is printed").to_owned(), printed, output);
            }
        }
    })
    .await
    .expect("the address is read");
    let page = browser::get(&url).await.expect("the sign-in page answers");
    let back = page.location().expect("it sends the browser back").to_owned();
    for line in paste(&back) {
        writeln!(keys, "{line}").expect("the program takes what is pasted");
    }
    let done = tokio::task::spawn_blocking(move || {
        let mut printed = printed;
        std::io::Read::read_to_string(&mut { output }, &mut printed).expect("its output is text");
        let mut done = child.wait_with_output().expect("it ends");
        done.stdout = printed.into_bytes();
        // Standard input stays open while the program runs.
        drop(keys);
        parse_output(done)
    });
    (done.await.expect("it ends"), folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_url_is_printed_and_the_redirect_is_pasted() {
    let (issuer, _server, folder) = start_servers(AuthorizationScript::default()).await;
    let wrong_first = |back: &str| vec![String::from("http://127.0.0.1:1/callback?code=a&state=b"), back.to_owned()];
    let (done, _folder) = run_login_and_paste_redirect(folder, &issuer, wrong_first).await;
    let account = signed_in_account(&done);
    assert_eq!(account["issuer"], issuer.issuer().as_str(), "the issuer should be reported: {account}");
    assert_eq!(account["client"], "registered", "the kind of client should be reported");
    assert!(
        done.lines
            .iter()
            .any(|line| line["event"] == "note" && line["message"].as_str().unwrap_or_default().contains("127.0.0.1")),
        "a wrong URL should be reported, and another accepted: {done:?}"
    );
    let kinds: Vec<_> = done.decided_requests().into_iter().map(|(kind, decision, _)| (kind, decision)).collect();
    assert_eq!(kinds, [("start-server", "allowed"), ("sign-in", "allowed")], "the consent requests should be listed");
    let all: String = done.lines.iter().map(ToString::to_string).chain([done.errors.clone()]).collect();
    for secret in issuer.secrets() {
        assert!(!all.contains(&secret), "no token or code should be printed");
    }
}

/// Returns the account in the output of a `login` that failed because these tests have no keychain to store the tokens.
fn signed_in_account(done: &ProgramResult) -> Value {
    let (code, message) = done.error(1);
    assert_eq!(code, "sign_in_needed", "the lost tokens should be a failure: {message}");
    assert!(
        message.contains("lost") && message.contains("there is no keychain"),
        "the message should contain the loss and its cause: {message}"
    );
    done.result()["value"]["account"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn login_without_a_keychain_is_temporary_and_commands_sign_in_themselves() {
    let (issuer, _server, folder) = start_servers(AuthorizationScript::default()).await;
    let (login, folder) = run_login_and_paste_redirect(folder, &issuer, |back| vec![back.to_owned()]).await;
    assert_eq!(signed_in_account(&login)["issuer"], issuer.issuer().as_str(), "the sign-in should succeed: {login:?}");
    let next = login.error(1).1;
    assert!(next.contains("call far TOOL --paste"), "the message should contain the alternative: {next}");
    let (auth, folder) = {
        let done = tokio::task::spawn_blocking(move || (folder.run(&["auth", "far"]), folder));
        done.await.expect("the program runs")
    };
    assert_eq!(auth.value()["account"], Value::Null, "the account should be lost");

    let wrong_first = |back: &str| vec![String::from("y"), back.to_owned()];
    let (tools, folder) = run_and_paste_redirect(folder, &issuer, &["tools", "far"], wrong_first).await;
    assert_eq!(tools.value()[0]["name"], "echo", "listing tools should sign in automatically: {tools:?}");
    let call = ["call", "far", "echo", "--args", r#"{"text": "hello"}"#];
    let (call, _folder) = run_and_paste_redirect(folder, &issuer, &call, |back| vec![back.to_owned()]).await;
    assert_eq!(call.value()["content"][0]["text"], "hello", "a call should sign in automatically: {call:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_in_without_an_entry_is_refused_and_opens_nothing() {
    let (issuer, _server, folder) = start_servers(AuthorizationScript::default()).await;
    let allowed = json!([{"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}}]);
    let done = tokio::task::spawn_blocking(move || {
        let login = folder.run_with_answers(&allowed, &["login", "far", "--paste"]);
        (
            login,
            folder.run_with_answers(&allowed, &["tools", "far"]),
            folder.run(&["auth", "far"]),
            folder.run(&["login", "no"]),
        )
    });
    let (login, tools, auth, unknown) = done.await.expect("the program runs");
    assert_eq!(login.error(3).0, "refused", "a sign-in without approval should be denied");
    assert!(login.lines.iter().all(|line| line["event"] != "open_url"), "no page should be opened");
    assert_eq!(tools.error(3).0, "refused", "another command should not sign in");
    assert!(
        tools.error(3).1.contains("drawbridge-cli login"),
        "the message should name the command: {}",
        tools.error(3).1
    );
    assert_eq!(auth.value()["account"], Value::Null, "no account should be signed in");
    assert_eq!(unknown.error(1).0, "not_found", "an unknown server should be a failure");
    assert!(issuer.authorization_queries().is_empty(), "no request should reach the authorization server");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_sign_in_reports_step_and_cause() {
    let script = AuthorizationScript {
        authorizing: AuthorizationBehaviour::Denies("access_denied".into()),
        ..Default::default()
    };
    let (issuer, _server, folder) = start_servers(script).await;
    let (done, _folder) = run_login_and_paste_redirect(folder, &issuer, |back| vec![back.to_owned()]).await;
    let (code, message) = done.error(1);
    assert_eq!(code, "sign_in_needed", "the sign-in should still be required: {message}");
    assert!(message.contains("access_denied"), "the cause should be reported: {message}");
    let steps = done.result()["error"]["data"]["steps"].as_array().expect("the steps come along").clone();
    let last = steps.last().expect("there are some");
    assert_eq!(last["failed"], true, "the last step should have failed: {last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sign_out_without_a_session_succeeds() {
    let (_issuer, _server, folder) = start_servers(AuthorizationScript::default()).await;
    let done = tokio::task::spawn_blocking(move || folder.run(&["logout", "far"])).await.expect("the program runs");
    assert_eq!(done.value()["revoked"], "nobody_signed_in", "the missing account should be reported");
    let local =
        tokio::task::spawn_blocking(|| TestFolder::new().run(&["login", "demo"])).await.expect("the program runs");
    assert_eq!(local.error(1).0, "unsupported", "a local server should not support signing in");
}

#[tokio::test(flavor = "multi_thread")]
async fn login_signs_in_even_if_the_server_allows_anonymous_access() {
    let open = || ProtectedScript {
        allows_anonymous: true,
        metadata: ResourceMetadataLocation::WellKnown,
        ..ProtectedScript::default()
    };
    let (issuer, _server, folder) = start_scripted_servers(AuthorizationScript::default(), open()).await;
    let (done, _folder) = run_login_and_paste_redirect(folder, &issuer, |back| vec![back.to_owned()]).await;
    assert_eq!(
        signed_in_account(&done)["issuer"],
        issuer.issuer().as_str(),
        "an account should be signed in: {done:?}"
    );

    let (_issuer, _server, folder) = start_scripted_servers(AuthorizationScript::default(), open()).await;
    let allowed = json!([{"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}}]);
    let refused = tokio::task::spawn_blocking(move || folder.run_with_answers(&allowed, &["login", "far", "--paste"]));
    let refused = refused.await.expect("the program runs");
    assert_eq!(refused.error(3).0, "refused", "a usable server should not imply a sign-in");

    // Server that does not support signing in.
    let down = AuthorizationScript { down: Some(404), ..AuthorizationScript::default() };
    let (_issuer, _server, folder) = start_scripted_servers(down, open()).await;
    let failed = tokio::task::spawn_blocking(move || {
        folder.run_with_answers(&answers_allowing_everything(), &["login", "far", "--paste"])
    });
    let failed = failed.await.expect("the program runs");
    assert_eq!(
        failed.error(1).0,
        "sign_in_needed",
        "a server that does not support signing in should be a failure: {failed:?}"
    );
}

fn answers_allowing_everything() -> Value {
    json!([
        {"kind": "start-server", "commandLineOnly": true, "answer": {"action": "allow"}},
        {"kind": "sign-in", "answer": {"action": "allow"}},
    ])
}

#[test]
fn client_metadata_document_is_printed_for_a_valid_client_id_url() {
    const CLIENT_ID_URL: &str = "https://example.com/drawbridge.json";
    let folder = TestFolder::new();
    let done = folder.run(&["auth", "--client-document", CLIENT_ID_URL]);
    let document = done.value();
    assert_eq!(
        document["client_id"], CLIENT_ID_URL,
        "[auth-cimd-id-equals-url] the document should contain its URL: {document}"
    );
    assert_eq!(document["client_name"], "Drawbridge", "[auth-cimd-fields] the document should contain the name");
    let shown = folder.command().args(["auth", "--client-document", CLIENT_ID_URL]).output().expect("the program runs");
    let shown: Value =
        serde_json::from_slice(&shown.stdout).expect("without --json it is the document and nothing else");
    assert_eq!(&shown, document, "the output should be the document itself");
    for bad in ["http://example.com/a.json", "https://example.com", "drawbridge.json"] {
        assert_eq!(
            folder.run(&["auth", "--client-document", bad]).error(2).0,
            "bad_request",
            "{bad} should not be a client id"
        );
    }
}

#[test]
fn sign_in_secret_is_read_from_standard_input_and_requires_a_keychain() {
    let auth = json!({"clientId": "us", "issuer": "https://login.example", "privateKey": "${secret:far.key}"});
    let config = json!({"mcpServers": {"far": {"url": "https://a.example/mcp", "auth": auth}}});
    let folder = TestFolder::with_config(&config.to_string());
    let enter = |name: &str| {
        let mut command = folder.command();
        command.args(["--json", "secret", "far", name]).stdin(Stdio::piped());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        child.stdin.take().expect("it reads").write_all(b"t0p\nsecret\n").expect("it takes the secret");
        parse_output(child.wait_with_output().expect("it ends"))
    };
    let (done, unknown) = (enter("far.key"), enter("far.other"));
    let (code, message) = done.error(1);
    assert_eq!(code, "system", "the secret should not be stored permanently: {message}");
    assert!(message.contains("there is no keychain"), "the message should contain the cause: {message}");
    assert!(!format!("{done:?}").contains("t0p"), "the secret should not be printed: {done:?}");
    assert_eq!(unknown.error(1).0, "not_found", "an unknown name should be rejected: {unknown:?}");
}
