//! Telling processes apart on Linux, from `/proc` (see proc(5)).

use std::fs;

use super::StartTime;

/// When a process was started, within which boot. None when there is no such process.
pub(crate) fn start_time_of(pid: u32) -> Option<StartTime> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let ticks = Stat::read(pid)?.start_ticks;
    Some(StartTime::new(format!("{}+{ticks}", boot.trim())))
}

/// Whether a process has ended and only its parent has not heard of it. Until then its pid and start time are kept.
pub(crate) fn has_ended(pid: u32) -> bool {
    Stat::read(pid).is_some_and(|stat| stat.has_ended)
}

/// Whether a process of this group still has one of these pipes open. As long as it has, the
/// group is the one that was given the pipes: Linux hands out no pid that is in use as a group.
pub(crate) fn group_holds_pipe(group: u32, pipes: &[u64]) -> bool {
    let wanted: Vec<String> = pipes.iter().map(|number| format!("pipe:[{number}]")).collect();
    let Ok(processes) = fs::read_dir("/proc") else {
        return false;
    };
    processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| Stat::read(*pid).is_some_and(|stat| stat.group == group))
        .any(|pid| has_open(pid, &wanted))
}

fn has_open(pid: u32, names: &[String]) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    descriptors
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| names.iter().any(|name| target.as_os_str() == name.as_str()))
}

/// What proc(5) says of a process in one line.
pub(super) struct Stat {
    /// Whether it has ended, and only waits for its parent to hear of it.
    pub(super) has_ended: bool,
    pub(super) parent: u32,
    group: u32,
    pub(super) start_ticks: u64,
}

impl Stat {
    pub(super) fn read(pid: u32) -> Option<Stat> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        // The second field is the program's name in parentheses and may hold anything.
        let (_, fields) = line.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        Some(Stat {
            has_ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }
}
