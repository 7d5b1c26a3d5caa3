//! Newer versions, and what another version would change.
#![allow(clippy::unwrap_used)]

use registry::server_json::read_entry;
use registry::{PackageInstall, PlanDiff, RegistryEntry, plan_package, plan_remote, update_of};
use serde_json::{Value, json};

fn entry(version: &str, official: Value) -> RegistryEntry {
    let entry = json!({
        "server": { "name": "com.example/a", "version": version },
        "_meta": { "io.modelcontextprotocol.registry/official": official },
    });
    read_entry(entry.to_string().as_bytes()).unwrap()
}

fn published(version: &str, day: u32) -> RegistryEntry {
    entry(version, json!({ "publishedAt": format!("2026-01-{day:02}T00:00:00Z") }))
}

#[test]
fn the_newest_version_is_found_by_mark_then_semver_then_time() {
    let cases: [(&str, Vec<RegistryEntry>, Option<&str>); 11] = [
        ("1.0.0", vec![published("1.0.0", 9), published("1.10.0", 1), published("1.9.0", 2)], Some("1.10.0")),
        ("v1.0.0", vec![published("v1.0.0", 9), published("v1.10.0", 1), published("v1.9.0", 2)], Some("v1.10.0")),
        ("1.0.0", vec![published("1.0.0", 9), published("1.0.0-rc.1", 10)], None),
        ("1.0.0", vec![published("1.0.0", 1), published("tuesday", 9)], None),
        ("monday", vec![published("monday", 9), published("1.0.0", 1)], Some("1.0.0")),
        ("monday", vec![published("monday", 1), published("tuesday", 2)], Some("tuesday")),
        ("tuesday", vec![published("monday", 1), published("tuesday", 2)], None),
        ("2.0.0", vec![published("2.0.0", 1), entry("1.5.0", json!({ "isLatest": true }))], Some("1.5.0")),
        ("1.0.0", vec![published("1.0.0", 1), entry("2.0.0", json!({ "isLatest": true, "status": "deleted" }))], None),
        ("1.0.0", vec![published("1.2.0", 1)], Some("1.2.0")),
        ("1.3.0", vec![published("1.2.0", 1)], None),
    ];
    for (installed, versions, expected) in cases {
        let found = update_of(installed, &versions).map(|entry| entry.server.version.as_str());
        let listed: Vec<&str> = versions.iter().map(|entry| entry.server.version.as_str()).collect();
        assert_eq!(found, expected, "installed {installed} of {listed:?}");
    }
    assert!(update_of("1.0.0", &[]).is_none());
}

fn diff(before: &Value, after: &Value) -> PlanDiff {
    let plan = |package: &Value| {
        let entry = json!({ "server": { "name": "com.example/a", "version": "1", "packages": [package] } });
        let server = read_entry(entry.to_string().as_bytes()).unwrap().server;
        let PackageInstall::Plan(plan) = plan_package(&server, &server.packages[0]).unwrap() else {
            panic!("a bundle")
        };
        plan
    };
    PlanDiff::of(&plan(before), &plan(after))
}

#[test]
fn a_diff_has_what_changes_and_nothing_else() {
    let package = |kind: &str, version: &str, env: Value| json!({ "registryType": kind, "identifier": "notes", "version": version, "environmentVariables": env });
    let env = json!([{ "name": "KEY", "isSecret": true }, { "name": "MODE", "value": "safe" }]);
    let before = package("npm", "1.0.0", env.clone());
    assert!(diff(&before, &before).is_empty());
    let newer = diff(&before, &package("npm", "1.1.0", env));
    let args = newer.args.as_ref().unwrap();
    assert_eq!(args.after.as_ref().unwrap()[1], "notes@1.1.0".into());
    assert!(newer.command.is_none() && newer.env.is_empty() && newer.inputs.is_empty(), "{newer:?}");
    let other = diff(
        &before,
        &package("pypi", "1.0.0", json!([{ "name": "KEY" }, { "name": "MODE", "value": "fast" }, { "name": "NEW" }])),
    );
    assert_eq!(other.command.as_ref().unwrap().after.as_deref(), Some("uvx"));
    assert_eq!(other.env.keys().collect::<Vec<_>>(), ["MODE", "NEW"], "a value that changed, and one that came");
    assert!(other.env["NEW"].before.is_none());
    assert_eq!(other.inputs.keys().collect::<Vec<_>>(), ["KEY", "NEW"], "no longer a secret, and one that came");
}

#[test]
fn a_remote_differs_in_its_address_and_headers() {
    let plan = |url: &str, headers: Value| {
        let remote = json!({ "type": "sse", "url": url, "headers": headers });
        let entry = json!({ "server": { "name": "com.example/a", "version": "1", "remotes": [remote] } });
        let server = read_entry(entry.to_string().as_bytes()).unwrap().server;
        plan_remote(&server, &server.remotes[0]).unwrap()
    };
    let before = plan("https://a.example", json!([{ "name": "X-A", "value": "1" }]));
    let diff = PlanDiff::of(&before, &plan("https://b.example", json!([{ "name": "X-B", "value": "1" }])));
    assert_eq!(diff.url.as_ref().unwrap().after, Some("https://b.example".into()));
    assert_eq!(diff.headers.keys().collect::<Vec<_>>(), ["X-A", "X-B"]);
    assert!(diff.command.is_none() && diff.kind.is_none());
}
