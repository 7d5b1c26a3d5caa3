//! Describes the system in a report. Only names from lists in this crate and numbers are used, since a variable or a
//! file may contain private data.

use crate::computer::ProcessEnvironment;
use crate::text::NumericVersion;

/// Names of desktop environments, as in `XDG_CURRENT_DESKTOP`. A report contains no other names.
const KNOWN_DESKTOP_ENVIRONMENTS: &[&str] = &[
    "GNOME",
    "KDE",
    "XFCE",
    "LXQt",
    "LXDE",
    "MATE",
    "Cinnamon",
    "X-Cinnamon",
    "Budgie",
    "Pantheon",
    "Unity",
    "COSMIC",
    "Hyprland",
    "sway",
    "niri",
    "i3",
    "Deepin",
    "Enlightenment",
];
/// Names of Linux distributions, as in `ID` in the file os-release. A report contains no other names.
const KNOWN_DISTRIBUTIONS: &[&str] = &[
    "debian",
    "ubuntu",
    "linuxmint",
    "pop",
    "fedora",
    "rhel",
    "rocky",
    "almalinux",
    "centos",
    "opensuse-tumbleweed",
    "opensuse-leap",
    "arch",
    "manjaro",
    "endeavouros",
    "nixos",
    "guix",
    "gentoo",
    "alpine",
    "void",
    "elementary",
    "zorin",
    "kali",
    "raspbian",
    "steamos",
];

/// Environment variables that the desktop app's package formats set, each with the display name of the format.
const PACKAGE_FORMAT_VARIABLES: [(&str, &str); 3] =
    [("APPIMAGE", "AppImage"), ("FLATPAK_ID", "Flatpak"), ("SNAP", "Snap")];

/// Returns a description of the operating system, its version, and the processor architecture. `os_release` and
/// `kernel` are the contents of system files.
pub(crate) fn describe_system(os_release: Option<&str>, kernel: Option<&str>) -> String {
    let mut text = std::env::consts::OS.to_owned();
    if let Some(release) = os_release {
        let value = |name: &str| {
            let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.map(|value| value.trim_matches(['"', '\'']))
        };
        let named = value("ID").and_then(|id| find_known_name(KNOWN_DISTRIBUTIONS, id));
        text.push_str(&format!(", {}", named.unwrap_or("another distribution")));
        if let Some(version) = value("VERSION_ID").and_then(numeric_version_text) {
            text.push_str(&format!(" {version}"));
        }
    }
    if let Some(kernel) = kernel {
        let version =
            NumericVersion::find(kernel).map_or_else(|| "of unknown version".to_owned(), |version| version.to_string());
        text.push_str(&format!(", kernel {version}"));
        if kernel.to_ascii_lowercase().contains("microsoft") {
            text.push_str(" (WSL)");
        }
    }
    format!("{text}, {}", std::env::consts::ARCH)
}

/// Returns a description of the desktop environment and the type of its session, such as Wayland.
pub(crate) fn describe_desktop_session(environment: &ProcessEnvironment) -> String {
    let desktop = match environment.text("XDG_CURRENT_DESKTOP") {
        None => "no desktop named",
        Some(names) => names
            .split(':')
            .find_map(|name| find_known_name(KNOWN_DESKTOP_ENVIRONMENTS, name))
            .unwrap_or("another desktop"),
    };
    let kind = match environment.text("XDG_SESSION_TYPE") {
        None => "",
        Some(kind) => find_known_name(&["wayland", "x11", "tty", "mir"], kind).unwrap_or("another kind of session"),
    };
    let wayland = environment.get("WAYLAND_DISPLAY").map(|_| "Wayland display");
    let x11 = environment.get("DISPLAY").map(|_| "X display");
    let packed = PACKAGE_FORMAT_VARIABLES
        .iter()
        .find(|(variable, _)| environment.get(variable).is_some())
        .map(|(_, name)| *name);
    let parts = [Some(desktop), Some(kind), wayland, x11, packed];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn find_known_name(list: &[&'static str], name: &str) -> Option<&'static str> {
    list.iter().find(|known| known.eq_ignore_ascii_case(name)).copied()
}

/// Returns the text if it is a version that consists only of digits and dots, or `None` otherwise.
fn numeric_version_text(text: &str) -> Option<String> {
    let is_number = !text.is_empty() && text.len() <= 12 && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number.then(|| text.to_owned())
}

/// Returns the content of the file os-release, and the kernel's version, each `None` if it can't be read.
pub(crate) fn read_os_release_and_kernel_version() -> (Option<String>, Option<String>) {
    let text = |path: &str| std::fs::read_to_string(path).ok();
    if cfg!(target_os = "linux") { (text("/etc/os-release"), text("/proc/sys/kernel/osrelease")) } else { (None, None) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_description_has_only_known_names_and_numbers() {
        let description =
            describe_system(Some("NAME=\"canary\"\nID=debian\nVERSION_ID=\"12\"\n"), Some("6.1.0-18-canary-amd64"));
        assert_eq!(
            description,
            format!("{}, debian 12, kernel 6.1.0, {}", std::env::consts::OS, std::env::consts::ARCH)
        );
        let description = describe_system(Some("ID=canary\nVERSION_ID=canary\n"), Some("canary"));
        assert!(description.contains("another distribution, kernel of unknown version"), "{description}");
        let variables = [("XDG_CURRENT_DESKTOP", "ubuntu:GNOME"), ("XDG_SESSION_TYPE", "wayland"), ("DISPLAY", ":0")];
        assert_eq!(
            describe_desktop_session(&ProcessEnvironment::with_variables(&variables, None)),
            "GNOME, wayland, X display"
        );
        let variables = [("XDG_CURRENT_DESKTOP", "canary"), ("XDG_SESSION_TYPE", "canary"), ("SNAP", "/snap/canary")];
        assert_eq!(
            describe_desktop_session(&ProcessEnvironment::with_variables(&variables, None)),
            "another desktop, another kind of session, Snap"
        );
    }
}
