//! Tests of the information that a server obtains about its environment (X33), and of output that it writes to shared
//! places (X11).

use serde_json::{Value, json};
use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;
use crate::{leaks, log, report};

const ALLOWED_ENVIRONMENT_VARIABLES: [&str; 14] = [
    "DRAWBRIDGE_SERVER",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

#[tokio::test]
async fn x33_server_receives_only_what_it_needs() {
    let what = "X33, environment, folder and descriptors";
    let pair = GoodAndBadServers::with_undecided_tools(scripted_config(&[])).await;
    let call = pair.spawn_call("1", "environment", json!({}));
    let request = pair.wait_for_tool_consent_request(what, |_| true).await;
    pair.app.decide(&request, host::view::UserDecision::Allow(policy::ApprovalScope::Once)).await;
    let result = json!(call.await.unwrap().expect("it is allowed"));
    let observed: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    let environment = observed["environment"].as_object().unwrap();
    let more: Vec<&String> = environment
        .keys()
        .filter(|name| !ALLOWED_ENVIRONMENT_VARIABLES.contains(&name.as_str()) && !name.starts_with("LC_"))
        .collect();
    assert!(more.is_empty(), "{what}: these variables are not passed to a server: {more:?}");
    assert_eq!(observed["descriptors"], json!([0, 1, 2]), "{what}: the server inherits no open file of the host");
    assert_eq!(observed["group"], observed["pid"], "{what}: the server leads a separate process group");
    assert!(
        !observed.to_string().contains(&report::host_canary()),
        "{what}: the host's secret is not passed to the server"
    );
    pair.close(what).await;
}

/// Asserts that no text file of the app, which a user could print in a terminal, contains control sequences.
#[tokio::test]
async fn x11_no_file_contains_terminal_control_sequences() {
    for misbehave in ["escapes", "stderr-garbage"] {
        let what = format!("X11, {misbehave} in texts, logs and standard error");
        let pair = GoodAndBadServers::ready(scripted_config(&["--misbehave", misbehave])).await;
        let call = pair.call_bad_server(&what).await;
        pair.assert_call_ended(&what, &call, &[]);
        let mut places = Vec::new();
        leaks::add_file_contents(pair.app.folder.path(), &mut places);
        for raw in ["\u{1b}[2J", "\u{1b}]8;;", "\u{7}bell", "\u{7}link"] {
            assert_eq!(leaks::find_secret(&places, raw), None, "{what}: no file contains the control sequence {raw:?}");
        }
        // A database may contain any byte. Text files must not contain control characters.
        places.retain(|(_, text)| !text.contains('\u{fffd}') && !text.contains('\0'));
        places.push(("the log".to_owned(), log::recorded_log_text()));
        assert!(places.iter().any(|(place, _)| place.ends_with("mcp.json")), "{what}: the files were searched");
        for raw in ["\u{1b}", "\u{7}", "\u{9b}"] {
            assert_eq!(leaks::find_secret(&places, raw), None, "{what}: no stored text contains {raw:?}");
        }
        pair.close(&what).await;
    }
}
