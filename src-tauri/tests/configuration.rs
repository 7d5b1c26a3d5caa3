//! What the configuration must keep, as it is compiled in.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use serde_json::Value;

fn security() -> Value {
    let config: Value = serde_json::from_str(include_str!("../tauri.conf.json")).expect("it is JSON");
    assert_eq!(config["app"]["withGlobalTauri"], false, "the page has no global way into Tauri");
    assert_eq!(
        config["app"]["windows"],
        serde_json::json!([]),
        "the one window is opened with its rules, in window.rs"
    );
    config["app"]["security"].clone()
}

#[test]
fn nothing_dangerous_is_switched_on() {
    let security = security();
    assert_eq!(security["freezePrototype"], true, "what all objects inherit can't be replaced");
    assert_eq!(security["dangerousDisableAssetCspModification"], false, "Tauri's own scripts are named one by one");
    assert_eq!(security["capabilities"], serde_json::json!(["main"]), "each capability is named");
    for absent in ["devCsp", "assetProtocol", "dangerousRemoteDomainIpcAccess", "headers"] {
        assert!(security.get(absent).is_none(), "{absent} is not set");
    }
}

#[test]
fn the_rules_for_content_let_nothing_in() {
    let security = security();
    let rules = security["csp"].as_object().expect("rules by name");
    assert_eq!(rules["default-src"], "'none'", "what is not named is refused");
    for nothing in ["frame-src", "object-src", "base-uri", "form-action", "frame-ancestors"] {
        assert_eq!(rules[nothing], "'none'", "{nothing}: nothing is let in");
    }
    assert_eq!(rules["script-src"], "'self'", "scripts are the app's own, none inline, none made of text");
    assert_eq!(rules["connect-src"], "ipc: http://ipc.localhost", "the only way out is to the host");
    for (name, value) in rules {
        let value = value.as_str().expect("text");
        let outside = value.split(' ').find(|source| {
            let is_own = ["'self'", "'none'", "data:", "blob:", "ipc:", "http://ipc.localhost"].contains(source);
            // Style attributes can't load anything.
            let is_style = name == "style-src-attr" && *source == "'unsafe-inline'";
            !(is_own || is_style)
        });
        assert_eq!(outside, None, "{name} lets nothing in from outside, and no inline script or style sheet");
    }
    assert!(rules["img-src"].as_str().is_some_and(|value| !value.contains("http")), "pictures are not fetched");
}

#[test]
fn developer_tools_are_for_debug_builds_only() {
    // Tauri has them in debug builds, and in release ones with its feature of this name.
    for manifest in [include_str!("../Cargo.toml"), include_str!("../../Cargo.toml")] {
        assert!(!manifest.contains("devtools"), "no manifest asks for developer tools in a release");
    }
}
