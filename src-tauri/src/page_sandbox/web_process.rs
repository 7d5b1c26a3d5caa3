//! Checks that WebKitGTK's web process runs in its sandbox.
//!
//! WebKitGTK silently omits the sandbox in environments where it expects the sandbox to fail, such as containers and
//! Flatpak or Snap packages. Called by `linux.rs` for the report on the settings page.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Name of WebKitGTK's web process, as truncated by the kernel to 15 bytes.
const WEB_PROCESS_NAME: &str = "WebKitWebProces";
/// Kinds of namespaces that the sandbox separates and that are checked. The user namespace is not checked, because the
/// sandbox of a process of root has none of its own.
const SANDBOX_NAMESPACES: [&str; 2] = ["pid", "mnt"];

/// Returns `true` if Drawbridge has web processes and all of them run in separate namespaces.
pub(super) fn is_web_process_isolated() -> bool {
    let proc = Path::new("/proc");
    let own = std::process::id();
    let web_processes = descendant_processes_with_name(&read_process_table(proc), own, WEB_PROCESS_NAME);
    !web_processes.is_empty() && web_processes.iter().all(|pid| has_separate_namespaces(proc, own, *pid))
}

/// All processes of the system: the name and the parent of each process, by process identifier.
type ProcessTable = BTreeMap<u32, (String, u32)>;

fn read_process_table(proc: &Path) -> ProcessTable {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let (name, parent) = parse_name_and_parent(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
            Some((pid, (name, parent)))
        })
        .collect()
}

/// Parses the name and the parent's identifier in a file `/proc/PID/stat`. The name is in parentheses and may contain
/// any character (proc_pid_stat(5)).
fn parse_name_and_parent(stat: &str) -> Option<(String, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    Some((name, after.split_whitespace().nth(1)?.parse().ok()?))
}

/// Returns the identifiers of the processes with the name `name` that are descendants of the process `ancestor`.
fn descendant_processes_with_name(processes: &ProcessTable, ancestor: u32, name: &str) -> Vec<u32> {
    let is_below = |mut pid: u32| {
        // The number of steps is limited, because entries that were read at different times may form a cycle.
        for _ in 0..processes.len() {
            match processes.get(&pid) {
                Some((_, parent)) if *parent == ancestor => return true,
                Some((_, parent)) => pid = *parent,
                None => return false,
            }
        }
        false
    };
    processes.iter().filter(|(pid, (own, _))| own == name && is_below(**pid)).map(|(pid, _)| *pid).collect()
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
    fn process_name_may_contain_any_character() {
        assert_eq!(
            parse_name_and_parent("7 (a ) b) S 3 7 7 0"),
            Some(("a ) b".to_owned(), 3)),
            "the name should end at the last parenthesis"
        );
        assert_eq!(parse_name_and_parent("7 (a) S"), None, "a truncated line should be rejected");
    }

    #[test]
    fn web_processes_of_other_apps_are_ignored() {
        let process = |name: &str, parent| (name.to_owned(), parent);
        let processes = ProcessTable::from([
            (10, process("drawbridge", 1)),
            (11, process("bwrap", 10)),
            (12, process("bwrap", 11)),
            (13, process(WEB_PROCESS_NAME, 12)),
            (14, process("WebKitNetworkPr", 10)),
            (20, process("epiphany", 1)),
            (21, process(WEB_PROCESS_NAME, 20)),
            (30, process(WEB_PROCESS_NAME, 31)),
            (31, process(WEB_PROCESS_NAME, 30)),
        ]);
        assert_eq!(
            descendant_processes_with_name(&processes, 10, WEB_PROCESS_NAME),
            [13],
            "only the web process of the app should be found"
        );
    }

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
