//! Merges entries in memory with a document that another process changed. Used by the documents of `host` and by pins
//! in `offers`.

use std::collections::BTreeMap;

/// Returns the entries in memory (`own`), updated with the changes on disk between `before` and `now`. Entries that are
/// only in memory are retained.
#[must_use]
pub fn changed_entries<T: Clone + PartialEq>(
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
