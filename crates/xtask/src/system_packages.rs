//! Detects and installs the system packages that building and testing require.

mod names;
mod system;

use std::io::{IsTerminal, Write, stdin, stdout};

pub(crate) use names::{
    CHROMIUM_PACKAGE, COMPILER_PACKAGES, DESKTOP_APP_BUILD_PACKAGES, HEADLESS_CHROMIUM_PATH, INTEROP_PACKAGES,
    KEYCHAIN_PACKAGES, PACKAGE_CHECK_TOOLS, PACKAGING_TOOLS, PAGE_TEST_PACKAGES, RequiredPackage, SANDBOX_PACKAGES,
    VALGRIND_PACKAGES, VIRTUAL_DISPLAY_PACKAGES, WINDOW_TEST_PACKAGES,
};
use system::OperatingSystem;

use crate::problem::Problem;
use crate::process::{self, Program};
use crate::progress::print_step;

/// Installs those of the packages in `needs` that are missing, after the user has confirmed it as in
/// [`confirm_installation_of_missing_packages`].
pub(crate) fn ensure_packages_are_installed(needs: &[RequiredPackage], yes: bool) -> Result<(), Problem> {
    confirm_installation_of_missing_packages(needs, yes)?.map_or(Ok(()), |missing| missing.install())
}

/// Missing system packages, whose installation with apt-get the user has confirmed.
pub(crate) struct ConfirmedPackages {
    names: Vec<&'static str>,
    root: bool,
}

/// Returns the packages in `needs` that are missing, or `None` if all are installed. On systems with apt-get, asks the
/// user to confirm their installation, except if the user is root or `yes` is set. On other systems, returns an error
/// that lists the missing packages and the command to install them.
pub(crate) fn confirm_installation_of_missing_packages(
    needs: &[RequiredPackage],
    yes: bool,
) -> Result<Option<ConfirmedPackages>, Problem> {
    let system = OperatingSystem::detect();
    let missing = match &system {
        OperatingSystem::Debian { .. } => packages_missing_on_debian(needs, &query_dpkg_status(needs)?),
        OperatingSystem::MacOs | OperatingSystem::Windows => {
            needs.iter().filter(|need| !need.only_linux && !need.is_present()).collect()
        }
        _ => needs.iter().filter(|need| !need.is_present()).collect(),
    };
    if missing.is_empty() {
        return Ok(None);
    }
    match &system {
        OperatingSystem::Debian { .. } => {
            confirm_missing_packages(missing.iter().map(|need| need.debian).collect(), yes).map(Some)
        }
        other => Err(Problem::Machine(other.install_hint(&missing))),
    }
}

/// Returns `true` if the desktop app can be built: WebKitGTK is installed, or the system does not use it.
pub(crate) fn can_build_desktop_app() -> bool {
    cfg!(not(target_os = "linux")) || DESKTOP_APP_BUILD_PACKAGES.iter().all(RequiredPackage::is_present)
}

/// Returns `true` if Debian's Chromium packages are available. Ubuntu only has a snap, which tests can't control.
pub(crate) fn has_debian_chromium() -> bool {
    matches!(OperatingSystem::detect(), OperatingSystem::Debian { ubuntu: false })
}

/// Returns dpkg's output about the required packages, which lists the installed ones.
fn query_dpkg_status(needs: &[RequiredPackage]) -> Result<String, Problem> {
    let names = needs.iter().map(|need| need.debian);
    let query = Program::new("dpkg-query").args(["-W", "-f", "${Package} ${db:Status-Status}\n"]).args(names);
    // dpkg-query fails if one name is unknown, but still lists the other packages.
    let (text, _) = query.without_stderr().output_and_result()?;
    Ok(text)
}

fn packages_missing_on_debian<'a>(needs: &'a [RequiredPackage], installed: &str) -> Vec<&'a RequiredPackage> {
    let is_installed = |name: &str| installed.lines().any(|line| line.split_once(' ') == Some((name, "installed")));
    needs.iter().filter(|need| !is_installed(need.debian)).collect()
}

fn confirm_missing_packages(names: Vec<&'static str>, yes: bool) -> Result<ConfirmedPackages, Problem> {
    println!("System packages that are missing: {}", names.join(" "));
    let root = is_root_user();
    if !root && !yes && !ask_to_install_packages()? {
        return Err(Problem::Machine(format!("install them yourself: sudo apt-get install {}", names.join(" "))));
    }
    if !root && !process::command_succeeds("sudo", &["--version"]) {
        return Err(Problem::Machine(format!(
            "installing needs root, and sudo is not here; as root: apt-get install {}",
            names.join(" ")
        )));
    }
    Ok(ConfirmedPackages { names, root })
}

impl ConfirmedPackages {
    /// Installs the packages with apt-get.
    pub(crate) fn install(&self) -> Result<(), Problem> {
        print_step(&format!("installing {} system packages with apt-get", self.names.len()));
        // A failed update of an unrelated package source is ignored. The installation reports packages that can't be
        // found.
        if let Err(problem) = apt_get(self.root, &["update", "-qq"]) {
            println!("{problem}; trying with the package lists that are here");
        }
        let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
        arguments.extend(&self.names);
        apt_get(self.root, &arguments)
    }
}

fn apt_get(root: bool, arguments: &[&str]) -> Result<(), Problem> {
    let apt = if root { Program::new("env") } else { Program::new("sudo").with_inherited_stdin().arg("env") };
    apt.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]).args(arguments).run()
}

fn is_root_user() -> bool {
    Program::new("id").arg("-u").output().is_ok_and(|id| id.trim() == "0")
}

fn ask_to_install_packages() -> Result<bool, Problem> {
    if !stdin().is_terminal() {
        return Ok(false);
    }
    print!("Install them with apt-get now? [Y/n] ");
    stdout().flush().map_err(Problem::file_error("standard output"))?;
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(Problem::file_error("standard input"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_or_absent_package_is_missing() {
        let dpkg = "build-essential installed\nlibdbus-1-dev config-files\npkg-config installed\n";
        let needs: Vec<RequiredPackage> = DESKTOP_APP_BUILD_PACKAGES.iter().chain(COMPILER_PACKAGES).copied().collect();
        let missing: Vec<_> = packages_missing_on_debian(&needs, dpkg).iter().map(|need| need.debian).collect();
        assert_eq!(
            missing,
            ["libwebkit2gtk-4.1-dev", "libdbus-1-dev", "file"],
            "only completely installed packages should count"
        );
    }

    #[test]
    fn package_name_prefix_is_not_a_match() {
        let missing = packages_missing_on_debian(VIRTUAL_DISPLAY_PACKAGES, "dbus-x11 installed\nxvfb installed\n");
        assert!(missing.iter().any(|need| need.debian == "dbus"), "dbus-x11 should not count as dbus");
    }
}
