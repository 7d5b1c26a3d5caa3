//! Text files of the repository, which the rules examine. Generated files and dependencies are not included.

use std::fs;
use std::path::Path;

use super::rust_code;
use crate::problem::Problem;

/// Folders that are not read: names of generated folders anywhere in the repository, and paths of generated folders
/// from its root. `.gitignore` should list the same paths.
const GENERATED_FOLDERS: [&str; 7] =
    [".git", "target", "node_modules", "ui/dist", "test-results", "playwright-report", "__pycache__"];

/// A text file of the repository.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Path relative to the root of the repository, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.has_extension(&["rs"])
    }

    /// Returns `true` if the file is compiled only for tests, which its folder `tests` or its file name shows.
    pub(crate) fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.path.split('/').any(|folder| folder == "tests")
            || name.ends_with("tests.rs")
            || name.ends_with("_test.rs")
            || name.contains(".test.")
            || name.contains(".spec.")
    }

    /// Returns the lines of Rust code before the test module with their numbers, without comments and the contents of
    /// strings.
    pub(crate) fn lines_without_comments_and_tests(&self) -> Vec<(usize, String)> {
        if self.is_test() {
            return Vec::new();
        }
        let code = rust_code::without_comments_and_strings(&self.text);
        let mut lines = Vec::new();
        let mut previous = "";
        for (number, line) in code.lines().enumerate() {
            // A test module is the last item of a file, which clippy enforces.
            let is_for_tests = previous == "#[cfg(test)]" || previous.starts_with("#[cfg(all(test,");
            if is_for_tests && line.starts_with("mod ") && line.ends_with('{') {
                break;
            }
            if !line.trim().is_empty() && !line.starts_with("#[allow") && !line.starts_with("#[expect") {
                previous = line.trim_end();
            }
            lines.push((number + 1, line.to_owned()));
        }
        lines
    }
}

/// All text files of the repository.
#[derive(Debug, Default)]
pub(crate) struct SourceTree {
    /// Names of files and folders in the root of the repository.
    pub(crate) top_level: Vec<String>,
    pub(crate) files: Vec<SourceFile>,
}

impl SourceTree {
    pub(crate) fn read(root: &Path) -> Result<Self, Problem> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), Problem> {
        // Tools that generate files in a source folder mark it with a `.gitignore` that contains `*`.
        if fs::read_to_string(folder.join(".gitignore")).is_ok_and(|text| text.lines().any(|line| line == "*")) {
            return Ok(());
        }
        for entry in fs::read_dir(folder).map_err(Problem::file_error(folder))? {
            let entry = entry.map_err(Problem::file_error(folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let from_top = format!("{prefix}{name}");
            if GENERATED_FOLDERS.iter().any(|made| *made == name || *made == from_top) || name.ends_with(".log") {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(Problem::file_error(&path))?;
            if prefix.is_empty() {
                self.top_level.push(name.clone());
            }
            if kind.is_dir() {
                self.read_folder(&path, &format!("{from_top}/"))?;
            } else if kind.is_file()
                && let Ok(text) = String::from_utf8(fs::read(&path).map_err(Problem::file_error(&path))?)
            {
                self.files.push(SourceFile { path: from_top, text });
            }
        }
        Ok(())
    }

    /// Returns the files whose path starts with `folder`, which ends with a slash.
    pub(crate) fn files_in_folder<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Creates a tree from paths and contents, for tests of rules.
    #[cfg(test)]
    pub(crate) fn from_files(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
        Self {
            top_level: files.iter().map(|(path, _)| path.split('/').next().unwrap_or("").to_owned()).collect(),
            files: files.iter().map(file).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &[u8]| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("crates/a/src/lib.rs", b"//! A.");
        put("crates/a/src/dist/mod.rs", b"//! B.");
        put("ui/dist/index.js", b"x");
        put("ui/node_modules/b/index.js", b"x");
        put("ui/src/generated/.gitignore", b"*\n");
        put("ui/src/generated/messages.js", b"x");
        put("src-tauri/icons/icon.png", &[0xff, 0xfe, 0x00]);
        let tree = SourceTree::read(folder.path()).unwrap();
        let paths: Vec<_> = tree.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            ["crates/a/src/dist/mod.rs", "crates/a/src/lib.rs"],
            "only files that people write should be read"
        );
    }

    #[test]
    fn test_module_is_not_product_code() {
        let text = "use a;\n#[cfg(test)]\nuse b;\nfn c() {} // note\n\n#[cfg(test)]\n#[allow(clippy::unwrap_used)]\nmod tests {\n    use e;\n}\n";
        let tree = SourceTree::from_files(&[("crates/x/src/lib.rs", text), ("crates/x/tests/all.rs", "use f;")]);
        let code: String = tree.files[0].lines_without_comments_and_tests().into_iter().map(|(_, line)| line).collect();
        assert!(code.contains("use a;") && code.contains("fn c()"), "the code should be included: {code}");
        assert!(!code.contains("use e"), "the test module should be excluded: {code}");
        assert!(!code.contains("note"), "the comment should be excluded: {code}");
        assert!(tree.files[1].lines_without_comments_and_tests().is_empty(), "a test file should have no product code");
        let text = "use a;\n#[cfg(all(test, unix))]\nmod tests {\n    use e;\n}\n";
        let tree = SourceTree::from_files(&[("crates/x/src/lib.rs", text)]);
        assert!(
            tree.files[0].lines_without_comments_and_tests().iter().all(|(_, line)| !line.contains("use e")),
            "a test module for one system should be excluded too"
        );
    }
}
