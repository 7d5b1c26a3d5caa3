//! Test of the security settings in the compiled configuration.

use serde_json::Value;

fn security_config() -> Value {
    let config: Value =
        serde_json::from_str(include_str!("../../tauri.conf.json")).expect("the configuration should be JSON");
    assert_eq!(config["app"]["withGlobalTauri"], false, "the page should have no global Tauri object");
    assert_eq!(
        config["app"]["windows"],
        serde_json::json!([]),
        "the window should only be created in window.rs, with its restrictions"
    );
    config["app"]["security"].clone()
}

#[test]
fn dangerous_security_settings_are_off() {
    let security = security_config();
    assert_eq!(security["freezePrototype"], true, "prototypes should be frozen");
    assert_eq!(
        security["dangerousDisableAssetCspModification"], false,
        "Tauri should add its own scripts to the policy"
    );
    assert_eq!(
        security["capabilities"],
        serde_json::json!(["main", "conversation"]),
        "each capability should be listed"
    );
    for absent in ["devCsp", "assetProtocol", "dangerousRemoteDomainIpcAccess", "headers"] {
        assert!(security.get(absent).is_none(), "{absent} should not be set");
    }
}

#[test]
fn content_security_policy_denies_external_sources() {
    let security = security_config();
    let rules = security["csp"].as_object().expect("the policy should be an object");
    assert_eq!(rules["default-src"], "'none'", "sources should be denied by default");
    for nothing in ["object-src", "base-uri", "form-action", "frame-ancestors"] {
        assert_eq!(rules[nothing], "'none'", "{nothing} should be denied");
    }
    assert_eq!(rules["frame-src"], "drawbridge-app:", "only apps should be shown in frames");
    assert_eq!(rules["script-src"], "'self'", "only scripts of the app should run, none inline or evaluated");
    assert_eq!(rules["connect-src"], "ipc: http://ipc.localhost", "only connections to the host should be permitted");
    for (name, value) in rules {
        let value = value.as_str().expect("a string");
        let outside = value.split(' ').find(|source| {
            let is_own = ["'self'", "'none'", "data:", "blob:", "ipc:", "http://ipc.localhost", "drawbridge-app:"]
                .contains(source);
            // Style attributes can't load external content.
            let is_style = name == "style-src-attr" && *source == "'unsafe-inline'";
            !(is_own || is_style)
        });
        assert_eq!(outside, None, "{name} should permit neither external sources nor inline scripts or style sheets");
    }
    assert!(rules["img-src"].as_str().is_some_and(|value| !value.contains("http")), "images should not be fetched");
}

#[test]
fn developer_tools_are_in_debug_builds_only() {
    // Tauri includes the developer tools in debug builds, and in release builds with the feature `devtools`.
    for manifest in [include_str!("../../Cargo.toml"), include_str!("../../../Cargo.toml")] {
        assert!(!manifest.contains("devtools"), "no manifest should enable developer tools in a release");
    }
}
