//! Rule for dependency cycles between sibling modules. Applies to the top-level modules of a crate and to the children
//! of every large module. Small cycles are allowed.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::rust_paths::{parse_crate_paths, parse_imports};
use super::source_tree::{SourceFile, SourceTree};

/// Maximum number of modules that may form a dependency cycle.
const MAX_MODULES_IN_CYCLE: usize = 3;
/// Maximum number of child modules of a module whose children are exempt from the rule.
const MAX_CHILDREN_OF_UNCHECKED_MODULE: usize = 5;

/// Crates whose top-level modules form layers, so that even small dependency cycles between them are forbidden.
const CRATES_WITH_MODULE_LAYERS: [&str; 4] = ["foreign", "mcp-proto", "mcp-transport", "process"];

/// Path of a module or item relative to the crate root. Empty for the root itself.
type ModulePath = Vec<String>;

/// Dependencies between sibling modules. Maps each module to the modules that it uses, each with a description of one
/// use.
type ModuleGraph = BTreeMap<String, BTreeMap<String, String>>;

/// Reports each group of more than [`MAX_MODULES_IN_CYCLE`] modules that depend on each other in a cycle, and describes
/// one use for each dependency.
pub(super) fn find_module_cycles(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for root in crate_source_folders(tree) {
        let is_layered = CRATES_WITH_MODULE_LAYERS.iter().any(|name| root == format!("crates/{name}/src/"));
        for (parent, graph) in child_module_graphs(tree, &root) {
            let largest = if is_layered && parent.is_empty() { 1 } else { MAX_MODULES_IN_CYCLE };
            let place = parent.iter().fold(root.clone(), |place, name| format!("{place}{name}/"));
            for circle in find_cycles(&graph).into_iter().filter(|circle| circle.len() > largest) {
                let (count, names) = (circle.len(), circle.join(", "));
                let references = describe_uses_within_cycle(&graph, &circle).join("; ");
                let text = format!("{count} modules depend on each other in a circle: {names} ({references})");
                findings.push(Finding::new(&place, 0, text));
            }
        }
    }
    findings
}

/// Returns the source folders of all crates, each with a trailing slash.
fn crate_source_folders(tree: &SourceTree) -> BTreeSet<String> {
    let root = |file: &SourceFile| {
        let folder = file.path.strip_suffix("lib.rs").or_else(|| file.path.strip_suffix("main.rs"))?;
        folder.ends_with("src/").then(|| folder.to_owned())
    };
    tree.rust_files().filter_map(root).collect()
}

/// Modules of a crate, and the names that each module imports.
struct CrateModules {
    all: BTreeSet<ModulePath>,
    imported: BTreeMap<ModulePath, BTreeMap<String, ModulePath>>,
}

impl CrateModules {
    fn from_files(files: &[(ModulePath, String)]) -> Self {
        // Code in an inline module is attributed to the module of its file.
        let all = files.iter().map(|(own, _)| own.clone()).collect();
        let mut modules = Self { all, imported: BTreeMap::new() };
        for (own, code) in files {
            let names = parse_imports(code).into_iter().filter(|import| import.name != "*");
            let names =
                names.filter_map(|import| Some((import.name, modules.path_from_crate_root(own, &import.path)?)));
            let names: Vec<(String, ModulePath)> = names.collect();
            // A crate can have both lib.rs and main.rs.
            modules.imported.entry(own.clone()).or_default().extend(names);
        }
        modules
    }

    /// Returns the path of an import relative to the crate root, or `None` if it refers to another crate.
    fn path_from_crate_root(&self, own: &[String], path: &[String]) -> Option<ModulePath> {
        let mut base = own.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (ModulePath::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while let Some((_, after)) = rest.split_first().filter(|(first, _)| *first == "super") {
                    base.pop()?;
                    rest = after;
                }
            }
            first => {
                base.push(first.to_owned());
                if !self.all.contains(&base) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        Some([base.as_slice(), rest].concat())
    }

    /// Replaces the path of a re-exported item by the path of its definition.
    fn resolve_reexports(&self, mut path: ModulePath) -> ModulePath {
        // The number of steps is limited, since imports could refer to each other in code that does not compile.
        for _ in 0..=self.all.len() {
            let Some(at) = (0..path.len()).find(|at| !self.all.contains(&path[..=*at])) else { break };
            let Some(target) = self.imported.get(&path[..at]).and_then(|names| names.get(&path[at])) else { break };
            path = [target.as_slice(), &path[at + 1..]].concat();
        }
        path
    }

    /// Returns the modules whose children are checked: the crate root, and every module with more than
    /// [`MAX_CHILDREN_OF_UNCHECKED_MODULE`] children.
    fn modules_with_checked_children(&self) -> Vec<ModulePath> {
        let children = |parent: &[String]| {
            self.all.iter().filter(|module| module.split_last().is_some_and(|(_, of)| of == parent)).count()
        };
        self.all
            .iter()
            .filter(|module| module.is_empty() || children(module) > MAX_CHILDREN_OF_UNCHECKED_MODULE)
            .cloned()
            .collect()
    }
}

/// Returns the dependencies between the children of each checked module.
fn child_module_graphs(tree: &SourceTree, root: &str) -> BTreeMap<ModulePath, ModuleGraph> {
    let files = tree.files_in_folder(root).filter(|file| file.is_rust() && !file.is_test());
    let files: Vec<(ModulePath, String)> = files
        .map(|file| (module_path(file, root).unwrap_or_default(), code_without_comments_and_tests(file)))
        .collect();
    let modules = CrateModules::from_files(&files);
    let mut graphs: BTreeMap<ModulePath, ModuleGraph> =
        modules.modules_with_checked_children().into_iter().map(|parent| (parent, ModuleGraph::new())).collect();
    for (parent, graph) in &mut graphs {
        let children = modules.all.iter().filter_map(|module| child_module_containing(module, parent));
        graph.extend(children.map(|name| (name.to_owned(), BTreeMap::new())));
    }
    for (own, code) in files.iter().filter(|(own, _)| !own.is_empty()) {
        for path in parse_crate_paths(code, own) {
            let path = modules.resolve_reexports(path);
            for (parent, graph) in &mut graphs {
                let (Some(from), Some(to)) =
                    (child_module_containing(own, parent), child_module_containing(&path, parent))
                else {
                    continue;
                };
                if from != to
                    && graph.contains_key(to)
                    && let Some(uses) = graph.get_mut(from)
                {
                    let reference = || format!("{} uses {}", own.join("::"), path.join("::"));
                    uses.entry(to.to_owned()).or_insert_with(reference);
                }
            }
        }
    }
    graphs
}

/// Returns the name of the child of `parent` that is, or contains, the module or item at `path`, or `None` if `parent`
/// does not contain it.
fn child_module_containing<'a>(path: &'a [String], parent: &[String]) -> Option<&'a str> {
    path.strip_prefix(parent)?.first().map(String::as_str)
}

/// Returns the description of one use for each dependency between the modules of a cycle.
fn describe_uses_within_cycle<'a>(graph: &'a ModuleGraph, circle: &[&str]) -> Vec<&'a str> {
    let of = |from: &&str| graph[*from].iter().filter(|(to, _)| circle.contains(&to.as_str()));
    circle.iter().flat_map(of).map(|(_, reference)| reference.as_str()).collect()
}

/// Returns the Rust code of a file without comments, string contents and test modules.
pub(super) fn code_without_comments_and_tests(file: &SourceFile) -> String {
    file.lines_without_comments_and_tests().into_iter().map(|(_, line)| line + "\n").collect()
}

/// Returns the path of a file's module relative to the crate root, or `None` if the file is the crate root itself.
pub(super) fn module_path(file: &SourceFile, root: &str) -> Option<Vec<String>> {
    let path = file.path.strip_prefix(root)?.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let is_root = path.starts_with("bin/") || ["lib", "main"].contains(&path);
    (!is_root).then(|| path.split('/').map(str::to_owned).collect())
}

/// Returns the groups of two or more modules that depend on each other in a cycle.
fn find_cycles(graph: &ModuleGraph) -> Vec<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|from| (from.as_str(), reachable_modules(graph, from))).collect();
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

fn reachable_modules<'a>(graph: &'a ModuleGraph, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = graph[from].keys().map(String::as_str).collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(graph[module].keys().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_of_crate(modules: &[(&str, &str)]) -> SourceTree {
        let files: Vec<(String, &str)> =
            modules.iter().map(|(name, text)| (format!("crates/x/src/{name}.rs"), *text)).collect();
        SourceTree::from_files(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
    }

    #[test]
    fn large_module_cycle_is_reported() {
        let tree = tree_of_crate(&[
            ("lib", "pub use d::Last;"),
            ("a/mod", "use crate::b::One;"),
            ("a/inner", "fn f() { super::super::e::g() }"),
            ("b", "use crate::{c::{Two, Three}, e};"),
            ("c", "use crate::Last;"),
            ("d", "use crate::a;"),
            ("e", "use std::fmt;"),
        ]);
        let texts: Vec<_> = find_module_cycles(&tree).into_iter().map(|finding| finding.text).collect();
        assert_eq!(
            texts,
            ["4 modules depend on each other in a circle: a, b, c, d (a uses b::One; b uses c::Two; c uses d::Last; \
              d uses a)"],
            "re-exports of the root should be followed"
        );
    }

    #[test]
    fn large_cycle_inside_a_module_is_reported() {
        let children = [
            ("lib", "pub use a::Last;"),
            ("a/mod", "mod d;\nuse d::inner::Last;\nuse e::Other as Renamed;"),
            ("a/b/mod", "use super::c::One;"),
            ("a/c", "use crate::Last;"),
            ("a/d/mod", "use crate::x;"),
            ("a/d/inner", "fn f() { super::super::Renamed::g() }"),
            ("a/e", "use super::b;"),
        ];
        let all = [&children[..], &[("a/f", "use super::Last;"), ("a/g", "")]].concat();
        let found = find_module_cycles(&tree_of_crate(&all));
        let found: Vec<_> = found.iter().map(|finding| (finding.path.as_str(), finding.text.as_str())).collect();
        let text = "4 modules depend on each other in a circle: b, c, d, e (a::b uses a::c::One; \
                    a::c uses a::d::inner::Last; a::d::inner uses a::e::Other::g; a::e uses a::b)";
        assert_eq!(found, [("crates/x/src/a/", text)], "a child should include all modules below it");
        assert_eq!(
            find_module_cycles(&tree_of_crate(&children)),
            [],
            "a module with few children should not be checked"
        );
    }

    #[test]
    fn cyclic_imports_are_resolved_in_finite_time() {
        let tree =
            tree_of_crate(&[("lib", "use a::X;"), ("a", "use crate::X;\nuse crate::b;"), ("b", "use crate::X;")]);
        assert_eq!(find_module_cycles(&tree), [], "an undefined name should belong to no module");
    }

    #[test]
    fn small_cycles_tests_and_comments_are_accepted() {
        let tree = tree_of_crate(&[
            ("lib", ""),
            ("a", "use crate::b;"),
            ("b", "use crate::c;"),
            ("c", "use crate::a; // crate::d"),
            ("d", "use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n"),
            ("b/tests", "use crate::d;"),
        ]);
        assert_eq!(find_module_cycles(&tree), [], "cycles of three modules should be accepted");
        let layered = SourceTree::from_files(&[
            ("crates/process/src/lib.rs", ""),
            ("crates/process/src/a.rs", "use crate::b;"),
            ("crates/process/src/b.rs", "use super::a;"),
        ]);
        assert_eq!(find_module_cycles(&layered).len(), 1, "layered crates should have no cycle of two modules");
    }
}
