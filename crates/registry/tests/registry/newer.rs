//! Tests of comparing versions, and of finding the newest one.

use registry::server_json::read_entry;
use registry::{RegistryEntry, find_newer_version};
use serde_json::{Value, json};

fn registry_entry(version: &str, official: Value) -> RegistryEntry {
    let entry = json!({
        "server": { "name": "com.example/a", "version": version },
        "_meta": { "io.modelcontextprotocol.registry/official": official },
    });
    read_entry(entry.to_string().as_bytes()).unwrap()
}

fn published_entry(version: &str, day: u32) -> RegistryEntry {
    registry_entry(version, json!({ "publishedAt": format!("2026-01-{day:02}T00:00:00Z") }))
}

#[test]
fn newest_version_is_found_by_latest_flag_then_semver_then_time() {
    let cases: [(&str, Vec<RegistryEntry>, Option<&str>); 11] = [
        (
            "1.0.0",
            vec![published_entry("1.0.0", 9), published_entry("1.10.0", 1), published_entry("1.9.0", 2)],
            Some("1.10.0"),
        ),
        (
            "v1.0.0",
            vec![published_entry("v1.0.0", 9), published_entry("v1.10.0", 1), published_entry("v1.9.0", 2)],
            Some("v1.10.0"),
        ),
        ("1.0.0", vec![published_entry("1.0.0", 9), published_entry("1.0.0-rc.1", 10)], None),
        ("1.0.0", vec![published_entry("1.0.0", 1), published_entry("tuesday", 9)], None),
        ("monday", vec![published_entry("monday", 9), published_entry("1.0.0", 1)], Some("1.0.0")),
        ("monday", vec![published_entry("monday", 1), published_entry("tuesday", 2)], Some("tuesday")),
        ("tuesday", vec![published_entry("monday", 1), published_entry("tuesday", 2)], None),
        (
            "2.0.0",
            vec![published_entry("2.0.0", 1), registry_entry("1.5.0", json!({ "isLatest": true }))],
            Some("1.5.0"),
        ),
        (
            "1.0.0",
            vec![
                published_entry("1.0.0", 1),
                registry_entry("2.0.0", json!({ "isLatest": true, "status": "deleted" })),
            ],
            None,
        ),
        ("1.0.0", vec![published_entry("1.2.0", 1)], Some("1.2.0")),
        ("1.3.0", vec![published_entry("1.2.0", 1)], None),
    ];
    for (installed, versions, expected) in cases {
        let found = find_newer_version(installed, &versions).map(|entry| entry.server.version.as_str());
        let listed: Vec<&str> = versions.iter().map(|entry| entry.server.version.as_str()).collect();
        assert_eq!(found, expected, "installed {installed} of {listed:?}");
    }
    assert!(find_newer_version("1.0.0", &[]).is_none());
}
