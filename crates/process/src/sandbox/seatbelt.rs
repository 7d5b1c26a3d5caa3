//! The profile for macOS's `sandbox-exec`. Everything is denied by default.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::{NetworkAccess, ResolvedSandbox};

/// Rules of a `sandbox-exec` profile that every program needs to run.
const SEATBELT_BASE_RULES: &str = r#"(version 1)
(deny default)
(import "bsd.sb")
(allow process-exec process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom"))
"#;

/// Rules of a `sandbox-exec` profile that permit network access, including name resolution and certificates.
const SEATBELT_NETWORK_RULES: &str = r#"(allow network-outbound (remote ip))
(allow network-inbound (local ip))
(allow network-bind (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow system-socket)
(allow mach-lookup (global-name "com.apple.trustd.agent") (global-name "com.apple.SystemConfiguration.configd"))
"#;

/// Operations on a read-only path. Without `file-map-executable`, no program can load a library from the path.
const SEATBELT_READ_OPERATIONS: &str = "file-read* file-map-executable";

/// Operations on a writable path.
const SEATBELT_WRITE_OPERATIONS: &str = "file-read* file-write* file-map-executable";

/// Returns the `sandbox-exec` profile that enforces a sandbox plan.
///
/// # Errors
/// Returns the first path that can't be expressed in a profile.
pub(super) fn build_seatbelt_profile(plan: &ResolvedSandbox) -> Result<String, PathBuf> {
    let mut profile = SEATBELT_BASE_RULES.to_owned();
    let read_only = plan.reach.read_only_paths().into_iter().map(|path| (path, "allow", SEATBELT_READ_OPERATIONS));
    let writable = plan.reach.writable_paths().into_iter().map(|path| (path, "allow", SEATBELT_WRITE_OPERATIONS));
    let hidden = plan.reach.hidden.iter().map(|path| (path.as_path(), "deny", SEATBELT_WRITE_OPERATIONS));
    let mut rules: Vec<_> = read_only.chain(writable).chain(hidden).collect();
    // The last rule wins. Each folder comes before its subfolders, so that the more specific path takes effect.
    rules.sort();
    for (path, rule, operations) in rules {
        add_seatbelt_rule(&mut profile, rule, operations, path)?;
    }
    // `ResolvedSandbox::resolve` refuses named hosts on macOS.
    if plan.network == NetworkAccess::Full {
        profile.push_str(SEATBELT_NETWORK_RULES);
    }
    Ok(profile)
}

fn add_seatbelt_rule(profile: &mut String, rule: &str, operations: &str, path: &Path) -> Result<(), PathBuf> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| path.to_owned())?;
    let quoted = text.replace('\\', r"\\").replace('"', r#"\""#);
    // Writing to a `String` can't fail.
    let _ = writeln!(profile, "({rule} {operations} (subpath \"{quoted}\"))");
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::sandbox::{AccessMode, AllowedFolder, ReachablePaths, ResourceLimits, SandboxMechanism};

    fn resolved_sandbox_with_folder(folder: &str, network: NetworkAccess) -> ResolvedSandbox {
        let folders = vec![AllowedFolder { path: folder.into(), access: AccessMode::Read }];
        let hidden = vec!["/data/drawbridge".into()];
        let reach =
            ReachablePaths { folders, system: vec!["/usr".into()], program: Vec::new(), home: "/own".into(), hidden };
        ResolvedSandbox { mechanism: SandboxMechanism::Seatbelt, reach, network, limits: ResourceLimits::DEFAULT }
    }

    #[test]
    fn path_is_escaped_in_a_seatbelt_profile() {
        let profile = build_seatbelt_profile(&resolved_sandbox_with_folder(
            r#"/a") (allow file-write* (subpath "/"#,
            NetworkAccess::None,
        ))
        .unwrap();
        assert!(
            profile.contains(
                r#"(allow file-read* file-map-executable (subpath "/a\") (allow file-write* (subpath \"/"))"#
            ),
            "quotes in a path must be escaped: {profile}"
        );
        assert!(!profile.contains("network"), "the network must be denied unless it is allowed: {profile}");
        assert!(
            super::build_seatbelt_profile(&resolved_sandbox_with_folder("/a\nb", NetworkAccess::None)).is_err(),
            "a path with a line break must be refused"
        );
    }

    #[test]
    fn read_only_folder_is_not_writable() {
        let profile = build_seatbelt_profile(&resolved_sandbox_with_folder("/data", NetworkAccess::Full)).unwrap();
        assert!(profile.contains("(deny default)"), "access must be denied by default");
        let rule_about =
            |folder: &str| profile.lines().find(|line| line.ends_with(&format!("(subpath \"{folder}\"))")));
        assert_eq!(
            rule_about("/data"),
            Some("(allow file-read* file-map-executable (subpath \"/data\"))"),
            "the folder must be readable, its programs must run, and it must not be writable"
        );
        assert!(
            rule_about("/own").is_some_and(|rule| rule.contains("file-write*")),
            "the server's own home must be writable"
        );
        assert!(profile.contains("network-outbound"), "the network must be allowed");
    }

    #[test]
    fn s10_hidden_folder_in_a_writable_one_is_denied_except_for_the_home_in_it() {
        let mut plan = resolved_sandbox_with_folder("/data", NetworkAccess::None);
        plan.reach.home = "/data/drawbridge/homes/notes".into();
        for access in [AccessMode::Read, AccessMode::Write] {
            plan.reach.folders[0].access = access;
            let profile = build_seatbelt_profile(&plan).unwrap();
            let rules: Vec<&str> = profile.lines().filter(|rule| rule.contains("\"/data")).collect();
            assert_eq!(rules.len(), 3, "{rules:?}");
            assert!(rules[0].starts_with("(allow") && rules[0].ends_with("(subpath \"/data\"))"), "{rules:?}");
            assert_eq!(
                rules[1..],
                [
                    "(deny file-read* file-write* file-map-executable (subpath \"/data/drawbridge\"))",
                    "(allow file-read* file-write* file-map-executable (subpath \"/data/drawbridge/homes/notes\"))",
                ],
                "the last rule wins, so the more specific path must come later"
            );
        }
    }
}
