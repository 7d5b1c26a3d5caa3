//! Merges what is held in memory with a document that another program changed.

use std::collections::BTreeMap;

/// The entries held here, with what changed on disk. An entry that is held here only stays.
pub(crate) fn changed_entries<T: Clone + PartialEq>(
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
