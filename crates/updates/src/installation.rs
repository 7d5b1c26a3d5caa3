//! Determines how this app was installed, and therefore how it can be updated.

use std::path::{Path, PathBuf};

use serde::Serialize;

/// Package type that Tauri's bundler embeds in the executable of the desktop app. Drawbridge's own .deb and .rpm
/// packages embed none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddedPackageType {
    /// An AppImage that was created by Tauri's bundler.
    AppImage,
    /// A .deb package that was created by Tauri's bundler.
    Deb,
    /// An .rpm package that was created by Tauri's bundler.
    Rpm,
    /// A macOS .app bundle, distributed in a .dmg.
    App,
    /// A setup program for Windows, created with NSIS.
    Nsis,
    /// A Windows Installer package (MSI), which no release uses.
    Msi,
}

/// Facts about the running desktop app, from which [`Installation::detect`] derives how it was installed.
#[derive(Debug, Clone, Default)]
pub struct InstallationFacts {
    /// Package type that is embedded in the executable, or `None` if there is none.
    pub bundle: Option<EmbeddedPackageType>,
    /// Path of the running app's executable.
    pub program: PathBuf,
    /// Path of the AppImage file, as in the environment variable `APPIMAGE`, or `None` if it is not set.
    pub appimage: Option<PathBuf>,
    /// Set if the app runs in a Flatpak, which the file `/.flatpak-info` shows.
    pub flatpak: bool,
    /// Set if the app runs in a snap, which the environment variable `SNAP` shows.
    pub snap: bool,
}

/// Kind of installation of the running desktop app, which determines how it can be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Installation {
    /// An AppImage file. For an update, Drawbridge replaces the file.
    AppImage,
    /// An app bundle on macOS. For an update, Drawbridge replaces the bundle.
    MacApp,
    /// An installation by the setup program for Windows. For an update, Drawbridge runs the setup program of the new
    /// version.
    WindowsSetup,
    /// A package of the operating system, such as a .deb or .rpm. The package manager updates it.
    SystemPackage,
    /// A Flatpak. The `flatpak` command updates it.
    Flatpak,
    /// A snap. The service snapd updates it.
    Snap,
    /// A build from source, or an unknown kind of installation.
    Unknown,
}

/// Folders in which all files belong to the operating system's package manager, except those in [`LOCAL_ADMIN_FOLDER`].
const PACKAGE_MANAGER_FOLDERS: [&str; 3] = ["/usr", "/bin", "/opt"];
/// Folder below `/usr` whose files belong to the computer's administrator and not to the package manager.
const LOCAL_ADMIN_FOLDER: &str = "/usr/local";

impl Installation {
    /// Determines the kind of installation from facts about the running app.
    #[must_use]
    pub fn detect(traces: &InstallationFacts) -> Self {
        // A container format is decisive: the program in it may come from any other package.
        if traces.flatpak {
            return Self::Flatpak;
        }
        if traces.snap {
            return Self::Snap;
        }
        match traces.bundle {
            Some(EmbeddedPackageType::Deb | EmbeddedPackageType::Rpm) => Self::SystemPackage,
            // APPIMAGE alone is no proof: programs started by another AppImage inherit it.
            Some(EmbeddedPackageType::AppImage) if traces.appimage.is_some() => Self::AppImage,
            Some(EmbeddedPackageType::App) => Self::MacApp,
            Some(EmbeddedPackageType::Nsis) => Self::WindowsSetup,
            // An unpacked AppImage, or a package type that no release has.
            Some(EmbeddedPackageType::AppImage | EmbeddedPackageType::Msi) => Self::Unknown,
            None if is_in_package_manager_folder(&traces.program) => Self::SystemPackage,
            None => Self::Unknown,
        }
    }

    /// Returns the key under which a release manifest lists the file for this kind of installation, or `None` if
    /// Drawbridge does not update this kind itself. `os` and `arch` are those of [`std::env::consts`].
    #[must_use]
    pub fn manifest_platform_key(self, os: &str, arch: &str) -> Option<String> {
        let (os_name, package) = match (self, os) {
            (Self::AppImage, "linux") => ("linux", "appimage"),
            (Self::MacApp, "macos") => ("darwin", "app"),
            (Self::WindowsSetup, "windows") => ("windows", "nsis"),
            _ => return None,
        };
        Some(format!("{os_name}-{arch}-{package}"))
    }
}

fn is_in_package_manager_folder(program: &Path) -> bool {
    PACKAGE_MANAGER_FOLDERS.iter().any(|folder| program.starts_with(folder)) && !program.starts_with(LOCAL_ADMIN_FOLDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_installation(bundle: Option<EmbeddedPackageType>, program: &str, appimage: Option<&str>) -> Installation {
        Installation::detect(&InstallationFacts {
            bundle,
            program: program.into(),
            appimage: appimage.map(PathBuf::from),
            ..InstallationFacts::default()
        })
    }

    #[test]
    fn package_type_is_detected_by_embedded_type_or_path() {
        let image = Some("/home/ann/Drawbridge.AppImage");
        assert_eq!(
            detect_installation(Some(EmbeddedPackageType::AppImage), "/tmp/.mount_x/usr/bin/drawbridge", image),
            Installation::AppImage
        );
        assert_eq!(
            detect_installation(Some(EmbeddedPackageType::AppImage), "/home/ann/squashfs-root/AppRun", None),
            Installation::Unknown,
            "unpacked"
        );
        assert_eq!(
            detect_installation(Some(EmbeddedPackageType::Deb), "/home/ann/drawbridge", None),
            Installation::SystemPackage
        );
        assert_eq!(
            detect_installation(None, "/usr/bin/drawbridge", None),
            Installation::SystemPackage,
            "our packages have no embedded type"
        );
        assert_eq!(
            detect_installation(None, "/usr/bin/drawbridge", image),
            Installation::SystemPackage,
            "an inherited APPIMAGE must be ignored"
        );
        assert_eq!(
            detect_installation(None, "/usr/local/bin/drawbridge", None),
            Installation::Unknown,
            "a program copied to /usr/local must not count as a package"
        );
        assert_eq!(
            detect_installation(None, "/home/ann/src/target/release/drawbridge", None),
            Installation::Unknown,
            "a source build must not count as a package"
        );
        assert_eq!(
            detect_installation(Some(EmbeddedPackageType::App), "/Applications/Drawbridge.app", None),
            Installation::MacApp
        );
        assert_eq!(
            detect_installation(Some(EmbeddedPackageType::Msi), "C:\\Program Files\\drawbridge.exe", None),
            Installation::Unknown
        );
    }

    #[test]
    fn flatpak_and_snap_are_detected_despite_an_embedded_package_type() {
        let traces = InstallationFacts {
            bundle: Some(EmbeddedPackageType::Nsis),
            flatpak: true,
            ..InstallationFacts::default()
        };
        assert_eq!(Installation::detect(&traces), Installation::Flatpak);
        let traces =
            InstallationFacts { bundle: Some(EmbeddedPackageType::Deb), snap: true, ..InstallationFacts::default() };
        assert_eq!(Installation::detect(&traces), Installation::Snap);
    }

    #[test]
    fn only_updatable_installations_have_a_manifest_platform_key() {
        let linux = |installation: Installation| installation.manifest_platform_key("linux", "x86_64");
        assert_eq!(linux(Installation::AppImage).as_deref(), Some("linux-x86_64-appimage"));
        assert_eq!(
            Installation::MacApp.manifest_platform_key("macos", "aarch64").as_deref(),
            Some("darwin-aarch64-app")
        );
        assert_eq!(
            Installation::WindowsSetup.manifest_platform_key("windows", "x86_64").as_deref(),
            Some("windows-x86_64-nsis")
        );
        for other in [Installation::SystemPackage, Installation::Flatpak, Installation::Snap, Installation::Unknown] {
            assert_eq!(linux(other), None, "{other:?}");
        }
        assert_eq!(linux(Installation::MacApp), None, "a system must not have the package of another one");
    }
}
