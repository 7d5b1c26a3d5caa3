//! Installs the packages in a fresh root of the same Debian, uses the .deb as a user would, removes them, and looks for
//! leftovers.
//!
//! The packages are tested with the steps of a new user, in CI and before a release (`cargo xtask dist --check`). The
//! .deb is installed without its recommended packages, its window opens, and a new user reaches the result of a first
//! approved call in six clicks (`tests/desktop/new-user.mjs`), driven by WebKit's driver. The driver is only installed
//! at that point, so that it does not bring a library that the package omits. After the removal only the users' data
//! remains. The .rpm is installed without dependencies, verified and removed. The root inherits no environment
//! variables: cargo's `LD_LIBRARY_PATH` alone kept the page's sandbox from starting.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::step;
use crate::{node, workspace};

/// Packages that the trial needs in the root, apart from the dependencies of the package.
const EXTRA_PACKAGES: &str = "mount,xvfb,xauth,dbus,dbus-x11,imagemagick,bubblewrap,xdg-dbus-proxy";
/// Script that runs in the root, with a timeout for each step that waits.
const DEB_SCRIPT: &str = include_str!("install.sh");
/// Script that runs outside the root, since the root has no rpm.
const RPM_SCRIPT: &str = include_str!("install-rpm.sh");
/// Script that enters the root, in a namespace whose mounts and processes end with it. A user can only make namespaces
/// if the root is that of the mount namespace, so it uses pivot_root instead of chroot. Arguments: the root, the folder
/// `tests`, and Node.js for the driver of the window.
const ENTER_ROOT_SCRIPT: &str = r#"mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys \
&& mount -t tmpfs tmpfs run && mount --bind /etc/resolv.conf etc/resolv.conf \
&& mkdir srv/tests && touch srv/node && mount --bind "$1" srv/tests && mount --bind "$2" srv/node \
&& pivot_root . mnt && umount -l /mnt && exec /bin/sh /tmp/install.sh"#;

/// By which apt reaches the package lists, where it takes a proxy.
const PROXY_VARIABLES: &[&str] = &["http_proxy", "https_proxy", "no_proxy"];

/// Installs and uses the packages. Needs root privileges, for mounts and users in the new root.
pub(super) fn test_packages(deb: &Path, rpm: Option<&Path>) -> Result<(), Problem> {
    if Program::new("id").arg("-u").output()?.trim() != "0" {
        println!("Left out: the installation in a fresh root, which only root can set up.");
        return Ok(());
    }
    let root = create_root()?;
    let outcome = test_deb(&root, deb).and_then(|()| rpm.map_or(Ok(()), |rpm| test_rpm(&root, rpm)));
    fs::remove_dir_all(&root).map_err(Problem::file(&root))?;
    outcome
}

fn test_deb(root: &Path, deb: &Path) -> Result<(), Problem> {
    let tests = workspace::tests_folder();
    node::install_packages(&tests, &mut Program::run)?;
    let node = Program::new("node").args(["-p", "process.execPath"]).output()?;
    let inside = root.join("tmp/drawbridge.deb");
    fs::copy(deb, &inside).map_err(Problem::file(&inside))?;
    let script = root.join("tmp/install.sh");
    fs::write(&script, DEB_SCRIPT).map_err(Problem::file(&script))?;
    step("installing, using and removing the .deb in the fresh root");
    // Only proxy settings are inherited: cargo's LD_LIBRARY_PATH, for example, names folders that do not exist there.
    let kept = PROXY_VARIABLES.iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
    let outcome = Program::new("env")
        .args(["-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"])
        .args(kept)
        .args(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER_ROOT_SCRIPT])
        .args([root, &tests, Path::new(node.trim())])
        .run();
    copy_pictures(&root.join("tmp"))?;
    outcome
}

/// Copies the pictures of the window out of the root.
fn copy_pictures(from: &Path) -> Result<(), Problem> {
    let to = workspace::target_folder("screenshots/installed")?;
    for folder in [from.to_path_buf(), from.join("first-start")] {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "png") {
                let kept = to.join(entry.file_name());
                fs::copy(entry.path(), &kept).map_err(Problem::file(&kept))?;
            }
        }
    }
    println!("Screenshots: {}", to.display());
    Ok(())
}

/// Installs the .rpm without its dependencies, which have Fedora's names. The .deb has already installed their
/// libraries.
fn test_rpm(root: &Path, rpm: &Path) -> Result<(), Problem> {
    step("installing, starting and removing the .rpm in the fresh root");
    Program::new("sh").args(["-c", RPM_SCRIPT]).args([root, rpm]).run()
}

/// A minimal system of the same release as this one.
fn create_root() -> Result<PathBuf, Problem> {
    let release = fs::read_to_string("/etc/os-release").map_err(Problem::file("/etc/os-release"))?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.ok_or_else(|| Problem::Machine("/etc/os-release names no release of Debian".into()))?;
    let root = workspace::target_folder("dist-stage")?.join("root");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(Problem::file(&root))?;
    }
    step(&format!("making a fresh root of {codename}"));
    Program::new("mmdebstrap")
        .args(["--quiet", "--mode=root", "--variant=apt", "--include", EXTRA_PACKAGES, codename])
        .arg(&root)
        .run()?;
    Ok(root)
}
