//! Finds paths in Rust code: those that start with `crate` or `super`, also in groups, and the imports of `use`
//! declarations. Used by `module_cycles.rs`, `owner_parts.rs` and `time.rs`.

/// Name imported by a `use` declaration. For a glob import, the name and the last component of the path are `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Vec<String>,
    /// Name by which the file with the `use` declaration refers to the item.
    pub(super) name: String,
}

impl Import {
    /// Returns the path with its last component replaced by the name that this file uses. For a glob import, returns
    /// the path of the module.
    fn path_with_local_name(mut self) -> Vec<String> {
        self.path.pop();
        if self.name != "*" {
            self.path.push(self.name);
        }
        self.path
    }
}

/// Returns the imports of all `use` declarations in the code.
pub(super) fn parse_imports(code: &str) -> Vec<Import> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == "use") {
        let from = if tokens.get(at + 1) == Some(&"::") { at + 2 } else { at + 1 };
        if let Some(first) = tokens.get(from).filter(|token| is_identifier(token)) {
            collect_use_tree(&tokens, from + 1, vec![(*first).to_owned()], &mut found);
        }
    }
    found
}

/// Returns the paths in the code that start with `crate` or `super`, converted to paths relative to the crate root.
/// `module` is the path of the module that contains the code.
pub(super) fn parse_crate_paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
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
            Some((end, base)) => at = collect_use_tree(&tokens, end + 1, base, &mut found),
            None => at += 1,
        }
    }
    found.into_iter().map(Import::path_with_local_name).collect()
}

/// Appends to `found` the imports of the use tree that follows the path `base` and begins at token `at`. Returns the
/// position after the tree.
fn collect_use_tree(tokens: &[&str], mut at: usize, mut base: Vec<String>, found: &mut Vec<Import>) -> usize {
    while tokens.get(at) == Some(&"::") {
        match tokens.get(at + 1) {
            Some(&"{") => {
                at += 2;
                while let Some(token) = tokens.get(at).filter(|token| **token != "}") {
                    at = match *token {
                        "," => at + 1,
                        name => collect_use_tree(tokens, at + 1, [base.as_slice(), &[name.to_owned()]].concat(), found),
                    };
                }
                return at + 1;
            }
            Some(name) if is_identifier(name) || *name == "*" => {
                base.push((*name).to_owned());
                at += 2;
            }
            _ => break,
        }
    }
    // `use a::{self}` imports `a`.
    if base.len() > 1 && base.last().is_some_and(|name| name == "self") {
        base.pop();
    }
    let mut name = base.last().cloned().unwrap_or_default();
    if let (Some(&"as"), Some(alias)) = (tokens.get(at), tokens.get(at + 1)) {
        name = (*alias).to_owned();
        at += 2;
    }
    found.push(Import { path: base, name });
    at
}

fn is_identifier(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

pub(super) fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if is_identifier(rest) {
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
    fn paths_are_found_in_groups_and_expressions() {
        let code = "use crate::{a, b::{C, D as E}};\nfn f() { super::g::h(1); super::super::i(); x::crate_(2) }";
        let module = ["m".to_owned(), "n".to_owned()];
        let found: Vec<String> = parse_crate_paths(code, &module).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["a", "b::C", "b::E", "m::g::h", "i"], "each path should be relative to the crate root");
    }

    #[test]
    fn imports_have_their_path_and_name() {
        let code = "use std::time::{self, Instant as Moment};\nfn f() { use ::ports::time::*; }\npub use a;";
        let found = parse_imports(code);
        let found: Vec<_> = found.iter().map(|import| (import.path.join("::"), import.name.as_str())).collect();
        let expected = [("std::time", "time"), ("std::time::Instant", "Moment"), ("ports::time::*", "*"), ("a", "a")];
        assert_eq!(
            found,
            expected.map(|(path, name)| (path.to_owned(), name)),
            "groups, functions and globs should be resolved"
        );
    }
}
