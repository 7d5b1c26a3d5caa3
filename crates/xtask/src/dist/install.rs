//! Installs the .deb in a fresh root of the same Debian, uses it as a user would, removes it, and looks for what is left.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::process::Program;
use crate::progress::step;
use crate::workspace;

/// What the trial needs in the root and the package does not depend on.
const INCLUDED: &str = "mount,xvfb,xauth,dbus,dbus-x11,imagemagick,bubblewrap,xdg-dbus-proxy";
/// Runs in the root; it has a time of its own for each step that waits.
const SCRIPT: &str = include_str!("install.sh");

/// Tries the package. Needs root, for mounts and users of a system of its own.
pub(super) fn try_out(deb: &Path, _yes: bool) -> Result<(), Problem> {
    if Program::new("id").arg("-u").output()?.trim() != "0" {
        println!("Left out: the installation in a fresh root, which only root can set up.");
        return Ok(());
    }
    let root = fresh_root()?;
    let inside = root.join("tmp/drawbridge.deb");
    fs::copy(deb, &inside).map_err(Problem::file(&inside))?;
    let script = root.join("tmp/install.sh");
    fs::write(&script, SCRIPT).map_err(Problem::file(&script))?;
    step("installing, using and removing the .deb in the fresh root");
    // A namespace of its own: its mounts and processes end with it. A user can only make namespaces where the root is
    // that of the mount namespace, so it is pivoted, not chrooted.
    let enter = "mount --bind \"$0\" \"$0\" && cd \"$0\" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys \
                 && mount -t tmpfs tmpfs run && mount --bind /etc/resolv.conf etc/resolv.conf && pivot_root . mnt \
                 && umount -l /mnt && exec /bin/sh /tmp/install.sh";
    let outcome = Program::new("unshare")
        .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter])
        .arg(&root)
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .run();
    let picture = root.join("tmp/window.png");
    if picture.is_file() {
        let kept = workspace::target_folder("screenshots")?.join("installed.png");
        fs::copy(&picture, &kept).map_err(Problem::file(&kept))?;
        println!("Screenshot: {}", kept.display());
    }
    fs::remove_dir_all(&root).map_err(Problem::file(&root))?;
    outcome
}

/// A minimal system of the same release as this one.
fn fresh_root() -> Result<PathBuf, Problem> {
    let release = fs::read_to_string("/etc/os-release").map_err(Problem::file("/etc/os-release"))?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.ok_or_else(|| Problem::Machine("/etc/os-release names no release of Debian".into()))?;
    let root = workspace::target_folder("dist-stage")?.join("root");
    if root.exists() {
        fs::remove_dir_all(&root).map_err(Problem::file(&root))?;
    }
    step(&format!("making a fresh root of {codename}"));
    Program::new("mmdebstrap")
        .args(["--quiet", "--mode=root", "--variant=apt", "--include", INCLUDED, codename])
        .arg(&root)
        .run()?;
    Ok(root)
}
