//! Decides which processes of the web view use too much memory while apps (MCP Apps) are shown.
//!
//! `web_view_processes.rs` reads their sizes, and `stalled_apps.rs` ends what has grown too much.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::web_view_processes::{ProcessId, WebViewProcess};

/// Time between two readings of the sizes of all processes.
pub(crate) const MEMORY_READING_INTERVAL: Duration = Duration::from_secs(1);
/// Memory in bytes by which a process may grow while apps are shown. A page with 20 small apps grows by 400 MiB.
const MAX_MEMORY_GROWTH_BYTES: u64 = 1 << 30;

/// Sizes of the web view's processes while at least one window shows apps.
#[derive(Debug, Default)]
pub(crate) struct MemoryWatch {
    /// Size in bytes from which the growth of each process is measured.
    base_sizes: BTreeMap<ProcessId, u64>,
}

impl MemoryWatch {
    /// Records a reading of all processes, and returns those that have grown by more than
    /// [`MAX_MEMORY_GROWTH_BYTES`] since their smallest size. Their growth is measured anew afterwards.
    pub(crate) fn record_sizes(&mut self, processes: &[WebViewProcess]) -> Vec<WebViewProcess> {
        self.base_sizes.retain(|id, _| processes.iter().any(|process| process.id == *id));
        let mut too_large = Vec::new();
        for process in processes {
            let base = self.base_sizes.entry(process.id).or_insert(process.bytes);
            *base = process.bytes.min(*base);
            if process.bytes - *base > MAX_MEMORY_GROWTH_BYTES {
                *base = process.bytes;
                too_large.push(*process);
            }
        }
        too_large
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web_view_processes::WebViewProcessRole;

    const MIB: u64 = 1 << 20;

    fn page(pid: u32, mebibytes: u64) -> WebViewProcess {
        let id = ProcessId { pid, start_time: 100 };
        WebViewProcess { id, role: WebViewProcessRole::DrawsPage, bytes: mebibytes * MIB }
    }

    #[test]
    fn process_is_ended_once_it_has_grown_by_more_than_the_limit_while_apps_are_shown() {
        let mut memory = MemoryWatch::default();
        assert_eq!(memory.record_sizes(&[page(7, 1500)]), [], "the page may have been large before the apps");
        assert_eq!(memory.record_sizes(&[page(7, 1500 + 1024)]), [], "the limit itself is permitted");
        assert_eq!(memory.record_sizes(&[page(7, 1500 + 1025)]), [page(7, 2525)], "the process has grown too much");
        assert_eq!(memory.record_sizes(&[page(7, 2600)]), [], "a process that is ending should not be ended twice");
    }

    #[test]
    fn growth_is_measured_from_the_smallest_size() {
        let mut memory = MemoryWatch::default();
        for mebibytes in [900, 200, 700] {
            assert_eq!(memory.record_sizes(&[page(7, mebibytes)]), [], "a page may use memory for a short time");
        }
        assert_eq!(memory.record_sizes(&[page(7, 1300)]), [page(7, 1300)], "a page that was large should gain nothing");
    }

    #[test]
    fn each_process_is_measured_by_itself() {
        let mut memory = MemoryWatch::default();
        let shared = |mebibytes: u64| WebViewProcess { role: WebViewProcessRole::SharedByPages, ..page(9, mebibytes) };
        assert_eq!(memory.record_sizes(&[page(7, 200), page(8, 200), shared(60)]), [], "nothing has grown");
        assert_eq!(memory.record_sizes(&[page(7, 900), page(8, 900), shared(900)]), [], "sizes should not be added");
        assert_eq!(
            memory.record_sizes(&[page(7, 900), page(8, 1300), shared(1300)]),
            [page(8, 1300), shared(1300)],
            "the others should remain"
        );
    }

    #[test]
    fn later_process_with_the_same_identifier_is_measured_anew() {
        let mut memory = MemoryWatch::default();
        assert_eq!(memory.record_sizes(&[page(7, 100)]), [], "the first process");
        // No reading was between the end of the first process and the begin of the second one.
        let later = WebViewProcess { id: ProcessId { pid: 7, start_time: 101 }, ..page(7, 1200) };
        assert_eq!(memory.record_sizes(&[later]), [], "another process has begun with this size");
    }
}
