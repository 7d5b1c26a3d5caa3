//! Tests of the compiled configuration: its security settings, and the file type of bundles.

use serde_json::{Value, json};

fn configuration() -> Value {
    serde_json::from_str(include_str!("../../tauri.conf.json")).expect("the configuration should be JSON")
}

fn security_config() -> Value {
    let config = configuration();
    assert_eq!(config["app"]["withGlobalTauri"], false, "the page should have no global Tauri object");
    assert_eq!(
        config["app"]["windows"],
        json!([]),
        "the window should only be created in window.rs, with its restrictions"
    );
    config["app"]["security"].clone()
}

#[test]
fn dangerous_tauri_security_settings_are_off() {
    let security = security_config();
    assert_eq!(security["freezePrototype"], true, "prototypes should be frozen");
    assert_eq!(
        security["dangerousDisableAssetCspModification"], false,
        "Tauri should add its own scripts to the policy"
    );
    assert_eq!(security["capabilities"], json!(["main", "conversation"]), "each capability should be listed");
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

#[test]
fn mcp_bundles_have_the_same_file_type_in_all_packages() {
    // The .deb and the .rpm have these two files. Tauri writes the associations of the other packages.
    let (entry, types) = (include_str!("../../linux/drawbridge.desktop"), include_str!("../../linux/drawbridge.xml"));
    let config = configuration();
    let bundle = &config["bundle"];
    let association = &bundle["fileAssociations"][0];
    assert_eq!(association["ext"], json!(installer::BUNDLE_EXTENSIONS), "the app should open exactly these files");
    let media_type = association["mimeType"].as_str().expect("the association should have a media type");
    for line in [format!("MimeType={media_type};"), "Exec=drawbridge %F".to_owned()] {
        assert!(entry.lines().any(|own| own == line), "the desktop file should have the line {line}");
    }
    assert!(types.contains(&format!("<mime-type type=\"{media_type}\">")), "the media type should be defined");
    for extension in installer::BUNDLE_EXTENSIONS {
        assert!(types.contains(&format!("<glob pattern=\"*.{extension}\"/>")), "{extension} should have the type");
    }
    let files = &bundle["linux"]["appimage"]["files"];
    assert_eq!(
        files["/usr/share/mime/packages/drawbridge.xml"], "linux/drawbridge.xml",
        "an AppImage should define it"
    );
}
