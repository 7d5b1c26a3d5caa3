//! Detects the operating system and the way to install packages on it.

use std::{env, fs};

use super::names::RequiredPackage;
use crate::process;

/// A family of operating systems with the same package manager.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OperatingSystem {
    /// Debian, Ubuntu and their derivatives, with apt-get.
    Debian {
        ubuntu: bool,
    },
    Fedora,
    Arch,
    OtherLinux,
    MacOs,
    Windows,
}

impl OperatingSystem {
    pub(super) fn detect() -> Self {
        match env::consts::OS {
            "macos" => Self::MacOs,
            "windows" => Self::Windows,
            _ => {
                let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
                match Self::from_os_release(&release) {
                    // Some derivatives of Debian have no apt-get.
                    Self::Debian { .. } if !process::command_succeeds("apt-get", &["--version"]) => Self::OtherLinux,
                    system => system,
                }
            }
        }
    }

    /// Returns the system described by the text of `/etc/os-release`.
    fn from_os_release(text: &str) -> Self {
        let field = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or("").trim_matches('"')
        };
        let family: Vec<_> = field("ID").split(' ').chain(field("ID_LIKE").split(' ')).collect();
        if family.contains(&"ubuntu") {
            Self::Debian { ubuntu: true }
        } else if family.contains(&"debian") {
            Self::Debian { ubuntu: false }
        } else if family.contains(&"fedora") || family.contains(&"rhel") {
            Self::Fedora
        } else if family.contains(&"arch") {
            Self::Arch
        } else {
            Self::OtherLinux
        }
    }

    /// Returns a text with the missing packages and the command that installs them, for systems on which xtask does not
    /// install packages itself.
    pub(super) fn install_hint(&self, missing: &[&RequiredPackage]) -> String {
        let names = |name: fn(&RequiredPackage) -> &str| {
            let mut names: Vec<_> = missing.iter().map(|need| name(need)).collect();
            names.sort_unstable();
            names.dedup();
            names.join(" ")
        };
        match self {
            Self::Fedora => format!("missing; install with: sudo dnf install {}", names(|need| need.fedora)),
            Self::Arch => format!("missing; install with: sudo pacman -S --needed {}", names(|need| need.arch)),
            Self::MacOs => format!("missing: {}; Homebrew has them", names(|need| need.debian)),
            Self::Windows => format!("missing: {}; winget has them", names(|need| need.debian)),
            Self::Debian { .. } | Self::OtherLinux => format!(
                "missing; they are called on Debian: {}. Install what your system calls them",
                names(|need| need.debian)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system_packages::{DESKTOP_APP_BUILD_PACKAGES, VIRTUAL_DISPLAY_PACKAGES};

    #[test]
    fn os_release_file_selects_the_distribution() {
        let cases = [
            ("NAME=\"Debian GNU/Linux\"\nID=debian\nVERSION_ID=\"12\"\n", OperatingSystem::Debian { ubuntu: false }),
            ("ID=ubuntu\nID_LIKE=debian\n", OperatingSystem::Debian { ubuntu: true }),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", OperatingSystem::Debian { ubuntu: true }),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", OperatingSystem::Fedora),
            ("ID=arch\n", OperatingSystem::Arch),
            ("ID=alpine\n", OperatingSystem::OtherLinux),
            ("", OperatingSystem::OtherLinux),
        ];
        for (text, expected) in cases {
            assert_eq!(OperatingSystem::from_os_release(text), expected, "for {text:?}");
        }
    }

    #[test]
    fn hint_uses_the_package_names_of_its_system_once_each() {
        let missing: Vec<_> = DESKTOP_APP_BUILD_PACKAGES.iter().chain(VIRTUAL_DISPLAY_PACKAGES).collect();
        let fedora = OperatingSystem::Fedora.install_hint(&missing);
        assert!(
            fedora.contains("dnf install") && fedora.contains("webkit2gtk4.1-devel"),
            "the hint should contain Fedora's names: {fedora}"
        );
        let arch = OperatingSystem::Arch.install_hint(&missing);
        assert_eq!(arch.matches(" dbus").count(), 1, "three requirements should be one package on Arch: {arch}");
        assert!(
            OperatingSystem::OtherLinux.install_hint(&missing).contains("libwebkit2gtk-4.1-dev"),
            "other systems should get Debian's names"
        );
    }
}
