//! Looks whether WebKitGTK's web process really runs apart: WebKitGTK leaves its sandbox off without a word where it thinks that it
//! can't work (in containers and packages of other systems). `linux.rs` asks for Settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The web process's name, cut to the 15 bytes that the kernel keeps.
const NAME: &str = "WebKitWebProces";
/// The namespaces that are its own in the sandbox. The user namespace is not among them: root needs none of its own.
const NAMESPACES: [&str; 2] = ["pid", "mnt"];

/// Whether there is a web process of this app, and each of them runs in namespaces of its own.
pub(super) fn is_apart() -> bool {
    let proc = Path::new("/proc");
    let own = std::process::id();
    let web_processes = descendants(&processes(proc), own, NAME);
    !web_processes.is_empty() && web_processes.iter().all(|pid| differs(proc, own, *pid))
}

/// Name and parent of each process.
type Processes = BTreeMap<u32, (String, u32)>;

fn processes(proc: &Path) -> Processes {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let (name, parent) = name_and_parent(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
            Some((pid, (name, parent)))
        })
        .collect()
}

/// The second and the fourth field of `stat`; the name stands in brackets and may hold anything (proc_pid_stat(5)).
fn name_and_parent(stat: &str) -> Option<(String, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    Some((name, after.split_whitespace().nth(1)?.parse().ok()?))
}

/// The processes of this name below an ancestor.
fn descendants(processes: &Processes, ancestor: u32, name: &str) -> Vec<u32> {
    let is_below = |mut pid: u32| {
        // Bounded by their number, as what was read at different moments may form a ring.
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

/// Whether two processes share none of the namespaces. What can't be read is not known to differ.
fn differs(proc: &Path, one: u32, other: u32) -> bool {
    let namespace = |pid: u32, name: &str| fs::read_link(proc.join(pid.to_string()).join("ns").join(name)).ok();
    NAMESPACES.iter().all(|name| match (namespace(one, name), namespace(other, name)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        assert_eq!(name_and_parent("7 (a ) b) S 3 7 7 0"), Some(("a ) b".to_owned(), 3)), "up to the last bracket");
        assert_eq!(name_and_parent("7 (a) S"), None, "what is too short says nothing");
    }

    #[test]
    fn web_processes_of_other_apps_do_not_count() {
        let process = |name: &str, parent| (name.to_owned(), parent);
        let processes = Processes::from([
            (10, process("drawbridge", 1)),
            (11, process("bwrap", 10)),
            (12, process("bwrap", 11)),
            (13, process(NAME, 12)),
            (14, process("WebKitNetworkPr", 10)),
            (20, process("epiphany", 1)),
            (21, process(NAME, 20)),
            (30, process(NAME, 31)),
            (31, process(NAME, 30)),
        ]);
        assert_eq!(descendants(&processes, 10, NAME), [13], "the one below the app");
    }

    #[test]
    fn a_process_shares_its_own_namespaces() {
        let own = std::process::id();
        assert!(!differs(Path::new("/proc"), own, own), "they are the same");
        let namespaces = tempfile::tempdir().expect("a folder");
        for (pid, pid_namespace, mounts) in
            [("1", "pid:[1]", "mnt:[1]"), ("2", "pid:[2]", "mnt:[2]"), ("3", "pid:[2]", "mnt:[1]")]
        {
            let folder = namespaces.path().join(pid).join("ns");
            fs::create_dir_all(&folder).expect("a folder");
            std::os::unix::fs::symlink(pid_namespace, folder.join("pid")).expect("a link");
            std::os::unix::fs::symlink(mounts, folder.join("mnt")).expect("a link");
        }
        assert!(differs(namespaces.path(), 1, 2), "none is shared");
        assert!(!differs(namespaces.path(), 1, 3), "the file system is shared");
        assert!(!differs(namespaces.path(), 1, 4), "one that can't be looked at is not known to be apart");
    }
}
