//! Paths in Rust code that begin at the crate's root: `crate::a::b`, `super::c`, also in groups. Callers: `module_cycles.rs` and
//! `owner_parts.rs`.

use std::collections::BTreeMap;

/// Names that the root re-exports, each with the top-level module that it comes from.
pub(super) type Reexports = BTreeMap<String, String>;

/// The paths that code names, from the root on. `module` is the path of the code's own module.
pub(super) fn paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_path = tokens.get(at + 1) == Some(&"::") && (at == 0 || tokens[at - 1] != "::");
        let start = match tokens[at] {
            "crate" if is_path => Some((at, Vec::new())),
            "super" if is_path => {
                let mut end = at;
                let mut base = module[..module.len() - 1].to_vec();
                while tokens.get(end + 2) == Some(&"super") && tokens.get(end + 1) == Some(&"::") {
                    base.pop();
                    end += 2;
                }
                Some((end, base))
            }
            _ => None,
        };
        match start {
            Some((end, base)) => at = follow(&tokens, end + 1, base, &mut found),
            None => at += 1,
        }
    }
    found
}

/// What the root re-exports from its modules: `pub use module::{One, Two as Three}`.
pub(super) fn reexports(code: &str) -> Reexports {
    let tokens = tokens(code);
    let mut names = Reexports::new();
    for (at, token) in tokens.iter().enumerate() {
        if *token != "use" {
            continue;
        }
        let from = if tokens.get(at + 1) == Some(&"crate") { at + 3 } else { at + 1 };
        let mut found = Vec::new();
        if let Some(module) = tokens.get(from) {
            follow(&tokens, from + 1, vec![(*module).to_owned()], &mut found);
        }
        names.extend(found.into_iter().filter_map(|path| Some((path.last()?.clone(), path.first()?.clone()))));
    }
    names
}

/// Collects the paths of a tree that goes on from `base` at `at`. Returns where it ends.
fn follow(tokens: &[&str], mut at: usize, mut base: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    while tokens.get(at) == Some(&"::") {
        match tokens.get(at + 1) {
            Some(&"{") => {
                at += 2;
                while let Some(token) = tokens.get(at).filter(|token| **token != "}") {
                    at = match *token {
                        "," => at + 1,
                        name => follow(tokens, at + 1, [base.as_slice(), &[name.to_owned()]].concat(), found),
                    };
                }
                return at + 1;
            }
            Some(name) if is_name(name) => {
                base.push((*name).to_owned());
                at += 2;
            }
            _ => break,
        }
    }
    if tokens.get(at) == Some(&"as") {
        base.pop();
        base.extend(tokens.get(at + 1).map(|name| (*name).to_owned()));
        at += 2;
    }
    found.push(base);
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if is_name(rest) {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_groups_and_in_expressions() {
        let code = "use crate::{a, b::{C, D as E}};\nfn f() { super::g::h(1); super::super::i(); x::crate_(2) }";
        let module = ["m".to_owned(), "n".to_owned()];
        let found: Vec<String> = paths(code, &module).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["a", "b::C", "b::E", "m::g::h", "i"], "each from the root on");
    }

    #[test]
    fn the_names_of_the_root_are_known() {
        let code = "mod a;\npub use a::{One, b::Two};\npub use crate::c::Three as Four;\n";
        let names: Vec<(String, String)> = reexports(code).into_iter().collect();
        let expected = [("Four", "c"), ("One", "a"), ("Two", "a")];
        assert_eq!(names, expected.map(|(name, module)| (name.to_owned(), module.to_owned())), "with their modules");
    }
}
