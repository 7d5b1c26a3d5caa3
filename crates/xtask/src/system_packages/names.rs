//! Required system packages, and their names on each distribution.

use std::path::Path;

use crate::process;

/// A required system package.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// Debian's and Ubuntu's name.
    pub(crate) debian: &'static str,
    /// Name of the package on Fedora.
    pub(super) fedora: &'static str,
    /// Name of the package on Arch Linux.
    pub(super) arch: &'static str,
    /// Sign that the package is installed, for systems without dpkg.
    sign: Sign,
    /// macOS and Windows have it, or do without.
    pub(super) only_linux: bool,
}

#[derive(Clone, Copy)]
enum Sign {
    /// Name of a module that pkg-config knows.
    Module(&'static str),
    /// Program that responds to these arguments.
    Program(&'static str, &'static [&'static str]),
    /// The file is there.
    File(&'static str),
}

impl Need {
    pub(super) fn is_there(&self) -> bool {
        match self.sign {
            Sign::Module(module) => process::answers("pkg-config", &["--exists", module]),
            Sign::Program(program, arguments) => process::answers(program, arguments),
            Sign::File(path) => Path::new(path).exists(),
        }
    }
}

const fn need(debian: &'static str, fedora: &'static str, arch: &'static str, sign: Sign) -> Need {
    Need { debian, fedora, arch, sign, only_linux: true }
}

/// To compile and link anything.
pub(crate) const COMPILER: &[Need] = &[
    need("build-essential", "gcc-c++", "base-devel", Sign::Program("cc", &["--version"])),
    need("pkg-config", "pkgconf-pkg-config", "pkgconf", Sign::Program("pkg-config", &["--version"])),
];

/// To compile the shell.
pub(crate) const BUILD_SHELL: &[Need] = &[
    need("libwebkit2gtk-4.1-dev", "webkit2gtk4.1-devel", "webkit2gtk-4.1", Sign::Module("webkit2gtk-4.1")),
    need("libdbus-1-dev", "dbus-devel", "dbus", Sign::Module("dbus-1")),
    need("file", "file", "file", Sign::Program("file", &["--version"])),
];

/// Packages for opening a window without a display, and for taking its picture.
pub(crate) const HEADLESS: &[Need] = &[
    need("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", Sign::Program("Xvfb", &["-help"])),
    need("xauth", "xorg-x11-xauth", "xorg-xauth", Sign::Program("xauth", &["-V"])),
    need("dbus", "dbus-daemon", "dbus", Sign::Program("dbus-run-session", &["--version"])),
    need("dbus-x11", "dbus-x11", "dbus", Sign::Program("dbus-launch", &["--version"])),
    need("imagemagick", "ImageMagick", "imagemagick", Sign::Program("import", &["-version"])),
];

/// Packages for a real keychain on a separate message bus.
pub(crate) const KEYCHAIN: &[Need] = &[
    need("dbus", "dbus-daemon", "dbus", Sign::Program("dbus-run-session", &["--version"])),
    need("gnome-keyring", "gnome-keyring", "gnome-keyring", Sign::Program("gnome-keyring-daemon", &["--version"])),
];

/// Packages for sandboxing servers and the page. On systems that do not let users create namespaces, the tests report
/// the omitted cases. WebKitGTK's packages install both on Debian and Fedora.
pub(crate) const SANDBOX: &[Need] = &[
    need("bubblewrap", "bubblewrap", "bubblewrap", Sign::Program("bwrap", &["--version"])),
    need("xdg-dbus-proxy", "xdg-dbus-proxy", "xdg-dbus-proxy", Sign::Program("xdg-dbus-proxy", &["--version"])),
];

/// Packages for the real servers from PyPI, the server that works on a git repository, and the official program that
/// signs bundles.
pub(crate) const INTEROP: &[Need] = &[
    Need {
        only_linux: false,
        ..need("python3-venv", "python3", "python", Sign::Program("python3", &["-c", "import venv, ensurepip"]))
    },
    Need { only_linux: false, ..need("git", "git", "git", Sign::Program("git", &["--version"])) },
    Need { only_linux: false, ..need("openssl", "openssl", "openssl", Sign::Program("openssl", &["version"])) },
];

/// Packages for counting instructions.
pub(crate) const VALGRIND: &[Need] =
    &[need("valgrind", "valgrind", "valgrind", Sign::Program("valgrind", &["--version"]))];

/// For pictures of the page with Chinese text in them.
pub(crate) const PAGE: &[Need] = &[need(
    "fonts-noto-cjk",
    "google-noto-sans-cjk-fonts",
    "noto-fonts-cjk",
    Sign::Program("sh", &["-c", "fc-list :lang=zh | grep -q ."]),
)];

/// The browser for the page's tests, on Debian.
pub(crate) const CHROMIUM: Need = need("chromium", "chromium", "chromium", Sign::File("/usr/bin/chromium"));

/// To pack for Debian and Fedora.
pub(crate) const PACKAGING: &[Need] = &[
    need("dpkg-dev", "dpkg-dev", "dpkg", Sign::Program("dpkg-shlibdeps", &["--version"])),
    need("rpm", "rpm-build", "rpm-tools", Sign::Program("rpmbuild", &["--version"])),
];

/// To check packages, and to make the fresh root that they are installed in.
pub(crate) const PACKAGE_CHECKS: &[Need] = &[
    need("lintian", "lintian", "lintian", Sign::Program("lintian", &["--version"])),
    need("rpmlint", "rpmlint", "rpmlint", Sign::Program("rpmlint", &["--version"])),
    need(
        "desktop-file-utils",
        "desktop-file-utils",
        "desktop-file-utils",
        Sign::Program("desktop-file-validate", &["--help"]),
    ),
    need("appstream", "appstream", "appstream", Sign::Program("appstreamcli", &["--version"])),
    need("mmdebstrap", "mmdebstrap", "mmdebstrap", Sign::Program("mmdebstrap", &["--version"])),
];

/// To drive the real window.
pub(crate) const WINDOW_TESTS: &[Need] = &[need(
    "webkit2gtk-driver",
    "webkit2gtk4.1-devel",
    "webkit2gtk-4.1",
    Sign::Program("WebKitWebDriver", &["--help"]),
)];
