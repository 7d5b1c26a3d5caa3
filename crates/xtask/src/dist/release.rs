//! Version and date of a release. Both are the same in every build of one commit, so that packages are reproducible.

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::workspace;

/// Maintainer of the packages, in the form that Debian and rpm require. The address is a placeholder in a reserved
/// domain (RFC 2606, section 2), so that no mail reaches a stranger. Replace it with a monitored one before the first
/// public release.
pub(super) const PACKAGE_MAINTAINER: &str = "Drawbridge developers <packages@drawbridge.invalid>";
/// Summary of the package in a single line.
pub(super) const PACKAGE_SUMMARY: &str = "desktop app that hosts MCP servers and asks first";
/// Revision of the packaging, to be increased if only the packaging changes.
pub(super) const PACKAGING_REVISION: &str = "1";

/// Version and time of the commit that is packed.
pub(super) struct Release {
    pub(super) version: String,
    /// Time of the commit in seconds since 1970, or the value of `SOURCE_DATE_EPOCH`. Used as modification time of all
    /// packed files.
    pub(super) epoch: u64,
}

impl Release {
    pub(super) fn read() -> Result<Self, Problem> {
        let metadata = cargo()
            .dir(workspace::root_folder())
            .args(["metadata", "--no-deps", "--locked", "--format-version", "1"])
            .output()?;
        let version = parse_desktop_app_version(&metadata)
            .ok_or_else(|| Problem::Machine("cargo metadata names no version of drawbridge".into()))?;
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => Program::new("git").dir(workspace::root_folder()).args(["log", "-1", "--format=%ct"]).output()?,
        };
        let epoch = time
            .trim()
            .parse()
            .map_err(|_| Problem::Machine(format!("the time of the commit is not a number of seconds: {time:?}")))?;
        Ok(Self { version, epoch })
    }

    /// Returns the version of the packages. A pre-release has a tilde, with which it sorts before its release: rpm
    /// allows no hyphen in versions, and dpkg sorts one after the release.
    pub(super) fn package_version(&self) -> String {
        self.version.replace('-', "~")
    }

    /// Returns the time of the release, formatted by date(1).
    pub(super) fn date(&self, format: &str) -> Result<String, Problem> {
        let date = Program::new("date").env("LC_ALL", "C").args(["-u", "-d", &format!("@{}", self.epoch), format]);
        date.output().map(|text| text.trim().to_owned())
    }
}

fn parse_desktop_app_version(metadata: &str) -> Option<String> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    let packages = metadata["packages"].as_array()?;
    let app = packages.iter().find(|package| package["name"] == "drawbridge")?;
    app["version"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_version_is_that_of_the_desktop_app() {
        let metadata =
            r#"{"packages":[{"name":"drawbridge-cli","version":"9.9.9"},{"name":"drawbridge","version":"1.2.3"}]}"#;
        assert_eq!(
            parse_desktop_app_version(metadata).as_deref(),
            Some("1.2.3"),
            "the version of another package should not be used"
        );
        assert_eq!(parse_desktop_app_version("{}"), None, "metadata without packages should have no version");
    }
}
