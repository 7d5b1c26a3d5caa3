//! Tests of the setting that starts a server with Drawbridge.

use api::Api;
use serde_json::{Value, json};
use testkit::app::TestApp;

use crate::run_command;

#[tokio::test]
async fn omitted_start_with_drawbridge_keeps_the_current_setting() {
    let app = TestApp::start(Vec::new()).await;
    let api = Api::new(app.host.clone());
    let config = |autostart: Option<bool>| {
        let mut config = json!({"type": "http", "url": "http://127.0.0.1:9/mcp"});
        if let Some(autostart) = autostart {
            config["autostart"] = json!(autostart);
        }
        config
    };
    run_command(&api, "add_server", json!({"name": "near", "config": config(None)})).await;
    // The setting of each update, with the setting that is shown after it and the text in the file.
    let cases = [
        (None, Value::Null, false),
        (Some(false), json!(false), true),
        (None, json!(false), true),
        (Some(true), Value::Null, false),
    ];
    for (requested, shown, is_written) in cases {
        let request = json!({"server": "near", "name": "near", "config": config(requested)});
        run_command(&api, "update_server", request).await;
        let servers = run_command(&api, "read_snapshot", json!({})).await;
        assert_eq!(servers["servers"][0]["config"]["autostart"], shown, "after {requested:?}");
        let file = std::fs::read_to_string(app.folder.path().join("mcp.json")).unwrap();
        assert_eq!(file.contains("\"autostart\": false"), is_written, "after {requested:?}: {file}");
    }
    app.host.close().await;
}
