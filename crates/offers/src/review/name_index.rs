//! Finds equal or similar names and titles: for example `send` of one server, and `sеnd` with a Cyrillic letter, or
//! `Send`, of another.

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

use foreign::is_hidden;
use unicode_security::skeleton;

use super::deceptive_letters::is_presentation_selector;

/// Maximum number of similar names that are reported per name.
pub const MAX_LOOK_ALIKES: usize = 10;
/// Number of characters at the beginning of a name that are compared with other names.
const MAX_COMPARED_NAME_CHARS: usize = 200;

/// A name or title that could be confused with another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LookAlike {
    /// Name of the server that has the similar name, as chosen by the user.
    pub server: String,
    /// Similar name, or the title if that is similar.
    pub name: String,
    /// Set if the similar name or title is identical and belongs to another server.
    pub is_identical: bool,
}

/// Comparison keys of a name. Names that could be confused share a key (UTS 39, section 4). Case and separators between
/// words are ignored.
///
/// # Examples
///
/// ```
/// use offers::review::LookAlikeKeys;
///
/// let known = LookAlikeKeys::new("send_mail");
/// // The second one has a Cyrillic letter.
/// for other in ["Send Mail", "s\u{0435}nd-mail", "send_mail\u{200b}"] {
///     assert!(known.share_a_key(&LookAlikeKeys::new(other)), "{other:?} can be mistaken for it");
/// }
/// assert!(!known.share_a_key(&LookAlikeKeys::new("send_fax")));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookAlikeKeys([Box<str>; 2]);

impl LookAlikeKeys {
    /// Computes the keys of a name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let visible: String = name
            .chars()
            .take(MAX_COMPARED_NAME_CHARS)
            .filter(|c| !is_hidden(*c) && !is_presentation_selector(*c))
            .collect();
        // One key is lower-cased before, and one after the skeleton is computed: a capital I looks like an l, but its
        // lower case is i.
        let as_drawn = skeleton(&visible).collect::<String>().to_lowercase();
        let in_one_case = skeleton(&visible.to_lowercase()).collect::<String>();
        Self([without_separators(&as_drawn), without_separators(&in_one_case)])
    }

    /// Returns `true` if one name could be confused with the other.
    #[must_use]
    pub fn share_a_key(&self, other: &Self) -> bool {
        self.0.iter().any(|key| !key.is_empty() && other.0.contains(key))
    }
}

/// Removes separators between words from a text.
fn without_separators(text: &str) -> Box<str> {
    text.chars().filter(|c| !c.is_whitespace() && !"_-./:".contains(*c)).collect::<String>().into()
}

/// Index of the names of a server's tools or prompts and of the titles displayed in their place, for finding similar
/// ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameIndex {
    exact: HashSet<Box<str>>,
    by_key: HashMap<Box<str>, Vec<IndexedName>>,
}

/// A name or title in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct IndexedName {
    /// Name of the tool or prompt to which the indexed name or title belongs.
    entry_name: Box<str>,
    text: Box<str>,
}

impl NameIndex {
    /// Builds the index. Each item is a name with its title, if there is one.
    pub fn new(named: impl Iterator<Item = (String, Option<String>)>) -> Self {
        let mut known = Self::default();
        for (name, title) in named {
            if let Some(title) = title.filter(|title| *title != name) {
                known.add_label(&name, &title);
            }
            known.add_label(&name, &name);
            known.exact.insert(name.into());
        }
        known
    }

    fn add_label(&mut self, entry_name: &str, text: &str) {
        let LookAlikeKeys([first, second]) = LookAlikeKeys::new(text);
        let label = || IndexedName { entry_name: entry_name.into(), text: text.into() };
        if first != second {
            self.by_key.entry(second).or_default().push(label());
        }
        self.by_key.entry(first).or_default().push(label());
    }

    /// Returns `true` if the index contains exactly this name.
    #[must_use]
    pub fn contains_name(&self, name: &str) -> bool {
        self.exact.contains(name)
    }

    /// Returns the names and titles that share one of these keys.
    fn names_with_look_alike_keys(&self, keys: &LookAlikeKeys) -> impl Iterator<Item = &IndexedName> {
        let found = keys.0.iter().filter(|key| !key.is_empty()).filter_map(|key| self.by_key.get(key));
        found.flatten()
    }
}

/// Returns the names that could be confused with a name or its title: other entries of the same list, and all entries
/// of other servers.
pub(crate) fn look_alikes(
    (name, title): (&str, Option<&str>),
    (server, own): (&str, &NameIndex),
    others: &[(&str, &NameIndex)],
) -> Vec<LookAlike> {
    let mut found: Vec<LookAlike> = Vec::new();
    // Each entry is reported only once, even if both its name and its title are similar.
    let mut reported: HashSet<(&str, &str)> = HashSet::new();
    for label in [Some(name), title].into_iter().flatten() {
        let keys = LookAlikeKeys::new(label);
        let here = own
            .names_with_look_alike_keys(&keys)
            .filter(|other| *other.entry_name != *name)
            .map(|other| (server, other, false));
        let there = others.iter().flat_map(|(server, names)| {
            names.names_with_look_alike_keys(&keys).map(move |other| (*server, other, *other.text == *label))
        });
        for (server, other, same) in here.chain(there) {
            if found.len() >= MAX_LOOK_ALIKES {
                return found;
            }
            if reported.insert((server, &other.entry_name)) {
                found.push(LookAlike { server: server.to_owned(), name: other.text.to_string(), is_identical: same });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_share_a_key() {
        for (one, other) in [
            ("send", "send"),
            ("send", "sеnd"),
            ("send", "Send"),
            ("paypal", "paypaI"),
            ("list_files", "list-files"),
            ("list_files", "listFiles"),
            ("LIST", "list"),
            ("send", "se\u{200b}nd"),
            ("send", "s\u{e0065}end"),
            ("ｓｅｎｄ", "send"),
            ("scope", "ѕсоре"),
        ] {
            assert!(
                LookAlikeKeys::new(one).share_a_key(&LookAlikeKeys::new(other)),
                "X06: {one:?} looks like {other:?}"
            );
        }
        for (one, other) in [("send", "sent"), ("read_file", "write_file"), ("", ""), ("__", "--"), ("a", "b")] {
            assert!(
                !LookAlikeKeys::new(one).share_a_key(&LookAlikeKeys::new(other)),
                "{one:?} does not look like {other:?}"
            );
        }
    }

    fn index_of_names(names: &[&str]) -> NameIndex {
        NameIndex::new(names.iter().map(|name| ((*name).to_owned(), None)))
    }

    #[test]
    fn look_alikes_are_found_once_and_bounded() {
        let own = index_of_names(&["send", "sеnd"]);
        let many: Vec<String> = (0..50).map(|n| format!("{}send", "_".repeat(n))).collect();
        let other = index_of_names(&many.iter().map(String::as_str).collect::<Vec<_>>());
        let found = look_alikes(("send", None), ("a", &own), &[("b", &other)]);
        assert_eq!(found.len(), MAX_LOOK_ALIKES, "the number of similar names is limited");
        assert_eq!(found[0].name, "sеnd", "similar names of the same server are first, without the tool itself");
        assert_eq!(
            found[1],
            LookAlike { server: "b".into(), name: "send".into(), is_identical: true },
            "an identical name of another server is marked"
        );
        assert!(
            found.iter().skip(2).all(|alike| !alike.is_identical),
            "other similar names are not marked as identical"
        );
    }

    #[test]
    fn titles_are_compared_with_titles_and_names() {
        let titled = |name: &str, title: &str| (name.to_owned(), Some(title.to_owned()));
        let own = NameIndex::new([titled("a1", "Sеnd mail"), titled("a2", "Read")].into_iter());
        let other = NameIndex::new([titled("mail_out", "Send mail"), titled("send_mail", "Post")].into_iter());
        let found = look_alikes(("a1", Some("Sеnd mail")), ("a", &own), &[("b", &other)]);
        let names: Vec<&str> = found.iter().map(|alike| alike.name.as_str()).collect();
        assert_eq!(
            names,
            ["Send mail", "send_mail"],
            "X06: similar titles and names are found, regardless of the name under a title"
        );
        assert!(
            look_alikes(("a2", Some("Read")), ("a", &own), &[("b", &other)]).is_empty(),
            "different titles are not found"
        );
        let many: Vec<NameIndex> = (0..3).map(|_| NameIndex::new([titled("a1", "Sеnd mail")].into_iter())).collect();
        let many: Vec<(&str, &NameIndex)> = std::iter::zip(["b", "c", "d"], &many).collect();
        let found = look_alikes(("a1", Some("Sеnd mail")), ("a", &own), &many);
        assert_eq!(found.len(), 3, "a tool with a similar name and title is found once: {found:?}");
        let twins = NameIndex::new([titled("x", "Run"), titled("y", "Run")].into_iter());
        let found = look_alikes(("x", Some("Run")), ("a", &twins), &[]);
        assert_eq!(found.len(), 1, "the other tool with the same title is found: {found:?}");
    }
}
