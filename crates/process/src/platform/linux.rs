//! Process identity on Linux, read from `/proc` (see proc(5)).

use std::fs;

use super::StartTime;

/// Returns the boot ID and start time of a process, or `None` if there is no such process.
pub(crate) fn start_time_of(pid: u32) -> Option<StartTime> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let ticks = ProcessStat::read(pid)?.start_ticks;
    Some(StartTime::new(format!("{}+{ticks}", boot.trim())))
}

/// Returns `true` if a process has ended but was not reaped by its parent. Until then its pid and start time can be
/// read.
pub(crate) fn has_ended(pid: u32) -> bool {
    ProcessStat::read(pid).is_some_and(|stat| stat.has_ended)
}

/// Returns `true` if a process of this group has one of the pipes with these inode numbers open. This proves that the
/// group is the one whose processes got the pipes, because Linux reuses no pid that is in use as a group ID.
pub(crate) fn group_has_open_pipe(group: u32, pipes: &[u64]) -> bool {
    let expected: Vec<String> = pipes.iter().map(|number| format!("pipe:[{number}]")).collect();
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| ProcessStat::read(*pid).is_some_and(|stat| stat.group == group))
        .any(|pid| has_open_pipe(pid, &expected))
}

fn has_open_pipe(pid: u32, names: &[String]) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    descriptors
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| names.iter().any(|name| target.as_os_str() == name.as_str()))
}

/// The fields of `/proc/PID/stat` that this crate uses.
pub(super) struct ProcessStat {
    /// Set if the process has ended and waits to be reaped by its parent.
    pub(super) has_ended: bool,
    pub(super) parent: u32,
    group: u32,
    pub(super) start_ticks: u64,
}

impl ProcessStat {
    pub(super) fn read(pid: u32) -> Option<ProcessStat> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        // The second field is the program's name in parentheses and may contain any character.
        let (_, fields) = line.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        Some(ProcessStat {
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }
}
