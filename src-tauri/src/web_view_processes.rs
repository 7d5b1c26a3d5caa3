//! Processes of WebKitGTK below this one: their names, the memory that they use, and their end.
//!
//! WebKitGTK has no function that returns the process of a web view, so that they are found in `/proc`. Servers and
//! other programs that Drawbridge starts are below it as well, and may use WebKitGTK or have the name of one of its
//! processes. Each of them begins a session of its own (setsid(2)), which WebKitGTK does not do, also not for its
//! sandbox. No process can enter a session that exists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Name of the process that draws the page of a window, as truncated by the kernel to 15 bytes.
pub(crate) const WEB_PROCESS_NAME: &str = "WebKitWebProces";
/// Names of the processes that serve all pages, as truncated by the kernel. The first one stores the content of blobs.
const SHARED_PROCESS_NAMES: [&str; 2] = ["WebKitNetworkPr", "WebKitGPUProces"];

/// A process of the web view, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WebViewProcess {
    pub(crate) id: ProcessId,
    pub(crate) role: WebViewProcessRole,
    /// Memory that the process uses in bytes, also in the swap space.
    pub(crate) bytes: u64,
}

/// Identity of a process, also after the process has ended and the system has given its identifier to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessId {
    pub(crate) pid: u32,
    /// Time at which the process began, in ticks of the system's clock.
    pub(crate) start_time: u64,
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
        let ids = web_view_processes_with_name(&processes, own, name).into_iter();
        ids.filter_map(|id| {
            let status = fs::read_to_string(proc.join(id.pid.to_string()).join("status")).ok()?;
            Some(WebViewProcess { id, role, bytes: parse_memory_bytes(&status)? })
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
/// Returns an error if the process has ended already, also if another one has its identifier.
pub(crate) fn end_process(id: ProcessId) -> nix::Result<()> {
    let pid = i32::try_from(id.pid).map_err(|_| Errno::ESRCH)?;
    let stat = read_process_stat(&Path::new("/proc").join(id.pid.to_string()));
    if stat.is_none_or(|stat| stat.start_time != id.start_time) {
        return Err(Errno::ESRCH);
    }
    kill(Pid::from_raw(pid), Signal::SIGKILL)
}

/// All processes of the system, by process identifier.
pub(crate) type ProcessTable = BTreeMap<u32, ProcessStat>;

/// Facts about a process in its file `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    name: String,
    parent: u32,
    /// Identifier of the process that began the session. 0 if that process is outside of Drawbridge's container.
    session: i32,
    start_time: u64,
}

pub(crate) fn read_process_table(proc: &Path) -> ProcessTable {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((pid, read_process_stat(&entry.path())?))
        })
        .collect()
}

fn read_process_stat(process: &Path) -> Option<ProcessStat> {
    parse_process_stat(&fs::read_to_string(process.join("stat")).ok()?)
}

/// Parses a file `/proc/PID/stat`. The name is in parentheses and may contain any character (proc_pid_stat(5)).
fn parse_process_stat(stat: &str) -> Option<ProcessStat> {
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut fields = after.split_whitespace();
    // The state is the third field of the file, and the first one after the name.
    let parent = fields.nth(1)?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let start_time = fields.nth(15)?.parse().ok()?;
    Some(ProcessStat { name, parent, session, start_time })
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

/// Returns the processes of the web view of the process `own` that have the name `name`: those of its descendants that
/// are in its session.
pub(crate) fn web_view_processes_with_name(processes: &ProcessTable, own: u32, name: &str) -> Vec<ProcessId> {
    let Some(session) = processes.get(&own).map(|stat| stat.session) else { return Vec::new() };
    let is_below = |mut pid: u32| {
        // The number of steps is limited, because entries that were read at different times may form a cycle.
        for _ in 0..processes.len() {
            match processes.get(&pid) {
                Some(stat) if stat.parent == own => return true,
                Some(stat) => pid = stat.parent,
                None => return false,
            }
        }
        false
    };
    let found = processes.iter().filter(|(pid, stat)| stat.name == name && stat.session == session && is_below(**pid));
    found.map(|(pid, stat)| ProcessId { pid: *pid, start_time: stat.start_time }).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    const NETWORK_PROCESS_NAME: &str = SHARED_PROCESS_NAMES[0];

    #[test]
    fn process_name_may_contain_any_character() {
        assert_eq!(
            parse_process_stat("7 (a ) b) S 3 6 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 900 1000"),
            Some(ProcessStat { name: "a ) b".to_owned(), parent: 3, session: 5, start_time: 900 }),
            "the name should end at the last parenthesis"
        );
        assert_eq!(parse_process_stat("7 (a) S 3 6 5"), None, "a truncated line should be rejected");
    }

    /// Returns the process identifiers of the web processes and network processes of process 10.
    fn web_and_network_processes(processes: &ProcessTable) -> Vec<u32> {
        let names = [WEB_PROCESS_NAME, NETWORK_PROCESS_NAME].into_iter();
        names.flat_map(|name| web_view_processes_with_name(processes, 10, name)).map(|id| id.pid).collect()
    }

    #[test]
    fn web_view_processes_of_other_programs_are_ignored() {
        let process =
            |name: &str, parent, session| ProcessStat { name: name.to_owned(), parent, session, start_time: 0 };
        let mut processes = ProcessTable::from([
            (10, process("drawbridge", 1, 9)),
            (11, process("bwrap", 10, 9)),
            (12, process("bwrap", 11, 9)),
            (13, process(WEB_PROCESS_NAME, 12, 9)),
            (14, process(NETWORK_PROCESS_NAME, 10, 9)),
            // Another program of the same terminal.
            (20, process("epiphany", 1, 9)),
            (21, process(WEB_PROCESS_NAME, 20, 9)),
            (30, process(WEB_PROCESS_NAME, 31, 9)),
            (31, process(WEB_PROCESS_NAME, 30, 9)),
            // A server that operates a browser, and one that has the name of a process of the web view.
            (40, process("python3", 10, 40)),
            (41, process("MiniBrowser", 40, 40)),
            (42, process(WEB_PROCESS_NAME, 41, 40)),
            (43, process(NETWORK_PROCESS_NAME, 41, 40)),
            (44, process(NETWORK_PROCESS_NAME, 10, 44)),
            // A browser that Drawbridge has opened.
            (50, process("xdg-open", 10, 50)),
            (51, process("epiphany", 50, 50)),
            (52, process(WEB_PROCESS_NAME, 51, 50)),
            (53, process(NETWORK_PROCESS_NAME, 51, 50)),
        ]);
        assert_eq!(
            web_and_network_processes(&processes),
            [13, 14],
            "only the processes of Drawbridge's web view should be found"
        );
        processes.remove(&10);
        assert!(web_and_network_processes(&processes).is_empty(), "without its own session nothing should be found");
    }

    /// Starts a shell that waits for the end of its input, after `prefix`. Returns once it runs.
    #[expect(clippy::disallowed_methods, reason = "starts no server")]
    fn start_shell(prefix: &[&str]) -> Child {
        let arguments = [prefix, &["sh", "-c", "echo ready; read line"]].concat();
        let mut command = Command::new(arguments[0]);
        command.args(&arguments[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = command.spawn().expect("a shell");
        let mut ready = String::new();
        BufReader::new(shell.stdout.as_mut().expect("its output")).read_line(&mut ready).expect("its output");
        shell
    }

    #[test]
    fn child_process_that_begins_a_session_is_none_of_the_web_view() {
        let (mut child, mut server) = (start_shell(&[]), start_shell(&["setsid"]));
        let processes = read_process_table(Path::new("/proc"));
        let found = web_view_processes_with_name(&processes, std::process::id(), "sh");
        let names = [&child, &server].map(|shell| processes[&shell.id()].name.as_str());
        assert_eq!(names, ["sh", "sh"], "both should have the name that is looked for");
        let found: Vec<u32> = found.into_iter().map(|id| id.pid).collect();
        assert!(found.contains(&child.id()), "a child process in the same session should be found");
        assert!(!found.contains(&server.id()), "one that has begun a session should not be found");
        for shell in [&mut child, &mut server] {
            drop(shell.stdin.take());
            shell.wait().expect("the shell should exit");
        }
    }

    #[test]
    fn later_process_with_the_same_identifier_is_not_ended() {
        let mut child = start_shell(&[]);
        let pid = child.id();
        let stat = read_process_stat(&Path::new("/proc").join(pid.to_string())).expect("the process runs");
        let earlier = ProcessId { pid, start_time: stat.start_time - 1 };
        assert_eq!(end_process(earlier), Err(Errno::ESRCH), "another process had this identifier");
        assert_eq!(child.try_wait().expect("its state"), None, "the process should still run");
        end_process(ProcessId { pid, start_time: stat.start_time }).expect("the process should be ended");
        assert!(!child.wait().expect("its end").success(), "the process should have been killed");
    }

    #[test]
    fn sizes_of_the_web_view_processes_are_read_with_swapped_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let add = |pid: u32, name: &str, parent: u32, memory: &str| {
            let process = folder.path().join(pid.to_string());
            fs::create_dir(&process).expect("a folder");
            let start_time = pid * 100;
            let stat = format!("{pid} ({name}) S {parent} 9 9 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {start_time} 0");
            fs::write(process.join("stat"), stat).expect("written");
            fs::write(process.join("status"), format!("Name:\t{name}\nVmHWM:\t 999 kB\n{memory}")).expect("written");
        };
        add(10, "drawbridge", 1, "VmRSS:\t     7 kB\n");
        add(11, NETWORK_PROCESS_NAME, 10, "VmRSS:\t     8 kB\n");
        add(12, "bwrap", 10, "VmRSS:\t     7 kB\n");
        add(13, WEB_PROCESS_NAME, 12, "VmRSS:\t    20 kB\nRssAnon:\t 9 kB\nVmSwap:\t     5 kB\n");
        add(14, WEB_PROCESS_NAME, 12, "State:\tZ (zombie)\n");
        add(20, WEB_PROCESS_NAME, 1, "VmRSS:\t    20 kB\n");
        let id = |pid: u32| ProcessId { pid, start_time: u64::from(pid) * 100 };
        assert_eq!(
            read_web_view_processes_in(folder.path(), 10),
            [
                WebViewProcess { id: id(13), role: WebViewProcessRole::DrawsPage, bytes: 25 * 1024 },
                WebViewProcess { id: id(11), role: WebViewProcessRole::SharedByPages, bytes: 8 * 1024 },
            ],
            "only running processes of this web view should be found"
        );
    }
}
