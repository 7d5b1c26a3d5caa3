//! Tests of parsing manifests of all format versions, and of the warnings about members that are ignored.

use bundles::{ArchiveRefusal, BundleError, Manifest, ManifestError, ServerKind};
use serde_json::{Value, json};

use crate::sample::{BundleFolder, node_manifest, zip_with_manifest};
use crate::zip_writer::ZipEntry;

/// Parses a manifest, and returns it with the English texts of the warnings.
fn read_manifest(value: &Value) -> (Manifest, Vec<String>) {
    let (manifest, warnings) = Manifest::read(value.to_string().as_bytes()).unwrap();
    (manifest, warnings.iter().map(ToString::to_string).collect())
}

fn manifest_with(field: &str, value: Value) -> Value {
    let mut manifest = node_manifest("0.3");
    manifest[field] = value;
    manifest
}

#[test]
fn each_manifest_version_is_parsed() {
    for version in ["0.1", "0.2", "0.3", "0.4"] {
        assert_eq!(read_manifest(&node_manifest(version)).1, [""; 0], "{version}");
    }
    let mut old = node_manifest("0.1");
    old["dxt_version"] = old.as_object_mut().unwrap().remove("manifest_version").unwrap();
    let (manifest, warnings) = read_manifest(&old);
    assert_eq!((manifest.manifest_version.as_str(), warnings.as_slice()), ("0.1", &[][..]));
    let (_, warnings) = read_manifest(&manifest_with("manifest_version", "0.9".into()));
    assert_eq!(warnings, ["the version 0.9 of the manifest is unknown; new members are ignored"]);
}

#[test]
fn each_kind_of_server_is_parsed() {
    for (kind, expected) in [
        ("node", ServerKind::Node),
        ("python", ServerKind::Python),
        ("binary", ServerKind::Binary),
        ("uv", ServerKind::Uv),
    ] {
        let mut manifest = node_manifest("0.4");
        manifest["server"]["type"] = kind.into();
        let disk = BundleFolder::with_file(&zip_with_manifest(&manifest).to_bytes());
        assert_eq!(disk.open().unwrap().manifest.server.kind, expected);
    }
    let mut manifest = node_manifest("0.4");
    manifest["server"] = json!({ "type": "uv", "entry_point": "server/index.js" });
    let command = read_manifest(&manifest).0.server.command;
    assert_eq!((command.command.as_str(), command.args[3].as_str()), ("uv", "server/index.js"));
    manifest["server"]["type"] = "node".into();
    assert!(Manifest::read(manifest.to_string().as_bytes()).is_err(), "only uv servers may omit the command");
}

#[test]
fn all_fields_are_parsed() {
    let mut all = node_manifest("0.3");
    for (field, value) in [
        ("display_name", json!("Notes")),
        ("long_description", json!("# Notes")),
        ("repository", json!({ "type": "git", "url": "https://notes.test/git" })),
        ("icon", json!("icon.png")),
        ("icons", json!([{ "src": "./a.png", "size": "16x16", "theme": "dark" }, { "src": "https://x.test/a.png" }])),
        ("screenshots", json!(["shot.png", "../shot.png"])),
        ("tools", json!([{ "name": "add", "description": "Adds" }, "none"])),
        ("prompts", json!([{ "name": "sum", "arguments": ["of"], "text": "Sum ${arguments.of}" }])),
        ("tools_generated", json!(true)),
        ("keywords", json!(["a", 1])),
        ("privacy_policies", json!(["https://notes.test/privacy"])),
        ("compatibility", json!({ "claude_desktop": ">=1", "platforms": ["linux"], "runtimes": { "node": ">=18" } })),
        ("_meta", json!({ "com.example": {} })),
        ("surprise", json!(1)),
        ("homepage", json!(1)),
        ("localization", json!({ "resources": "texts.json" })),
        ("user_config", json!({ "when": { "type": "date" } })),
    ] {
        all[field] = value;
    }
    let (manifest, warnings) = read_manifest(&all);
    assert_eq!(manifest.repository.as_deref(), Some("https://notes.test/git"));
    assert_eq!(manifest.icons.iter().map(|icon| icon.path.as_str()).collect::<Vec<_>>(), ["a.png"]);
    assert_eq!(manifest.screenshots, ["shot.png"]);
    assert_eq!((manifest.tools.len(), manifest.tools_generated), (1, true));
    assert_eq!(manifest.prompts[0].arguments, ["of"]);
    assert_eq!(manifest.compatibility.clients["claude_desktop"], ">=1");
    assert_eq!(manifest.compatibility.runtimes["node"], ">=18");
    let expected = [
        "surprise is unknown and ignored",
        "the picture https://x.test/a.png is not in the bundle and is not shown",
        "the picture ../shot.png is not in the bundle and is not shown",
        "homepage is not a text and is not used",
        "tools has items that are not an object and are not used",
        "keywords has items that are not a text and are not used",
        "localization.resources is not a path with one ${locale} and is not used",
        "user_config.when.type is unknown and read as text",
    ];
    for warning in expected {
        assert!(warnings.iter().any(|found| found == warning), "{warning} in {warnings:?}");
    }
    assert_eq!(warnings.len(), expected.len(), "{warnings:?}");
}

#[test]
fn texts_are_bounded_and_hidden_characters_escaped() {
    let (manifest, warnings) = read_manifest(&manifest_with("description", "é".repeat(1 << 16).into()));
    assert!(manifest.description.len() <= 64 << 10 && manifest.description.ends_with('…'));
    assert_eq!(warnings, ["description is too long and was cut"]);
    let (_, warnings) = read_manifest(&manifest_with("\u{202e}field", 1.into()));
    assert_eq!(warnings, ["\\u{202e}field is unknown and ignored"]);
    let (_, warnings) =
        read_manifest(&Value::Object((0..5000).map(|n| (n.to_string(), n.into())).chain(manifest_fields()).collect()));
    assert_eq!(warnings.len(), 100);
}

fn manifest_fields() -> impl Iterator<Item = (String, Value)> {
    node_manifest("0.3").as_object().unwrap().clone().into_iter()
}

#[test]
fn invalid_launch_settings_are_rejected() {
    let field = |field: &str, expected| ManifestError::Field { field: field.to_owned(), expected };
    let config = |value: Value| {
        let mut manifest = node_manifest("0.3");
        manifest["server"]["mcp_config"] = value;
        manifest
    };
    let mut outside = node_manifest("0.3");
    outside["server"]["entry_point"] = "../index.js".into();
    for (value, expected) in [
        (manifest_with("name", Value::Null), field("name", "a text")),
        (manifest_with("version", 3.into()), field("version", "a text")),
        (manifest_with("name", "n".repeat(201).into()), ManifestError::TooLong("name".to_owned())),
        (manifest_with("server", Value::Null), field("server", "an object")),
        (outside, ManifestError::Path("../index.js".to_owned())),
        (config(json!({ "command": "" })), field("server.mcp_config.command", "a text")),
        (config(json!({ "command": "a\0b" })), field("server.mcp_config.command", "a text")),
        (config(json!({ "command": "a", "args": "b" })), field("server.mcp_config.args", "a list of texts")),
        (config(json!({ "command": "a", "args": [1] })), field("server.mcp_config.args", "a text")),
        (config(json!({ "command": "a", "env": { "A": 1 } })), field("server.mcp_config.env.A", "a text")),
        (
            config(json!({ "command": "a", "env": { "A=B": "" } })),
            field("server.mcp_config.env", "an object with names of variables"),
        ),
        (
            config(json!({ "command": "a", "platform_overrides": { "linux": 1 } })),
            field("server.mcp_config.platform_overrides.linux", "an object"),
        ),
        (
            config(json!({ "command": "a", "args": vec!["b"; 1001] })),
            ManifestError::TooLong("server.mcp_config.args".to_owned()),
        ),
        (manifest_with("user_config", json!({ "a": 1 })), field("user_config.a", "an object")),
    ] {
        assert_eq!(Manifest::read(value.to_string().as_bytes()).unwrap_err(), expected);
    }
    let mut unknown = node_manifest("0.3");
    unknown["server"]["type"] = "wasm".into();
    assert_eq!(Manifest::read(unknown.to_string().as_bytes()), Err(ManifestError::ServerKind("wasm".to_owned())));
    assert!(matches!(Manifest::read(b"[]"), Err(ManifestError::NotJson(_))));
    let long = Manifest::read(format!("\"{}\"", "x".repeat(100_000)).as_bytes()).unwrap_err();
    assert!(long.to_string().len() < 1_000, "the message must be short even if the file is long");
    assert!(matches!(Manifest::read("[".repeat(100_000).as_bytes()), Err(ManifestError::NotJson(_))));
}

#[test]
fn manifest_beyond_its_size_limit_is_rejected() {
    let large = manifest_with("description", "d".repeat(2 << 20).into());
    let mut zip = zip_with_manifest(&large);
    zip.entries[0] = ZipEntry::stored("manifest.json", large.to_string().as_bytes());
    let error = BundleFolder::with_file(&zip.to_bytes()).open().unwrap_err();
    assert!(matches!(error, BundleError::TooLargeToRead { max: 1_048_576, .. }), "{error:?}");
    zip.entries[0] = ZipEntry::file("Manifest.json", node_manifest("0.3").to_string().as_bytes());
    let error = BundleFolder::with_file(&zip.to_bytes()).open().unwrap_err();
    assert!(matches!(error, BundleError::Refused(ArchiveRefusal::MissingFile(path)) if path == "manifest.json"));
}

#[test]
fn texts_use_the_best_matching_locale() {
    let mut manifest = manifest_with("tools", json!([{ "name": "add", "description": "Adds" }]));
    manifest["prompts"] = json!([{ "name": "sum", "text": "Sum" }]);
    let mut zip = zip_with_manifest(&manifest);
    for (locale, description) in
        [("de", "deutsch"), ("de-CH", "schweizerdeutsch"), ("es-MX", "español"), ("zh-Hant", "漢")]
    {
        let texts = json!({
            "description": description,
            "server": { "mcp_config": { "command": "evil" } },
            "tools": [{ "name": "add", "description": description }, { "name": "other", "description": "x" }],
            "prompts": [{ "name": "sum", "text": description }],
        });
        zip = zip.add_entry(ZipEntry::file(&format!("mcpb-resources/{locale}.json"), texts.to_string().as_bytes()));
    }
    let disk = BundleFolder::with_file(&zip.add_entry(ZipEntry::file("mcpb-resources/fr.json", b"[")).to_bytes());
    let bundle = disk.open().unwrap();
    for (locale, expected) in [
        ("de-AT", "deutsch"),
        ("de-ch", "schweizerdeutsch"),
        ("de-CH-1996", "schweizerdeutsch"),
        ("es-UY", "español"),
        ("zh-Hant-x-private", "漢"),
        ("en-GB", "Keeps notes"),
        ("pt", "Keeps notes"),
        ("../server", "Keeps notes"),
        ("", "Keeps notes"),
    ] {
        let localized = bundle.localized(locale).unwrap();
        assert_eq!(localized.description, expected, "{locale}");
        assert_eq!(localized.server, bundle.manifest.server, "a translation must only change texts");
        assert_eq!(localized.tools.len(), 1);
    }
    let german = bundle.localized("de").unwrap();
    assert_eq!(german.tools[0].description.as_deref(), Some("deutsch"));
    assert_eq!(german.prompts[0].text.as_deref(), Some("deutsch"));
    assert!(bundle.localized("fr").is_err(), "a damaged translation must be an error");
}
