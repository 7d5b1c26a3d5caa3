//! Resource use of a process tree on Linux, from `/proc` (see proc(5)).

use std::fs;

/// Clock ticks per second in `/proc`. The kernel reports the same number on every computer.
const TICKS_PER_SECOND: u64 = 100;

/// Resource use of a process and all its descendants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProcessTreeUsage {
    /// Number of threads of all processes. Each process has at least one.
    pub(crate) threads: u64,
    /// Private memory of the processes, resident or swapped out, in bytes.
    pub(crate) memory_bytes: u64,
    /// Processor time since the start of the processes, including children that have ended, in milliseconds.
    pub(crate) processor_ms: u64,
}

/// Returns the resource use of `root` and its descendants. Stops counting beyond `most` threads.
pub(crate) fn process_tree_usage(root: u32, most: u64) -> ProcessTreeUsage {
    let mut all = ProcessTreeUsage::default();
    let mut waiting = vec![root];
    while let Some(pid) = waiting.pop() {
        let Some(one) = single_process_usage(pid) else { continue };
        all.threads += one.threads;
        all.memory_bytes += one.memory_bytes;
        all.processor_ms += one.processor_ms;
        if all.threads > most {
            break;
        }
        waiting.extend(child_pids(pid));
    }
    all
}

/// Returns the memory of `root` and its descendants, in bytes. Each shared page is counted once, because forked
/// processes share the pages that none of them has written to. Slow, because the kernel examines every page. If the
/// pages of a process can't be examined, all of them are counted. Stops counting beyond `most` processes.
pub(crate) fn process_tree_memory(root: u32, most: u64) -> u64 {
    let (mut bytes, mut processes, mut waiting) = (0_u64, 0, vec![root]);
    while let Some(pid) = waiting.pop() {
        bytes = bytes.saturating_add(proportional_set_size(pid).unwrap_or_else(|| private_memory_of_process(pid)));
        processes += 1;
        if processes > most {
            break;
        }
        waiting.extend(child_pids(pid));
    }
    bytes
}

/// Returns the pids of a process's children, including those that its other threads started.
fn child_pids(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn single_process_usage(pid: u32) -> Option<ProcessTreeUsage> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    // The second field is the program's name in parentheses and may contain any character.
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    let ticks: u64 = (11..=14).map(number).sum();
    let has_ended = matches!(*fields.first()?, "Z" | "X");
    Some(ProcessTreeUsage {
        threads: if has_ended { 0 } else { number(17).max(1) },
        memory_bytes: if has_ended { 0 } else { private_memory_of_process(pid) },
        processor_ms: ticks * (1000 / TICKS_PER_SECOND),
    })
}

/// Returns the memory of a process in bytes, where shared pages are divided by the number of processes that share them.
/// Returns `None` if it can't be read.
fn proportional_set_size(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    sum_proc_file_lines(&rollup, &["Pss_Anon", "Pss_Shmem", "SwapPss"])
}

/// Returns the private memory of a process, in bytes. Unlike the resident set size, it does not contain shared
/// libraries.
fn private_memory_of_process(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    sum_proc_file_lines(&status, &["RssAnon", "RssShmem", "VmSwap"]).unwrap_or_default()
}

/// Returns the sum of the values in those lines of a `/proc` file that have these names, in bytes, or `None` if none of
/// the lines is present.
fn sum_proc_file_lines(text: &str, names: &[&str]) -> Option<u64> {
    let mut own = text.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        names.contains(&name).then(|| value.trim().trim_end_matches(" kB").parse::<u64>().ok()).flatten()
    });
    let first = own.next()?;
    Some(own.fold(first, u64::saturating_add).saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_usage_includes_threads_and_memory() {
        let own = process_tree_usage(std::process::id(), u64::MAX);
        assert!(own.threads >= 1 && own.memory_bytes > 0, "the use of this process must be positive: {own:?}");
        assert_eq!(process_tree_usage(0, u64::MAX), ProcessTreeUsage::default(), "a missing process must have no use");
    }

    #[test]
    fn shared_pages_of_several_processes_count_once() {
        let rollup = "Pss:  900 kB\nPss_Dirty: 7 kB\nPss_Anon: 30 kB\nPss_Shmem: 10 kB\nSwap: 9 kB\nSwapPss: 2 kB\n";
        assert_eq!(
            sum_proc_file_lines(rollup, &["Pss_Anon", "Pss_Shmem", "SwapPss"]),
            Some(42 * 1024),
            "only the named lines must be added"
        );
        assert_eq!(sum_proc_file_lines("", &["Pss_Anon"]), None, "missing lines must yield no sum");
        let own = std::process::id();
        let (shared, whole) = (process_tree_memory(own, u64::MAX), private_memory_of_process(own));
        assert!(
            shared > 0 && shared <= whole + (8 << 20),
            "the shared count must not exceed the private count: {shared} of {whole}"
        );
    }
}
