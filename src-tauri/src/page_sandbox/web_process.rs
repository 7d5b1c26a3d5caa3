//! Checks that WebKitGTK's web process runs in its sandbox.
//!
//! WebKitGTK silently omits the sandbox in environments where it expects the sandbox to fail, such as containers and
//! Flatpak or Snap packages. Called by `linux.rs` for the report on the settings page.

use std::fs;
use std::path::Path;

use crate::web_view_processes::{WEB_PROCESS_NAME, read_process_table, web_view_processes_with_name};

/// Kinds of namespaces that the sandbox separates and that are checked. The user namespace is not checked, because the
/// sandbox of a process of root has none of its own.
const SANDBOX_NAMESPACES: [&str; 2] = ["pid", "mnt"];

/// Returns `true` if Drawbridge has web processes and all of them run in separate namespaces.
pub(super) fn is_web_process_isolated() -> bool {
    let proc = Path::new("/proc");
    let own = std::process::id();
    let web_processes = web_view_processes_with_name(&read_process_table(proc), own, WEB_PROCESS_NAME);
    !web_processes.is_empty() && web_processes.iter().all(|id| has_separate_namespaces(proc, own, id.pid))
}

/// Returns `true` if two processes have different namespaces of all kinds in [`SANDBOX_NAMESPACES`]. A namespace that
/// can't be read counts as the same.
fn has_separate_namespaces(proc: &Path, one: u32, other: u32) -> bool {
    let namespace = |pid: u32, name: &str| fs::read_link(proc.join(pid.to_string()).join("ns").join(name)).ok();
    SANDBOX_NAMESPACES.iter().all(|name| match (namespace(one, name), namespace(other, name)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_sharing_a_namespace_kind_are_not_separated() {
        let own = std::process::id();
        assert!(
            !has_separate_namespaces(Path::new("/proc"), own, own),
            "a process should share its namespaces with itself"
        );
        let namespaces = tempfile::tempdir().expect("a folder");
        for (pid, pid_namespace, mounts) in
            [("1", "pid:[1]", "mnt:[1]"), ("2", "pid:[2]", "mnt:[2]"), ("3", "pid:[2]", "mnt:[1]")]
        {
            let folder = namespaces.path().join(pid).join("ns");
            fs::create_dir_all(&folder).expect("a folder");
            std::os::unix::fs::symlink(pid_namespace, folder.join("pid")).expect("a link");
            std::os::unix::fs::symlink(mounts, folder.join("mnt")).expect("a link");
        }
        assert!(has_separate_namespaces(namespaces.path(), 1, 2), "separate namespaces should differ");
        assert!(!has_separate_namespaces(namespaces.path(), 1, 3), "a shared mount namespace should not differ");
        assert!(!has_separate_namespaces(namespaces.path(), 1, 4), "unreadable namespaces should count as shared");
    }
}
