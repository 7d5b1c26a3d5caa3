//! Merges a map in memory with changes of its file by another process. Used for documents of `host` and for pins in
//! `offers`.

use std::collections::BTreeMap;

/// Applies changes that another process made to a stored map to the copy in memory (`own`). `before` and `now` are the
/// contents of the file before and after the changes. Returns the merged map: entries that differ between `before` and
/// `now` are as in `now`, and all others as in `own`.
#[must_use]
pub fn merge_file_changes<T: Clone + PartialEq>(
    own: &BTreeMap<String, T>,
    before: &BTreeMap<String, T>,
    now: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let mut all = own.clone();
    for name in before.keys().chain(now.keys()) {
        if before.get(name) == now.get(name) {
            continue;
        }
        match now.get(name) {
            Some(value) => {
                all.insert(name.clone(), value.clone());
            }
            None => {
                all.remove(name);
            }
        }
    }
    all
}
