//! The rule about cycles of modules: the top-level modules of a crate depend on each other in one direction, but for
//! small groups.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::rust_paths::{Reexports, paths, reexports};
use super::tree::{SourceFile, Tree};

/// The most modules that may depend on each other in a circle.
const LARGEST: usize = 3;

/// Crates whose modules form layers: no two modules depend on each other.
const LAYERED: [&str; 4] = ["foreign", "mcp-proto", "mcp-transport", "process"];

/// Modules of a crate, each with the modules that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

pub(super) fn in_one_direction(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in sources(tree) {
        let is_layered = LAYERED.iter().any(|name| root == format!("crates/{name}/src/"));
        let largest = if is_layered { 1 } else { LARGEST };
        for circle in circles(&graph(tree, &root)) {
            if circle.len() > largest {
                let text = format!("{} modules depend on each other in a circle: {}", circle.len(), circle.join(", "));
                findings.push(Finding::new(&root, 0, text));
            }
        }
    }
    findings
}

/// The source folders of all crates, each with its slash.
fn sources(tree: &Tree) -> BTreeSet<String> {
    let root = |file: &SourceFile| {
        let folder = file.path.strip_suffix("lib.rs").or_else(|| file.path.strip_suffix("main.rs"))?;
        folder.ends_with("src/").then(|| folder.to_owned())
    };
    tree.rust().filter_map(root).collect()
}

fn graph(tree: &Tree, root: &str) -> Graph {
    let files: Vec<&SourceFile> = tree.below(root).filter(|file| file.is_rust() && !file.is_test()).collect();
    let mut graph: Graph =
        files.iter().filter_map(|file| Some((module(file, root)?.remove(0), BTreeSet::new()))).collect();
    let of_root = |file: &&&SourceFile| module(file, root).is_none();
    let reexported: Reexports = files.iter().filter(of_root).flat_map(|file| reexports(&code(file))).collect();
    for file in files {
        let Some(own) = module(file, root) else { continue };
        for path in paths(&code(file), &own) {
            let Some(first) = path.first() else { continue };
            let used = reexported.get(first).unwrap_or(first);
            if *used != own[0]
                && graph.contains_key(used)
                && let Some(uses) = graph.get_mut(&own[0])
            {
                uses.insert(used.clone());
            }
        }
    }
    graph
}

/// The code of a file that is in the product.
pub(super) fn code(file: &SourceFile) -> String {
    file.product_lines().into_iter().map(|(_, line)| line + "\n").collect()
}

/// The path of a file's module below the root; `None` for the root itself.
pub(super) fn module(file: &SourceFile, root: &str) -> Option<Vec<String>> {
    let path = file.path.strip_prefix(root)?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let is_root = path.starts_with("bin/") || ["lib", "main"].contains(&path);
    (!is_root).then(|| path.split('/').map(str::to_owned).collect())
}

/// The groups of modules that reach each other, in which there is more than one.
fn circles(graph: &Graph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|from| (from.as_str(), reach(graph, from))).collect();
    let mut circles = Vec::new();
    let mut placed = BTreeSet::new();
    for (from, reaches) in &reached {
        if placed.contains(from) {
            continue;
        }
        let circle: Vec<&str> = reaches.iter().copied().filter(|to| reached[to].contains(from)).collect();
        placed.extend(circle.iter().copied());
        if circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

fn reach<'a>(graph: &'a Graph, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph[from].iter().map(String::as_str).collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(graph[module].iter().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_of(modules: &[(&str, &str)]) -> Tree {
        let files: Vec<(String, &str)> =
            modules.iter().map(|(name, text)| (format!("crates/x/src/{name}.rs"), *text)).collect();
        Tree::of(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
    }

    #[test]
    fn a_large_circle_is_found() {
        let tree = crate_of(&[
            ("lib", "pub use d::Last;"),
            ("a/mod", "use crate::b::One;"),
            ("a/inner", "fn f() { super::super::e::g() }"),
            ("b", "use crate::{c::{Two, Three}, e};"),
            ("c", "use crate::Last;"),
            ("d", "use crate::a;"),
            ("e", "use std::fmt;"),
        ]);
        let texts: Vec<_> = in_one_direction(&tree).into_iter().map(|finding| finding.text).collect();
        assert_eq!(
            texts,
            ["4 modules depend on each other in a circle: a, b, c, d"],
            "also through what the root re-exports"
        );
    }

    #[test]
    fn small_circles_tests_and_comments_are_fine() {
        let tree = crate_of(&[
            ("lib", ""),
            ("a", "use crate::b;"),
            ("b", "use crate::c;"),
            ("c", "use crate::a; // crate::d"),
            ("d", "use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n"),
            ("b/tests", "use crate::d;"),
        ]);
        assert_eq!(in_one_direction(&tree), [], "three may depend on each other");
        let layered = Tree::of(&[
            ("crates/process/src/lib.rs", ""),
            ("crates/process/src/a.rs", "use crate::b;"),
            ("crates/process/src/b.rs", "use super::a;"),
        ]);
        assert_eq!(in_one_direction(&layered).len(), 1, "where modules form layers, not even two");
    }
}
