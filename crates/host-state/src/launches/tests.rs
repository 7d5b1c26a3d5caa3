//! Tests the data for starting servers: approved packages and their settings, and known sessions.

use mcp_proto::Revision;
use ports::server_config::StdioConfig;

use super::*;

fn launch_facts() -> LaunchFacts {
    LaunchFacts {
        known: BTreeMap::new(),
        packages: BTreeMap::new(),
        origins: BTreeMap::new(),
        own_files: DrawbridgeFiles::from_folders("/no/data".into(), "/no/mcp.json".into()),
        search_path: SharedSearchPath::default(),
    }
}

fn config(args: &[&str]) -> ServerConfig {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    StdioConfig { command: "npx".to_owned(), args, ..StdioConfig::default() }.into()
}

fn approved(config: &ServerConfig, version: &str) -> ApprovedPackage {
    let version = PackageVersion {
        name: "a-server".to_owned(),
        version: version.to_owned(),
        integrity: Some("sha512-one".to_owned()),
        source: None,
        argument: format!("a-server@{version}"),
    };
    ApprovedPackage { config: config_hash(config), version, looked_up: 0, newer: None, declined: None }
}

#[test]
fn package_approval_is_bound_to_its_settings() {
    let (mut facts, own) = (launch_facts(), config(&["-y", "a-server"]));
    facts.packages.insert("s".to_owned(), approved(&own, "1.0.0"));
    assert!(facts.approved_package("s", &own).is_some(), "the approved settings match");
    let other = config(&["-y", "a-server", "--more"]);
    assert!(facts.approved_package("s", &other).is_none(), "another command doesn't match");
    assert!(facts.last_approved_version("s").is_some(), "the last approved version is independent of the settings");
}

#[test]
fn server_starts_with_the_approved_version() {
    let (mut facts, own) = (launch_facts(), config(&["-y", "a-server"]));
    assert_eq!(facts.with_approved_package("s", &own), own, "without an approval the settings are unchanged");
    facts.packages.insert("s".to_owned(), approved(&own, "1.0.0"));
    let pinned = facts.with_approved_package("s", &own);
    let args = &pinned.as_stdio().expect("the server is local").args;
    assert!(args.iter().any(|arg| arg == "a-server@1.0.0"), "the command names the version: {args:?}");
}

#[test]
fn replaced_package_files_and_user_started_newer_versions_require_consent() {
    let mut package = approved(&config(&[]), "1.0.0");
    assert!(!package.is_outdated(true), "a package without a newer version is up to date");
    let newer = approved(&config(&[]), "1.1.0").version;
    package.newer = Some(newer.clone());
    assert!(package.is_outdated(true), "a newer version requires consent if the user starts the server");
    assert!(!package.is_outdated(false), "a newer version requires no consent on an automatic start");
    package.declined = Some(newer);
    assert!(!package.is_outdated(true), "a declined version requires no consent");
    package.newer = Some(PackageVersion { integrity: Some("sha512-two".to_owned()), ..package.version.clone() });
    assert!(package.is_outdated(false), "different files of the same version always require consent");
    assert_eq!(
        Some(package.known_version()),
        package.newer.as_ref(),
        "the last offered version has the different files"
    );
}

#[test]
fn unchanged_session_facts_are_not_stored_again() {
    let (mut facts, config) = (launch_facts(), Hash::of_bytes(b"config"));
    let found = |found| LastSessionFacts { config: config.clone(), transport: None, revision: Revision::NEWEST, found };
    let week = 7 * 24 * 60 * 60 * 1000;
    assert!(facts.store_session_facts("s", found(week), week), "new facts are stored");
    assert!(!facts.store_session_facts("s", found(week + 1), week + 1), "known facts are not stored again");
    assert!(facts.last_session_facts("s", || config.clone(), week + 1).is_some(), "known facts are returned");
    assert!(
        facts.last_session_facts("s", || Hash::of_bytes(b"other"), week + 1).is_none(),
        "facts don't apply to other settings"
    );
    assert!(facts.store_session_facts("s", found(2 * week), 2 * week), "facts are stored again after a week");
}
