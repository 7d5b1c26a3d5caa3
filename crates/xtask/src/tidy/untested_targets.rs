//! Rule for executables whose manifest says `test = false`, because an empty test program takes seconds to link: their
//! sources must contain no tests, which would never run.

use super::Finding;
use super::source_tree::SourceTree;

/// Reports files that contain tests but belong to a target with `test = false`.
pub(super) fn find_tests_that_never_run(tree: &SourceTree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in &tree.files {
        let Some(package) = manifest.path.strip_suffix("Cargo.toml") else { continue };
        for path in untested_target_paths(&manifest.text) {
            let main = format!("{package}{path}");
            let folder = main.strip_suffix("main.rs").unwrap_or(&main);
            // In the folder of a library, the other files are modules of the library.
            let is_alone = tree.files.iter().any(|file| file.path == format!("{folder}lib.rs"));
            let in_target = |file: &str| if is_alone { file == main } else { file.starts_with(folder) };
            let files = tree.files.iter().filter(|file| file.is_rust() && in_target(&file.path));
            findings.extend(files.filter(|file| file.text.contains("#[cfg(test)]")).map(|file| {
                Finding::new(&file.path, 0, format!("has tests, but {} has `test = false` for them", manifest.path))
            }));
        }
    }
    findings
}

/// Returns the source paths of the targets with `test = false` in a manifest.
fn untested_target_paths(manifest: &str) -> impl Iterator<Item = &str> {
    let targets = manifest.split("\n[").filter(|section| section.lines().any(|line| line == "test = false"));
    targets.filter_map(|section| section.lines().find_map(|line| line.strip_prefix("path = \"")?.strip_suffix('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_an_untested_target_are_reported() {
        let manifest = "[package]\nname = \"a\"\n\n[[bin]]\nname = \"one\"\npath = \"src/one/main.rs\"\ntest = false\n\n\
                        [[bin]]\nname = \"two\"\npath = \"src/two/main.rs\"\n\n\
                        [[bin]]\nname = \"a\"\npath = \"src/main.rs\"\ntest = false\n";
        let test = "#[cfg(test)]\nmod tests {}\n";
        let tree = SourceTree::from_files(&[
            ("crates/a/Cargo.toml", manifest),
            ("crates/a/src/lib.rs", test),
            ("crates/a/src/main.rs", test),
            ("crates/a/src/one/main.rs", ""),
            ("crates/a/src/one/parse.rs", test),
            ("crates/a/src/two/main.rs", test),
        ]);
        let found: Vec<_> = find_tests_that_never_run(&tree).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["crates/a/src/one/parse.rs", "crates/a/src/main.rs"]);
    }
}
