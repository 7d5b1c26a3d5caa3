//! Merges entries in memory with a document that another program changed. Callers: the documents of `host`, pins in `offers`.

use std::collections::BTreeMap;

/// The entries in memory (`own`), with what changed on disk between `before` and `now`. An entry that is in memory only stays.
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
