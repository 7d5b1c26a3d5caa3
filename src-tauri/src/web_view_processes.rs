//! Processes of WebKitGTK below this one: their names, the memory that they use, and their end.
//!
//! WebKitGTK has no function that returns the process of a web view, so that they are found in `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Name of the process that draws the page of a window, as truncated by the kernel to 15 bytes.
pub(crate) const WEB_PROCESS_NAME: &str = "WebKitWebProces";
/// Names of the processes that serve all pages, as truncated by the kernel. The first one stores the content of blobs.
const SHARED_PROCESS_NAMES: [&str; 2] = ["WebKitNetworkPr", "WebKitGPUProces"];

/// A process of the web view, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WebViewProcess {
    pub(crate) pid: i32,
    pub(crate) role: WebViewProcessRole,
    /// Memory that the process uses in bytes, also in the swap space.
    pub(crate) bytes: u64,
}

/// Role of a process of the web view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebViewProcessRole {
    /// It draws the page of one window.
    DrawsPage,
    /// It serves the pages of all windows.
    SharedByPages,
}

/// Returns all processes of the web view that can be read, with their sizes. Blocks while it reads `/proc`.
pub(crate) fn read_web_view_processes() -> Vec<WebViewProcess> {
    read_web_view_processes_in(Path::new("/proc"), std::process::id())
}

fn read_web_view_processes_in(proc: &Path, own: u32) -> Vec<WebViewProcess> {
    let processes = read_process_table(proc);
    let read = |name: &str, role: WebViewProcessRole| -> Vec<WebViewProcess> {
        let pids = descendant_processes_with_name(&processes, own, name).into_iter();
        pids.filter_map(|pid| {
            let status = fs::read_to_string(proc.join(pid.to_string()).join("status")).ok()?;
            Some(WebViewProcess { pid: pid.try_into().ok()?, role, bytes: parse_memory_bytes(&status)? })
        })
        .collect()
    };
    let mut found = read(WEB_PROCESS_NAME, WebViewProcessRole::DrawsPage);
    for name in SHARED_PROCESS_NAMES {
        found.extend(read(name, WebViewProcessRole::SharedByPages));
    }
    found
}

/// Ends a process at once.
///
/// # Errors
/// Returns an error if the process has ended already.
pub(crate) fn end_process(pid: i32) -> nix::Result<()> {
    kill(Pid::from_raw(pid), Signal::SIGKILL)
}

/// All processes of the system: the name and the parent of each process, by process identifier.
pub(crate) type ProcessTable = BTreeMap<u32, (String, u32)>;

pub(crate) fn read_process_table(proc: &Path) -> ProcessTable {
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

/// Parses the memory in bytes that a process uses in a file `/proc/PID/status`: resident pages and those in the swap
/// space. Returns `None` for a process that has ended and was not awaited, which uses none (proc_pid_status(5)).
fn parse_memory_bytes(status: &str) -> Option<u64> {
    let kibibytes = |field: &str| -> Option<u64> {
        let value = status.lines().find_map(|line| line.strip_prefix(field))?;
        value.strip_prefix(':')?.split_whitespace().next()?.parse().ok()
    };
    let resident = kibibytes("VmRSS")?;
    // Missing if the kernel has no swap space.
    Some(resident.saturating_add(kibibytes("VmSwap").unwrap_or_default()).saturating_mul(1024))
}

/// Returns the identifiers of the processes with the name `name` that are descendants of the process `ancestor`.
pub(crate) fn descendant_processes_with_name(processes: &ProcessTable, ancestor: u32, name: &str) -> Vec<u32> {
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
    fn sizes_of_the_web_view_processes_are_read_with_swapped_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let add = |pid: i32, name: &str, parent: i32, memory: &str| {
            let process = folder.path().join(pid.to_string());
            fs::create_dir(&process).expect("a folder");
            fs::write(process.join("stat"), format!("{pid} ({name}) S {parent} 0")).expect("written");
            fs::write(process.join("status"), format!("Name:\t{name}\nVmHWM:\t 999 kB\n{memory}")).expect("written");
        };
        add(10, "drawbridge", 1, "VmRSS:\t     7 kB\n");
        add(11, "WebKitNetworkPr", 10, "VmRSS:\t     8 kB\n");
        add(12, "bwrap", 10, "VmRSS:\t     7 kB\n");
        add(13, WEB_PROCESS_NAME, 12, "VmRSS:\t    20 kB\nRssAnon:\t 9 kB\nVmSwap:\t     5 kB\n");
        add(14, WEB_PROCESS_NAME, 12, "State:\tZ (zombie)\n");
        add(20, WEB_PROCESS_NAME, 1, "VmRSS:\t    20 kB\n");
        assert_eq!(
            read_web_view_processes_in(folder.path(), 10),
            [
                WebViewProcess { pid: 13, role: WebViewProcessRole::DrawsPage, bytes: 25 * 1024 },
                WebViewProcess { pid: 11, role: WebViewProcessRole::SharedByPages, bytes: 8 * 1024 },
            ],
            "only running processes of this web view should be found"
        );
    }
}
