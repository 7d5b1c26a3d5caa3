//! What a process and all that it started use, on Linux, from `/proc` (see proc(5)).

use std::fs;

/// Parts of a second in which the kernel tells processor time; the same on every machine.
const TICKS_PER_SECOND: u64 = 100;

/// What a tree of processes uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TreeUse {
    /// Threads of all processes; each process has at least one.
    pub(crate) threads: u64,
    /// Memory that is their own, in the main memory or moved out of it, in bytes.
    pub(crate) memory_bytes: u64,
    /// Processor time since they began, with that of children which have ended, in milliseconds.
    pub(crate) processor_ms: u64,
}

/// What `root` and all that descends from it use. Stops counting beyond `most` threads.
pub(crate) fn tree_use(root: u32, most: u64) -> TreeUse {
    let mut all = TreeUse::default();
    let mut waiting = vec![root];
    while let Some(pid) = waiting.pop() {
        let Some(one) = process_use(pid) else { continue };
        all.threads += one.threads;
        all.memory_bytes += one.memory_bytes;
        all.processor_ms += one.processor_ms;
        if all.threads > most {
            break;
        }
        waiting.extend(children(pid));
    }
    all
}

/// The same memory, with each page that several processes have counted once: copies of a process share what none has written to.
/// Looking at every page takes long. A process that can't be looked into counts whole.
pub(crate) fn tree_memory(root: u32, most: u64) -> u64 {
    let (mut bytes, mut processes, mut waiting) = (0_u64, 0, vec![root]);
    while let Some(pid) = waiting.pop() {
        bytes = bytes.saturating_add(shared_out(pid).unwrap_or_else(|| memory(pid)));
        processes += 1;
        if processes > most {
            break;
        }
        waiting.extend(children(pid));
    }
    bytes
}

/// The children of a process. Each of its threads may have started some.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn process_use(pid: u32) -> Option<TreeUse> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    // The second field is the program's name in parentheses and may hold anything.
    let (_, fields) = line.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    let ticks: u64 = (11..=14).map(number).sum();
    let has_ended = matches!(*fields.first()?, "Z" | "X");
    Some(TreeUse {
        threads: if has_ended { 0 } else { number(17).max(1) },
        memory_bytes: if has_ended { 0 } else { memory(pid) },
        processor_ms: ticks * (1000 / TICKS_PER_SECOND),
    })
}

/// A process's share of the memory that it has with others. None if it can't be told.
fn shared_out(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    sum(&rollup, &["Pss_Anon", "Pss_Shmem", "SwapPss"])
}

/// Not the resident set: libraries that many processes share would count for each.
fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    sum(&status, &["RssAnon", "RssShmem", "VmSwap"]).unwrap_or_default()
}

/// The sum of these lines in bytes; none if there is none of them.
fn sum(text: &str, names: &[&str]) -> Option<u64> {
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
    fn a_process_has_threads_memory_and_time() {
        let own = tree_use(std::process::id(), u64::MAX);
        assert!(own.threads >= 1 && own.memory_bytes > 0, "this process uses something: {own:?}");
        assert_eq!(tree_use(0, u64::MAX), TreeUse::default(), "there is no such process");
    }

    #[test]
    fn a_page_of_several_processes_counts_once() {
        let rollup = "Pss:  900 kB\nPss_Dirty: 7 kB\nPss_Anon: 30 kB\nPss_Shmem: 10 kB\nSwap: 9 kB\nSwapPss: 2 kB\n";
        assert_eq!(sum(rollup, &["Pss_Anon", "Pss_Shmem", "SwapPss"]), Some(42 * 1024), "what is its own");
        assert_eq!(sum("", &["Pss_Anon"]), None, "a process that can't be looked into says nothing");
        let own = std::process::id();
        let (shared, whole) = (tree_memory(own, u64::MAX), memory(own));
        assert!(shared > 0 && shared <= whole + (8 << 20), "no more than each for itself: {shared} of {whole}");
    }
}
