//! The total size of the activity logs of all servers, and its limit: with many servers, the sum of the individual
//! limits would be too large.
//!
//! Appending an entry only updates the total. The owner is notified of new entries, and drops the excess.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::SharedActivityLog;

/// Maximum total size of the entries of all servers, in bytes.
pub const MAX_TOTAL_ACTIVITY_BYTES: usize = 64 * 1024 * 1024;

/// The total size of all activity logs, in bytes: bodies, and the overhead of the entries. Clones share the total.
#[derive(Debug, Clone, Default)]
pub struct TotalActivitySize(Arc<AtomicUsize>);

impl TotalActivitySize {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Reduces the total to at most `most` bytes. The largest logs drop their oldest entries until they have the size
    /// of the next smaller ones, so a server with few messages keeps its entries. Locks one log at a time, briefly.
    pub fn shrink_to<'a>(&self, most: usize, all: impl Iterator<Item = &'a SharedActivityLog>) {
        if self.bytes() <= most {
            return;
        }
        // Drops a sixteenth more than necessary, so that the next entry doesn't exceed the limit again.
        let target = most - most / 16;
        let mut largest: Vec<_> = all.map(|activity| (activity.lock().memory_used(), activity)).collect();
        largest.sort_unstable_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let sizes: Vec<usize> = largest.iter().map(|(bytes, _)| *bytes).collect();
        let level = size_limit_of_largest_logs(&sizes, target);
        for (_, activity) in largest.into_iter().take_while(|(bytes, _)| *bytes > level) {
            activity.lock().shrink_to(level);
        }
    }
}

/// Returns the size to which larger logs must shrink so that the total is at most `target`. `sizes` is in descending
/// order.
fn size_limit_of_largest_logs(sizes: &[usize], target: usize) -> usize {
    let excess = sizes.iter().sum::<usize>().saturating_sub(target);
    let mut above = 0;
    for (at, size) in sizes.iter().enumerate() {
        above += size;
        let level = above.saturating_sub(excess) / (at + 1);
        if sizes.get(at + 1).is_none_or(|next| *next <= level) {
            return level;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::{ActivityKind, ActivityLog, MAX_ENTRY_BODY_BYTES};
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn activity_log_with_entries(together: &TotalActivitySize, entries: usize, body: usize) -> SharedActivityLog {
        let mut activity = ActivityLog::with_shared_total_size(together);
        for _ in 0..entries {
            activity.append_line(ActivityKind::Stderr, &"x".repeat(body));
        }
        SharedActivityLog::new(activity)
    }

    #[test]
    fn oldest_entries_of_the_largest_logs_are_dropped() {
        let together = TotalActivitySize::default();
        // 10 servers with 8 MiB each would use 80 MiB.
        let mut all: Vec<_> = (0..10).map(|_| activity_log_with_entries(&together, 15, MAX_ENTRY_BODY_BYTES)).collect();
        all.push(activity_log_with_entries(&together, 3, MAX_ENTRY_BODY_BYTES));
        all.push(activity_log_with_entries(&together, 1, 100));
        assert!(
            together.bytes() > MAX_TOTAL_ACTIVITY_BYTES,
            "the total must exceed the limit at first: {}",
            together.bytes()
        );
        together.shrink_to(MAX_TOTAL_ACTIVITY_BYTES, all.iter());
        let total = together.bytes();
        assert!(total <= MAX_TOTAL_ACTIVITY_BYTES, "the total must be within the limit: {total}");
        assert!(total > MAX_TOTAL_ACTIVITY_BYTES - 12 * MIB, "no more entries than necessary must be dropped: {total}");
        let sizes: Vec<usize> = all.iter().map(|activity| activity.lock().memory_used()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), total, "the total must equal the sum of the logs");
        assert!(
            sizes[..10].iter().all(|size| *size == sizes[0] && *size > 5 * MIB),
            "logs of equal size must be shrunk equally: {sizes:?}"
        );
        for (quiet, entries) in [(10, 3), (11, 1)] {
            let quiet = all[quiet].lock();
            assert_eq!(
                (quiet.missing_count(), quiet.latest_sequence()),
                (0, entries),
                "a small log must keep all entries"
            );
        }
        let largest = all[0].lock();
        assert!(
            largest.entry(1).is_none() && largest.entry(15).is_some(),
            "the oldest entries of a large log must be dropped"
        );
        assert!(largest.missing_count() > 0, "dropped entries must be counted");
    }

    #[test]
    fn logs_within_the_bound_are_unchanged_and_removed_ones_not_counted() {
        let together = TotalActivitySize::default();
        let all = [activity_log_with_entries(&together, 3, 1_000), activity_log_with_entries(&together, 50, 10)];
        let before = together.bytes();
        together.shrink_to(before, all.iter());
        assert_eq!(together.bytes(), before, "logs within the limit must be unchanged");
        all[1].lock().set_max_bytes(0);
        let [first, second] = all;
        assert_eq!(together.bytes(), first.lock().memory_used(), "the limit of one log must reduce the total");
        drop((first, second));
        assert_eq!(together.bytes(), 0, "a dropped log must not count");
    }

    #[test]
    fn shrink_target_affects_only_the_largest_logs() {
        assert_eq!(size_limit_of_largest_logs(&[10, 4, 3], 14), 7, "the largest log alone must be shrunk");
        assert_eq!(size_limit_of_largest_logs(&[10, 8, 3], 15), 6, "two logs must be shrunk to the same size");
        assert_eq!(size_limit_of_largest_logs(&[9, 9, 9], 9), 3, "equal logs must be shrunk equally");
        assert_eq!(size_limit_of_largest_logs(&[5, 5], 0), 0, "a target of zero must be possible");
        assert_eq!(size_limit_of_largest_logs(&[], 0), 0, "without logs the target must be zero");
    }
}
