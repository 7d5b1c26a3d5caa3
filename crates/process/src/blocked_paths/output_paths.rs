//! Extracts paths from the last output of a server. Node.js, Python, Go, shells and the dynamic loader each phrase
//! errors differently, so every absolute path in the output is extracted. For a module that was not found, the paths
//! are those where its importer would look for it.

use std::path::{Path, PathBuf};

/// Maximum number of lines of a server's output that are parsed, from the end.
const MAX_PARSED_OUTPUT_LINES: usize = 64;
/// Maximum number of bytes of one line that are parsed.
const MAX_LINE_BYTES: usize = 4096;
/// Maximum number of paths that are extracted from a server's output.
const MAX_OUTPUT_PATHS: usize = 128;
/// Maximum length of a path that is extracted from a server's output, in bytes.
const MAX_PATH_BYTES: usize = 1024;
/// Maximum number of files in the output that are considered as importers of a missing module.
const MAX_IMPORTING_FILES: usize = 8;
/// Maximum number of parent folders of an importer in which modules are looked for.
const MAX_MODULE_SEARCH_ANCESTORS: usize = 8;
/// Maximum length of a module name, in bytes. npm has the same limit.
const MAX_MODULE_NAME_BYTES: usize = 214;
/// Text before the name of a missing module in the error messages of Node.js and Python.
const MISSING_MODULE_PREFIXES: [(&str, ErrorLanguage); 3] = [
    ("Cannot find package '", ErrorLanguage::Node),
    ("Cannot find module '", ErrorLanguage::Node),
    ("No module named '", ErrorLanguage::Python),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorLanguage {
    Node,
    Python,
}

/// Returns the paths that the lines name, and the paths where missing modules would be. The paths need not exist.
pub(super) fn paths_in_output(lines: &[String]) -> Vec<PathBuf> {
    let last = lines.len().saturating_sub(MAX_PARSED_OUTPUT_LINES);
    let lines: Vec<&str> = lines[last..].iter().map(|line| truncate_line(line)).collect();
    let mut named: Vec<PathBuf> = Vec::new();
    for path in lines.iter().flat_map(|line| absolute_paths(line)) {
        if named.len() == MAX_OUTPUT_PATHS {
            break;
        }
        if !named.contains(&path) {
            named.push(path);
        }
    }
    let mut found = missing_module_paths(&lines, &named);
    found.extend(named);
    found.truncate(MAX_OUTPUT_PATHS);
    found
}

/// Truncates a line to [`MAX_LINE_BYTES`] bytes at a character boundary.
fn truncate_line(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Returns the paths where missing modules would be, relative to each of the files that the lines name.
fn missing_module_paths(lines: &[&str], files: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (before, language) in MISSING_MODULE_PREFIXES {
        let names = lines.iter().filter_map(|line| line.split_once(before)?.1.split_once('\'')).map(|(name, _)| name);
        for name in names.filter(|name| is_module_name(name)) {
            for file in files.iter().take(MAX_IMPORTING_FILES) {
                let above = file.ancestors().skip(1).take(MAX_MODULE_SEARCH_ANCESTORS);
                match language {
                    ErrorLanguage::Node => found.extend(above.map(|folder| folder.join("node_modules").join(name))),
                    ErrorLanguage::Python => {
                        let first = name.split('.').next().unwrap_or(name);
                        let beside =
                            above.take(2).flat_map(|folder| [folder.join(first), folder.join(format!("{first}.py"))]);
                        found.extend(beside);
                    }
                }
                if found.len() >= MAX_OUTPUT_PATHS {
                    return found;
                }
            }
        }
    }
    found
}

/// Returns `true` if the text is a plain module name without `..` or other path syntax.
fn is_module_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        let is_fitting = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '-' | '_' | '.' | '~');
        !part.is_empty() && part.chars().all(is_fitting) && !part.chars().all(|c| c == '.')
    };
    name.len() <= MAX_MODULE_NAME_BYTES && name.split('/').count() <= 4 && name.split('/').all(is_plain)
}

/// Returns the absolute paths in a line.
fn absolute_paths(line: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut before = None;
    for (at, c) in line.char_indices() {
        let begins = c == '/' && before.is_none_or(|b: char| b.is_whitespace() || "'\"`([{=:<".contains(b));
        // In `file:///path`, the path begins with the third slash.
        let in_url = c == '/' && line[..at].ends_with("file://");
        if begins && !line[at..].starts_with("//") || in_url {
            collect_possible_paths(&line[at..], before, &mut found);
        }
        before = Some(c);
    }
    found
}

/// Adds to `found` the possible paths at the beginning of a text. `before` is the character before the text. If it is a
/// quote, the path ends at the next such quote, and otherwise at a blank, a bracket or a colon.
fn collect_possible_paths(text: &str, before: Option<char>, found: &mut Vec<PathBuf>) {
    let quote = before.filter(|before| "'\"`".contains(*before));
    let ends: [Option<&str>; 3] = match quote {
        Some(quote) => [text.split(quote).next(), None, None],
        None => [
            text.split(|c: char| c.is_whitespace() || "'\"`)]}>,;".contains(c)).next(),
            text.split(|c: char| c.is_whitespace() || "'\"`)]}>,;:".contains(c)).next(),
            // Unquoted paths with blanks, as Go prints them: `open /a b/c: no such file or directory`.
            text.split(": ").next(),
        ],
    };
    for text in ends.into_iter().flatten() {
        let text = text.trim_end_matches(['.', ':', ',']);
        let path = Path::new(text);
        let leads_up = path.components().any(|part| part.as_os_str() == "..");
        if text.len() <= MAX_PATH_BYTES && !text.contains('\0') && !leads_up && path.parent().is_some() {
            found.push(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output_path_texts(lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        paths_in_output(&lines).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn missing_path_is_found_in_the_error_of_each_language() {
        for (line, path) in [
            ("Error: EACCES: permission denied, open '/home/ann/my notes/a.txt'", "/home/ann/my notes/a.txt"),
            ("Error: Cannot find module '/w/lib/x.js' imported from /w/index.js", "/w/lib/x.js"),
            ("    at file:///w/server/index.js:10:3", "/w/server/index.js"),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/w/notes.db'", "/w/notes.db"),
            ("open /w/my notes/a.txt: no such file or directory", "/w/my notes/a.txt"),
            ("python: can't open file '/w/server.py': [Errno 2] No such file", "/w/server.py"),
            ("/w/tool: 3: exec: /w/bin/real: not found", "/w/bin/real"),
            ("config=/w/config.toml, ignored", "/w/config.toml"),
        ] {
            assert!(output_path_texts(&[line]).contains(&path.to_owned()), "{line}: {:?}", output_path_texts(&[line]));
        }
    }

    #[test]
    fn missing_module_is_resolved_like_its_importer_would() {
        let node = output_path_texts(&["Error: Cannot find package 'zod' imported from /w/project/dist/index.js"]);
        assert!(node.contains(&"/w/project/node_modules/zod".to_owned()), "{node:?}");
        let python =
            output_path_texts(&["  File \"/w/src/server.py\", line 1, in <module>", "No module named 'shared.inner'"]);
        assert!(python.contains(&"/w/src/shared".to_owned()) && python.contains(&"/w/src/shared.py".to_owned()));
    }

    /// S36: output of a hostile server costs a bounded number of disk accesses, and yields no path except those that it
    /// contains literally.
    #[test]
    fn s36_hostile_output_names_few_and_plain_paths() {
        let many: Vec<String> = (0..10_000).map(|n| format!("open '/w/{n}' /x/{n} /y/{n}")).collect();
        assert!(paths_in_output(&many).len() <= MAX_OUTPUT_PATHS, "many lines");
        assert!(paths_in_output(&[" /a".repeat(1_000_000)]).len() <= MAX_OUTPUT_PATHS, "one long line");
        assert!(paths_in_output(&["é".repeat(MAX_LINE_BYTES)]).is_empty(), "cut within a character");
        for hostile in ["open '/w/../../etc/shadow'", "open '/'", "//server/share/x", "http://evil.example/x", "a/b/c"]
        {
            assert_eq!(output_path_texts(&[hostile]), [""; 0], "{hostile}");
        }
        for name in ["../../etc", "..", "/etc", "a/../../b", "a b", "zod\u{202e}"] {
            let found = output_path_texts(&[&format!("Cannot find package '{name}' imported from /w/i.js")]);
            let is_module = |path: &String| path.contains("node_modules");
            assert!(!found.iter().any(is_module), "{name}: {found:?}");
        }
    }
}
