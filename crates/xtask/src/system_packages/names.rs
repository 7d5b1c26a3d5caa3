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
    evidence: PackageEvidence,
    /// `true` if macOS and Windows do not require the package or always include it.
    pub(super) only_linux: bool,
}

#[derive(Clone, Copy)]
enum PackageEvidence {
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
            PackageEvidence::Module(module) => process::command_succeeds("pkg-config", &["--exists", module]),
            PackageEvidence::Program(program, arguments) => process::command_succeeds(program, arguments),
            PackageEvidence::File(path) => Path::new(path).exists(),
        }
    }
}

const fn required_package(
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    evidence: PackageEvidence,
) -> RequiredPackage {
    RequiredPackage { debian, fedora, arch, evidence, only_linux: true }
}

/// Packages for compiling and linking any crate.
pub(crate) const COMPILER_PACKAGES: &[RequiredPackage] = &[
    required_package("build-essential", "gcc-c++", "base-devel", PackageEvidence::Program("cc", &["--version"])),
    required_package(
        "pkg-config",
        "pkgconf-pkg-config",
        "pkgconf",
        PackageEvidence::Program("pkg-config", &["--version"]),
    ),
];

/// Packages for compiling the desktop app.
pub(crate) const DESKTOP_APP_BUILD_PACKAGES: &[RequiredPackage] = &[
    required_package(
        "libwebkit2gtk-4.1-dev",
        "webkit2gtk4.1-devel",
        "webkit2gtk-4.1",
        PackageEvidence::Module("webkit2gtk-4.1"),
    ),
    required_package("libdbus-1-dev", "dbus-devel", "dbus", PackageEvidence::Module("dbus-1")),
    required_package("file", "file", "file", PackageEvidence::Program("file", &["--version"])),
];

/// Packages for opening a window on a virtual display, and for taking screenshots of it.
pub(crate) const HEADLESS_PACKAGES: &[RequiredPackage] = &[
    required_package("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", PackageEvidence::Program("Xvfb", &["-help"])),
    required_package("xauth", "xorg-x11-xauth", "xorg-xauth", PackageEvidence::Program("xauth", &["-V"])),
    required_package("dbus", "dbus-daemon", "dbus", PackageEvidence::Program("dbus-run-session", &["--version"])),
    required_package("dbus-x11", "dbus-x11", "dbus", PackageEvidence::Program("dbus-launch", &["--version"])),
    required_package("imagemagick", "ImageMagick", "imagemagick", PackageEvidence::Program("import", &["-version"])),
];

/// Packages for running a real keychain on a separate session bus.
pub(crate) const KEYCHAIN_PACKAGES: &[RequiredPackage] = &[
    required_package("dbus", "dbus-daemon", "dbus", PackageEvidence::Program("dbus-run-session", &["--version"])),
    required_package(
        "gnome-keyring",
        "gnome-keyring",
        "gnome-keyring",
        PackageEvidence::Program("gnome-keyring-daemon", &["--version"]),
    ),
];

/// Packages for the sandboxes of servers and of the page. WebKitGTK's packages install them on Debian and Fedora. If
/// the system does not let users create namespaces, the tests report the skipped cases.
pub(crate) const SANDBOX_PACKAGES: &[RequiredPackage] = &[
    required_package("bubblewrap", "bubblewrap", "bubblewrap", PackageEvidence::Program("bwrap", &["--version"])),
    required_package(
        "xdg-dbus-proxy",
        "xdg-dbus-proxy",
        "xdg-dbus-proxy",
        PackageEvidence::Program("xdg-dbus-proxy", &["--version"]),
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
            PackageEvidence::Program("python3", &["-c", "import venv, ensurepip"]),
        )
    },
    RequiredPackage {
        only_linux: false,
        ..required_package("git", "git", "git", PackageEvidence::Program("git", &["--version"]))
    },
    RequiredPackage {
        only_linux: false,
        ..required_package("openssl", "openssl", "openssl", PackageEvidence::Program("openssl", &["version"]))
    },
];

/// Packages for counting instructions with callgrind.
pub(crate) const VALGRIND_PACKAGES: &[RequiredPackage] =
    &[required_package("valgrind", "valgrind", "valgrind", PackageEvidence::Program("valgrind", &["--version"]))];

/// Package with fonts for screenshots of the page with Chinese text.
pub(crate) const PAGE_TEST_PACKAGES: &[RequiredPackage] = &[required_package(
    "fonts-noto-cjk",
    "google-noto-sans-cjk-fonts",
    "noto-fonts-cjk",
    PackageEvidence::Program("sh", &["-c", "fc-list :lang=zh | grep -q ."]),
)];

/// Executable of [`CHROMIUM_PACKAGE`].
pub(crate) const HEADLESS_CHROMIUM: &str = "/usr/bin/chromium-headless-shell";

/// Browser for the tests of the page on Debian. A full Chromium takes a third more processor time, as it runs a browser
/// window around the page.
pub(crate) const CHROMIUM_PACKAGE: RequiredPackage = required_package(
    "chromium-headless-shell",
    "chromium-headless",
    "chromium",
    PackageEvidence::File(HEADLESS_CHROMIUM),
);

/// Packages for building Debian and Fedora packages.
pub(crate) const PACKAGING_TOOLS: &[RequiredPackage] = &[
    required_package("dpkg-dev", "dpkg-dev", "dpkg", PackageEvidence::Program("dpkg-shlibdeps", &["--version"])),
    required_package("rpm", "rpm-build", "rpm-tools", PackageEvidence::Program("rpmbuild", &["--version"])),
];

/// Packages for checking the built packages, and for creating the root file system in which they are installed.
pub(crate) const PACKAGE_CHECK_TOOLS: &[RequiredPackage] = &[
    required_package("lintian", "lintian", "lintian", PackageEvidence::Program("lintian", &["--version"])),
    required_package("rpmlint", "rpmlint", "rpmlint", PackageEvidence::Program("rpmlint", &["--version"])),
    required_package(
        "desktop-file-utils",
        "desktop-file-utils",
        "desktop-file-utils",
        PackageEvidence::Program("desktop-file-validate", &["--help"]),
    ),
    required_package("appstream", "appstream", "appstream", PackageEvidence::Program("appstreamcli", &["--version"])),
    required_package("mmdebstrap", "mmdebstrap", "mmdebstrap", PackageEvidence::Program("mmdebstrap", &["--version"])),
];

/// Packages for controlling the real desktop window, and for reading what it exports to screen readers.
pub(crate) const WINDOW_TEST_PACKAGES: &[RequiredPackage] = &[
    required_package(
        "webkit2gtk-driver",
        "webkit2gtk4.1-devel",
        "webkit2gtk-4.1",
        PackageEvidence::Program("WebKitWebDriver", &["--help"]),
    ),
    required_package(
        "at-spi2-core",
        "at-spi2-core",
        "at-spi2-core",
        PackageEvidence::File("/usr/share/dbus-1/services/org.a11y.Bus.service"),
    ),
    required_package(
        "gir1.2-atspi-2.0",
        "at-spi2-core",
        "at-spi2-core",
        PackageEvidence::Program("/usr/bin/python3", &["-c", READS_ACCESSIBLE_OBJECTS]),
    ),
    required_package(
        "python3-gi",
        "python3-gobject-base",
        "python-gobject",
        PackageEvidence::Program("/usr/bin/python3", &["-c", "import gi"]),
    ),
];

/// Python program that succeeds if it can read the accessible objects of other programs.
const READS_ACCESSIBLE_OBJECTS: &str = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi";
