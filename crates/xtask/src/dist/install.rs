//! Tests the packages in a new root file system of the same Debian release: installs the .deb, uses it like a new user,
//! removes it, and checks for leftover files.
//!
//! The test runs in CI and before a release (`cargo xtask dist --check`). The .deb is installed without its recommended
//! packages. The app must open its window, and a new user must get the result of a first approved call within
//! four clicks (`tests/desktop/installed.mjs`), controlled through WebKit's WebDriver. The driver is installed only for
//! this step, so that its dependencies can't hide a missing dependency of the package. After the removal only the
//! users' data may remain. The .rpm is installed without dependencies, verified and removed. No environment variables
//! are passed to the root, since `LD_LIBRARY_PATH` as set by cargo prevented the page's sandbox from starting.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::print_step;
use crate::{node, workspace};

/// Packages that the test requires in the root file system, in addition to the dependencies of the .deb.
const EXTRA_TEST_PACKAGES: &str = "mount,xvfb,xauth,dbus,dbus-x11,imagemagick,bubblewrap,xdg-dbus-proxy";
/// Script that runs inside the root file system. Each of its waiting steps has a timeout.
const DEB_TEST_SCRIPT: &str = include_str!("install.sh");
/// Script that runs outside the root file system, since `rpm` is not installed in it.
const RPM_TEST_SCRIPT: &str = include_str!("install-rpm.sh");
/// Script that enters the new root file system in a namespace whose mounts and processes end with it. It uses
/// pivot_root instead of chroot, because unprivileged users can't create namespaces after a chroot. Arguments: the root
/// file system, the folder `tests`, and the path of Node.js for the WebDriver client.
const ENTER_CHROOT_SCRIPT: &str = r#"mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys \
&& mount -t tmpfs tmpfs run && mount --bind /etc/resolv.conf etc/resolv.conf \
&& mkdir srv/tests && touch srv/node && mount --bind "$1" srv/tests && mount --bind "$2" srv/node \
&& pivot_root . mnt && umount -l /mnt && exec /bin/sh /tmp/install.sh"#;

/// Environment variables with the proxy that apt uses for downloads.
const PROXY_VARIABLES: &[&str] = &["http_proxy", "https_proxy", "no_proxy"];

/// Installs and uses the packages in a new root file system. Skipped unless run as root, which is required for mounts
/// and for users in the new root file system.
pub(super) fn test_package_installation(deb: &Path, rpm: Option<&Path>) -> Result<(), Problem> {
    if Program::new("id").arg("-u").output()?.trim() != "0" {
        println!("Skipped: the installation in a fresh root, which requires root privileges.");
        return Ok(());
    }
    let root = create_root_file_system()?;
    let outcome = test_deb(&root, deb).and_then(|()| rpm.map_or(Ok(()), |rpm| test_rpm(&root, rpm)));
    fs::remove_dir_all(&root).map_err(Problem::file_error(&root))?;
    outcome
}

fn test_deb(root: &Path, deb: &Path) -> Result<(), Problem> {
    let tests = workspace::tests_folder();
    node::install_packages(&tests, &mut Program::run)?;
    let node = Program::new("node").args(["-p", "process.execPath"]).output()?;
    let inside = root.join("tmp/drawbridge.deb");
    fs::copy(deb, &inside).map_err(Problem::file_error(&inside))?;
    let script = root.join("tmp/install.sh");
    fs::write(&script, DEB_TEST_SCRIPT).map_err(Problem::file_error(&script))?;
    print_step("installing, using and removing the .deb in the fresh root");
    // Only proxy settings are passed on. Cargo's `LD_LIBRARY_PATH`, for example, contains folders that do not exist in
    // the root file system.
    let variables = PROXY_VARIABLES.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
    let outcome = Program::new("env")
        .args(["-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])
        .args(variables)
        .args(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER_CHROOT_SCRIPT])
        .args([root, &tests, Path::new(node.trim())])
        .run();
    copy_screenshots(&root.join("tmp"))?;
    outcome
}

/// Copies the screenshots of the window out of the root file system.
fn copy_screenshots(from: &Path) -> Result<(), Problem> {
    let to = workspace::create_folder_in_target("screenshots/installed")?;
    for folder in [from.to_path_buf(), from.join("first-start")] {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "png") {
                let target = to.join(entry.file_name());
                fs::copy(entry.path(), &target).map_err(Problem::file_error(&target))?;
            }
        }
    }
    println!("Screenshots: {}", to.display());
    Ok(())
}

/// Installs the .rpm without dependencies, because they have Fedora's package names. The libraries are already present
/// as dependencies of the .deb.
fn test_rpm(root: &Path, rpm: &Path) -> Result<(), Problem> {
    print_step("installing, starting and removing the .rpm in the fresh root");
    Program::new("sh").args(["-c", RPM_TEST_SCRIPT]).args([root, rpm]).run()
}

/// Creates a minimal root file system of the same Debian release as this system, and returns its path.
fn create_root_file_system() -> Result<PathBuf, Problem> {
    let release = fs::read_to_string("/etc/os-release").map_err(Problem::file_error("/etc/os-release"))?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.ok_or_else(|| Problem::Machine("/etc/os-release names no release of Debian".into()))?;
    let root = workspace::create_folder_in_target("dist-stage")?.join("root");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(Problem::file_error(&root))?;
    }
    print_step(&format!("making a fresh root of {codename}"));
    Program::new("mmdebstrap")
        .args(["--quiet", "--mode=root", "--variant=apt", "--include", EXTRA_TEST_PACKAGES, codename])
        .arg(&root)
        .run()?;
    Ok(root)
}
