//! Facts about starts by themselves: which package was approved for which settings, and what is remembered of a session.

use mcp_proto::Revision;
use ports::server_config::StdioConfig;

use super::*;

fn facts() -> LaunchFacts {
    LaunchFacts {
        known: BTreeMap::new(),
        packages: BTreeMap::new(),
        origins: BTreeMap::new(),
        own_files: OwnFiles::of("/no/data".into(), "/no/mcp.json".into()),
        search_path: Arc::default(),
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
fn a_package_is_approved_for_the_settings_it_was_approved_with() {
    let (mut facts, own) = (facts(), config(&["-y", "a-server"]));
    facts.packages.insert("s".to_owned(), approved(&own, "1.0.0"));
    assert!(facts.approved_package("s", &own).is_some(), "as it was approved");
    let other = config(&["-y", "a-server", "--more"]);
    assert!(facts.approved_package("s", &other).is_none(), "another command under the same name");
    assert!(facts.package_seen("s").is_some(), "which still says what the user saw last");
}

#[test]
fn a_server_starts_with_the_version_that_was_approved() {
    let (mut facts, own) = (facts(), config(&["-y", "a-server"]));
    assert_eq!(facts.as_approved("s", &own), own, "nothing was approved");
    facts.packages.insert("s".to_owned(), approved(&own, "1.0.0"));
    let pinned = facts.as_approved("s", &own);
    let args = &pinned.as_stdio().expect("it is local").args;
    assert!(args.iter().any(|arg| arg == "a-server@1.0.0"), "the command names the version: {args:?}");
}

#[test]
fn other_files_under_one_version_ask_always_and_a_newer_version_asks_its_user() {
    let mut package = approved(&config(&[]), "1.0.0");
    assert!(!package.is_outdated(true), "nothing else was found");
    let newer = approved(&config(&[]), "1.1.0").version;
    package.newer = Some(newer.clone());
    assert!(package.is_outdated(true), "a user who starts it is asked");
    assert!(!package.is_outdated(false), "nobody else");
    package.declined = Some(newer);
    assert!(!package.is_outdated(true), "nor a user who did not want it");
    package.newer = Some(PackageVersion { integrity: Some("sha512-two".to_owned()), ..package.version.clone() });
    assert!(package.is_outdated(false), "other files under the same version always ask");
    assert_eq!(Some(package.known()), package.newer.as_ref(), "and are what the registry is known to offer");
}

#[test]
fn what_is_known_already_is_not_remembered_again() {
    let (mut facts, config) = (facts(), Hash::of_bytes(b"config"));
    let found = |found| KnownSession { config: config.clone(), transport: None, revision: Revision::NEWEST, found };
    let week = 7 * 24 * 60 * 60 * 1000;
    assert!(facts.remember("s", found(week), week), "it is new");
    assert!(!facts.remember("s", found(week + 1), week + 1), "it was only tried first, and is still so");
    assert!(facts.known("s", || config.clone(), week + 1).is_some(), "it is tried first");
    assert!(facts.known("s", || Hash::of_bytes(b"other"), week + 1).is_none(), "but not with other settings");
    assert!(facts.remember("s", found(2 * week), 2 * week), "a week later it is found out anew");
}
