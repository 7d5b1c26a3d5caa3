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

/// Returns the `sandbox-exec` profile that enforces a sandbox plan.
///
/// # Errors
/// Returns the first path that can't be expressed in a profile.
pub(super) fn build_seatbelt_profile(plan: &ResolvedSandbox) -> Result<String, PathBuf> {
    let mut profile = SEATBELT_BASE_RULES.to_owned();
    for path in plan.reach.read_only_paths() {
        add_seatbelt_allow_rule(&mut profile, "file-read*", path)?;
    }
    for path in &plan.reach.hidden {
        add_seatbelt_rule(&mut profile, "deny", "file-read* file-write*", path)?;
    }
    for path in plan.reach.writable_paths() {
        add_seatbelt_allow_rule(&mut profile, "file-read* file-write*", path)?;
    }
    // `ResolvedSandbox::resolve` refuses named hosts on macOS.
    if plan.network == NetworkAccess::Full {
        profile.push_str(SEATBELT_NETWORK_RULES);
    }
    Ok(profile)
}

fn add_seatbelt_allow_rule(profile: &mut String, what: &str, path: &Path) -> Result<(), PathBuf> {
    add_seatbelt_rule(profile, "allow", what, path)
}

fn add_seatbelt_rule(profile: &mut String, rule: &str, what: &str, path: &Path) -> Result<(), PathBuf> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| path.to_owned())?;
    let quoted = text.replace('\\', r"\\").replace('"', r#"\""#);
    // Writing to a `String` can't fail.
    let _ = writeln!(profile, "({rule} {what} (subpath \"{quoted}\"))");
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
            profile.contains(r#"(allow file-read* (subpath "/a\") (allow file-write* (subpath \"/"))"#),
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
        assert!(profile.contains("(allow file-read* (subpath \"/data\"))"), "the folder must be readable: {profile}");
        assert!(!profile.contains("file-write* (subpath \"/data\"))"), "the folder must not be writable: {profile}");
        assert!(profile.contains("file-write* (subpath \"/own\"))"), "the server's own home must be writable");
        let denied = profile.find("(deny file-read* file-write* (subpath \"/data/drawbridge\"))");
        assert!(
            denied > profile.find("(subpath \"/data\")"),
            "S10: the denial of hidden folders must come last, because the last rule wins"
        );
        assert!(profile.contains("network-outbound"), "the network must be allowed");
    }
}
