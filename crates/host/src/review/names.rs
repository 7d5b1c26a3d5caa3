//! Names that collide, or look alike: `send` of one server and `sеnd` with a Cyrillic letter, or `Send`, of another.

use std::collections::{HashMap, HashSet};

use unicode_security::skeleton;

use super::flags::is_hidden;

/// The most look-alikes that are told of one name.
pub const MAX_LOOK_ALIKES: usize = 10;
/// The longest beginning of a name that is compared, in characters.
const MAX_NAME: usize = 200;

/// Something else with such a name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LookAlike {
    /// The user's own name for its server.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// Whether it is the very same name.
    pub same: bool,
}

/// What two names have in common if one can be taken for the other (UTS 39, section 4), whatever their case and what stands
/// between their words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameKeys([Box<str>; 2]);

impl NameKeys {
    /// The keys of a name.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let seen: String = name.chars().take(MAX_NAME).filter(|c| !is_hidden(*c)).collect();
        // In both orders: a capital I looks like an l, and is another case of i.
        let as_drawn = skeleton(&seen).collect::<String>().to_lowercase();
        let in_one_case = skeleton(&seen.to_lowercase()).collect::<String>();
        Self([joined(&as_drawn), joined(&in_one_case)])
    }

    /// Whether one name can be taken for the other.
    #[must_use]
    pub fn meet(&self, other: &Self) -> bool {
        self.0.iter().any(|key| !key.is_empty() && other.0.contains(key))
    }
}

/// Without what stands between words.
fn joined(text: &str) -> Box<str> {
    text.chars().filter(|c| !c.is_whitespace() && !"_-./:".contains(*c)).collect::<String>().into()
}

/// The names in one list, to be found by what they look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    exact: HashSet<Box<str>>,
    by_key: HashMap<Box<str>, Vec<Box<str>>>,
}

impl Names {
    /// The names of a list.
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut known = Self::default();
        for name in names {
            let NameKeys([first, second]) = NameKeys::of(name);
            if first != second {
                known.by_key.entry(second).or_default().push(name.into());
            }
            known.by_key.entry(first).or_default().push(name.into());
            known.exact.insert(name.into());
        }
        known
    }

    /// Whether exactly this name is in the list.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.exact.contains(name)
    }

    /// The names that can be taken for one with these keys.
    fn like(&self, keys: &NameKeys) -> impl Iterator<Item = &str> {
        let found = keys.0.iter().filter(|key| !key.is_empty()).filter_map(|key| self.by_key.get(key));
        found.flatten().map(|name| &**name)
    }
}

/// What else has such a name: in the same list, where only another one counts, and in those of other servers.
pub(crate) fn look_alikes<'a>(
    name: &str,
    (server, own): (&'a str, &'a Names),
    others: impl Iterator<Item = (&'a str, &'a Names)>,
) -> Vec<LookAlike> {
    let keys = NameKeys::of(name);
    let here = own.like(&keys).filter(|other| *other != name).map(|other| (server, other));
    let there = others.flat_map(|(server, names)| names.like(&keys).map(move |other| (server, other)));
    let mut found: Vec<LookAlike> = Vec::new();
    for (server, other) in here.chain(there) {
        let alike = LookAlike { server: server.to_owned(), name: other.to_owned(), same: other == name };
        if !found.contains(&alike) {
            found.push(alike);
        }
        if found.len() >= MAX_LOOK_ALIKES {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_taken_for_one_another_meet() {
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
            assert!(NameKeys::of(one).meet(&NameKeys::of(other)), "X06: {one:?} looks like {other:?}");
        }
        for (one, other) in [("send", "sent"), ("read_file", "write_file"), ("", ""), ("__", "--"), ("a", "b")] {
            assert!(!NameKeys::of(one).meet(&NameKeys::of(other)), "{one:?} does not look like {other:?}");
        }
    }

    #[test]
    fn what_else_has_such_a_name_is_found_once_and_bounded() {
        let own = Names::of(["send", "sеnd"].into_iter());
        let many: Vec<String> = (0..50).map(|n| format!("{}send", "_".repeat(n))).collect();
        let other = Names::of(many.iter().map(String::as_str));
        let found = look_alikes("send", ("a", &own), [("b", &other)].into_iter());
        assert_eq!(found.len(), MAX_LOOK_ALIKES, "no more than can be read");
        assert_eq!(found[0].name, "sеnd", "those of the same server come first, and never the tool itself");
        assert_eq!(found[1], LookAlike { server: "b".into(), name: "send".into(), same: true }, "the very same name");
        assert!(found.iter().skip(2).all(|alike| !alike.same), "the others are other names");
    }
}
