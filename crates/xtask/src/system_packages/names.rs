//! Required system packages, and their names on each distribution.

use std::path::Path;

use crate::process;

/// Required system package, with its name on each distribution.
#[derive(Clone, Copy)]
pub(crate) struct RequiredPackage {
    /// Name of the package on Debian and Ubuntu.
    pub(crate) debian: &'static str,
    /// Name of the package on Fedora.
    pub(super) fedora: &'static str,
    /// Name of the package on Arch Linux.
    pub(super) arch: &'static str,
    /// Check for the presence of the package, used on systems without dpkg.
    evidence: PackagePresenceCheck,
    /// `true` if macOS and Windows do not require the package or always include it.
    pub(super) only_linux: bool,
}

#[derive(Clone, Copy)]
enum PackagePresenceCheck {
    /// Module that pkg-config finds if the package is installed.
    Module(&'static str),
    /// Program that exits successfully with these arguments.
    Program(&'static str, &'static [&'static str]),
    /// File that exists if the package is installed.
    File(&'static str),
}

impl RequiredPackage {
    pub(super) fn is_present(&self) -> bool {
        match self.evidence {
            PackagePresenceCheck::Module(module) => process::command_succeeds("pkg-config", &["--exists", module]),
            PackagePresenceCheck::Program(program, arguments) => process::command_succeeds(program, arguments),
            PackagePresenceCheck::File(path) => Path::new(path).exists(),
        }
    }
}

const fn required_package(
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    evidence: PackagePresenceCheck,
) -> RequiredPackage {
    RequiredPackage { debian, fedora, arch, evidence, only_linux: true }
}

/// Packages for compiling and linking any crate.
pub(crate) const COMPILER_PACKAGES: &[RequiredPackage] = &[
    required_package("build-essential", "gcc-c++", "base-devel", PackagePresenceCheck::Program("cc", &["--version"])),
    required_package(
        "pkg-config",
        "pkgconf-pkg-config",
        "pkgconf",
        PackagePresenceCheck::Program("pkg-config", &["--version"]),
    ),
];

/// Packages for compiling the desktop app.
pub(crate) const DESKTOP_APP_BUILD_PACKAGES: &[RequiredPackage] = &[
    required_package(
        "libwebkit2gtk-4.1-dev",
        "webkit2gtk4.1-devel",
        "webkit2gtk-4.1",
        PackagePresenceCheck::Module("webkit2gtk-4.1"),
    ),
    required_package("libdbus-1-dev", "dbus-devel", "dbus", PackagePresenceCheck::Module("dbus-1")),
    required_package("file", "file", "file", PackagePresenceCheck::Program("file", &["--version"])),
];

/// Packages for opening a window on a virtual display, and for taking screenshots of it.
pub(crate) const VIRTUAL_DISPLAY_PACKAGES: &[RequiredPackage] = &[
    required_package(
        "xvfb",
        "xorg-x11-server-Xvfb",
        "xorg-server-xvfb",
        PackagePresenceCheck::Program("Xvfb", &["-help"]),
    ),
    required_package("xauth", "xorg-x11-xauth", "xorg-xauth", PackagePresenceCheck::Program("xauth", &["-V"])),
    required_package("dbus", "dbus-daemon", "dbus", PackagePresenceCheck::Program("dbus-run-session", &["--version"])),
    required_package("dbus-x11", "dbus-x11", "dbus", PackagePresenceCheck::Program("dbus-launch", &["--version"])),
    required_package(
        "imagemagick",
        "ImageMagick",
        "imagemagick",
        PackagePresenceCheck::Program("import", &["-version"]),
    ),
];

/// Packages for running a real keychain on a separate session bus.
pub(crate) const KEYCHAIN_PACKAGES: &[RequiredPackage] = &[
    required_package("dbus", "dbus-daemon", "dbus", PackagePresenceCheck::Program("dbus-run-session", &["--version"])),
    required_package(
        "gnome-keyring",
        "gnome-keyring",
        "gnome-keyring",
        PackagePresenceCheck::Program("gnome-keyring-daemon", &["--version"]),
    ),
];

/// Packages for the sandboxes of servers and of the page. WebKitGTK's packages install them on Debian and Fedora. If
/// the system does not let users create namespaces, the tests report the skipped cases.
pub(crate) const SANDBOX_PACKAGES: &[RequiredPackage] = &[
    required_package("bubblewrap", "bubblewrap", "bubblewrap", PackagePresenceCheck::Program("bwrap", &["--version"])),
    required_package(
        "xdg-dbus-proxy",
        "xdg-dbus-proxy",
        "xdg-dbus-proxy",
        PackagePresenceCheck::Program("xdg-dbus-proxy", &["--version"]),
    ),
];

/// Packages for the interoperability tests: Python for servers from PyPI, git for a server that uses it, and openssl
/// for the official program that signs bundles.
pub(crate) const INTEROP_PACKAGES: &[RequiredPackage] = &[
    RequiredPackage {
        only_linux: false,
        ..required_package(
            "python3-venv",
            "python3",
            "python",
            PackagePresenceCheck::Program("python3", &["-c", "import venv, ensurepip"]),
        )
    },
    RequiredPackage {
        only_linux: false,
        ..required_package("git", "git", "git", PackagePresenceCheck::Program("git", &["--version"]))
    },
    RequiredPackage {
        only_linux: false,
        ..required_package("openssl", "openssl", "openssl", PackagePresenceCheck::Program("openssl", &["version"]))
    },
];

/// Packages for counting instructions with callgrind.
pub(crate) const VALGRIND_PACKAGES: &[RequiredPackage] =
    &[required_package("valgrind", "valgrind", "valgrind", PackagePresenceCheck::Program("valgrind", &["--version"]))];

/// Package with fonts for screenshots of the page with Chinese text.
pub(crate) const PAGE_TEST_PACKAGES: &[RequiredPackage] = &[required_package(
    "fonts-noto-cjk",
    "google-noto-sans-cjk-fonts",
    "noto-fonts-cjk",
    PackagePresenceCheck::Program("sh", &["-c", "fc-list :lang=zh | grep -q ."]),
)];

/// Executable of [`CHROMIUM_PACKAGE`].
pub(crate) const HEADLESS_CHROMIUM_PATH: &str = "/usr/bin/chromium-headless-shell";

/// Browser for the tests of the page on Debian. A full Chromium takes a third more processor time, as it runs a browser
/// window around the page.
pub(crate) const CHROMIUM_PACKAGE: RequiredPackage = required_package(
    "chromium-headless-shell",
    "chromium-headless",
    "chromium",
    PackagePresenceCheck::File(HEADLESS_CHROMIUM_PATH),
);

/// Packages for building Debian and Fedora packages.
pub(crate) const PACKAGING_TOOLS: &[RequiredPackage] = &[
    required_package("dpkg-dev", "dpkg-dev", "dpkg", PackagePresenceCheck::Program("dpkg-shlibdeps", &["--version"])),
    required_package("rpm", "rpm-build", "rpm-tools", PackagePresenceCheck::Program("rpmbuild", &["--version"])),
];

/// Packages for checking the built packages, and for creating the root file system in which they are installed.
pub(crate) const PACKAGE_CHECK_TOOLS: &[RequiredPackage] = &[
    required_package("lintian", "lintian", "lintian", PackagePresenceCheck::Program("lintian", &["--version"])),
    required_package("rpmlint", "rpmlint", "rpmlint", PackagePresenceCheck::Program("rpmlint", &["--version"])),
    required_package(
        "desktop-file-utils",
        "desktop-file-utils",
        "desktop-file-utils",
        PackagePresenceCheck::Program("desktop-file-validate", &["--help"]),
    ),
    required_package(
        "appstream",
        "appstream",
        "appstream",
        PackagePresenceCheck::Program("appstreamcli", &["--version"]),
    ),
    required_package(
        "mmdebstrap",
        "mmdebstrap",
        "mmdebstrap",
        PackagePresenceCheck::Program("mmdebstrap", &["--version"]),
    ),
];

/// Packages for controlling the real desktop window, and for reading what it exports to screen readers.
pub(crate) const WINDOW_TEST_PACKAGES: &[RequiredPackage] = &[
    required_package(
        "webkit2gtk-driver",
        "webkit2gtk4.1-devel",
        "webkit2gtk-4.1",
        PackagePresenceCheck::Program("WebKitWebDriver", &["--help"]),
    ),
    required_package(
        "at-spi2-core",
        "at-spi2-core",
        "at-spi2-core",
        PackagePresenceCheck::File("/usr/share/dbus-1/services/org.a11y.Bus.service"),
    ),
    required_package(
        "gir1.2-atspi-2.0",
        "at-spi2-core",
        "at-spi2-core",
        PackagePresenceCheck::Program("/usr/bin/python3", &["-c", ACCESSIBLE_OBJECTS_CHECK_SCRIPT]),
    ),
    required_package(
        "python3-gi",
        "python3-gobject-base",
        "python-gobject",
        PackagePresenceCheck::Program("/usr/bin/python3", &["-c", "import gi"]),
    ),
];

/// Python program that succeeds if it can read the accessible objects of other programs.
const ACCESSIBLE_OBJECTS_CHECK_SCRIPT: &str =
    "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi";
