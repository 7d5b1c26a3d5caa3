//! The rule for crates whose modules form layers: no module at the top uses another that uses it, on whatever way.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::{SourceFile, Tree};

/// Names of the crates; each lies in `crates/`.
const LAYERED: [&str; 5] = ["foreign", "mcp-proto", "mcp-transport", "models", "process"];

/// For each module the modules that it uses, with the place of the first use.
type Uses<'t> = BTreeMap<&'t str, BTreeMap<String, Place<'t>>>;

#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    path: &'t str,
    line: usize,
}

pub(super) fn in_layered_crates(tree: &Tree) -> Vec<Finding> {
    LAYERED.into_iter().flat_map(|name| in_crate(tree, name)).collect()
}

fn in_crate(tree: &Tree, name: &str) -> Vec<Finding> {
    let folder = format!("crates/{name}/src/");
    let mut uses = Uses::new();
    for file in tree.below(&folder).filter(|file| file.is_rust()) {
        let components = module_of(&file.path[folder.len()..]);
        let Some(module) = components.first().copied().filter(|module| *module != "lib") else { continue };
        let used = uses.entry(module).or_default();
        for (line, other) in paths_from_root(file, components.len()) {
            used.entry(other).or_insert(Place { path: &file.path, line });
        }
    }
    let mut findings = Vec::new();
    for (module, used) in &uses {
        for (other, place) in used.iter().filter(|(other, _)| other != module && leads(&uses, other, module)) {
            let text =
                format!("{module} uses {other}, which uses {module}: move what both need to a module below them");
            findings.push(Finding::new(place.path, place.line, text));
        }
    }
    findings
}

/// The names of a module from the root of its crate: `a` and `b` for `a/b.rs`.
fn module_of(path: &str) -> Vec<&str> {
    let path = path.strip_suffix(".rs").unwrap_or(path);
    path.strip_suffix("/mod").unwrap_or(path).split('/').collect()
}

/// Returns true if a module uses another one, directly or through others.
fn leads(uses: &Uses<'_>, from: &str, to: &str) -> bool {
    let (mut waiting, mut seen) = (vec![from], vec![from]);
    while let Some(module) = waiting.pop() {
        for other in uses.get(module).into_iter().flat_map(BTreeMap::keys) {
            if other == to {
                return true;
            }
            if !seen.contains(&other.as_str()) {
                seen.push(other);
                waiting.push(other);
            }
        }
    }
    false
}

/// The first names of paths that begin at the root of the crate, with their lines. The file's module lies `depth` below the root.
fn paths_from_root(file: &SourceFile, depth: usize) -> Vec<(usize, String)> {
    let code: String = file.product_lines().into_iter().map(|(_, line)| line + "\n").collect();
    let up = "super::".repeat(depth);
    let mut found = Vec::new();
    for root in ["crate::", &up] {
        for (at, _) in code.match_indices(root) {
            let inside_path = code[..at].ends_with(|before: char| before.is_alphanumeric() || "_$:".contains(before));
            if inside_path {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            found.extend(first_names(&code[at + root.len()..]).into_iter().map(|name| (line, name)));
        }
    }
    found
}

/// The first name of a path, or of each path of a group in braces.
fn first_names(rest: &str) -> Vec<String> {
    let name_of = |path: &str| {
        let path = path.trim_start();
        path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![name_of(rest)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(name_of(&group[start..at]));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let findings = in_layered_crates(&Tree::of(files));
        findings.into_iter().map(|finding| (finding.path, finding.line)).collect()
    }

    #[test]
    fn modules_that_use_each_other_are_found() {
        let cycle = [
            ("crates/process/src/lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
            ("crates/process/src/a/mod.rs", "//! A.\nuse crate::b::B;\n"),
            ("crates/process/src/b/inner.rs", "use std::fmt;\nuse crate::{\n    c::{C, D},\n    d,\n};\n"),
            ("crates/process/src/c.rs", "fn c(a: &super::a::A) {}\n"),
        ];
        let places = [("a/mod.rs", 2), ("b/inner.rs", 2), ("c.rs", 1)];
        let expected = places.map(|(path, line)| (format!("crates/process/src/{path}"), line));
        assert_eq!(found(&cycle), expected, "each use that is part of the circle");
        assert_eq!(found(&cycle[..3]), [], "without the last one there is none");
        let elsewhere = cycle.map(|(path, text)| (path.replace("process", "cli"), text));
        let elsewhere: Vec<_> = elsewhere.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        assert_eq!(found(&elsewhere), [], "other crates are left alone");
    }

    #[test]
    fn tests_and_parts_of_one_module_may_use_what_they_like() {
        let files = [
            ("crates/process/src/a/one.rs", "use super::two;\nuse crate::b::B;\n"),
            ("crates/process/src/a/two.rs", "use super::one;\nuse crate::a::one;\n"),
            ("crates/process/src/b.rs", "#[cfg(all(test, unix))]\nmod tests {\n    use crate::a;\n}\n"),
            ("crates/process/src/b/more_tests.rs", "use crate::a;\n"),
        ];
        assert_eq!(found(&files), [], "only product code of different modules counts");
    }
}
