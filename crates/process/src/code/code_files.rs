//! Code on the disk: detects files that contain code, and finds the files that an interpreter runs for a path or a
//! module. Callers: `script_files.rs`, and `command.rs` for sandboxes.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::open_file::open_without_blocking;

/// Maximum number of argument files that a sandbox makes accessible: the script, and one file that is loaded before it.
const MAX_ARGUMENT_FILES: usize = 2;
/// File name extensions that identify a file as code.
const CODE_EXTENSIONS: [&str; 72] = [
    "applescript",
    "awk",
    "bash",
    "bat",
    "bb",
    "cjs",
    "class",
    "clj",
    "cljc",
    "cljs",
    "cmd",
    "csproj",
    "csx",
    "cts",
    "dart",
    "dll",
    "dylib",
    "erl",
    "escript",
    "ex",
    "exp",
    "exs",
    "fish",
    "fs",
    "fsproj",
    "fsx",
    "go",
    "groovy",
    "hs",
    "jar",
    "jl",
    "js",
    "jsx",
    "ksh",
    "kt",
    "kts",
    "lua",
    "mjs",
    "mk",
    "ml",
    "mts",
    "nu",
    "phar",
    "php",
    "pl",
    "pm",
    "ps1",
    "py",
    "pyc",
    "pyw",
    "pyz",
    "r",
    "raku",
    "rb",
    "rkt",
    "rs",
    "scala",
    "scm",
    "scpt",
    "sh",
    "sln",
    "so",
    "swift",
    "tcl",
    "ts",
    "tsx",
    "vbproj",
    "vbs",
    "wasm",
    "wsf",
    "xsh",
    "zsh",
];
/// First bytes of executables, and of scripts with a shebang: ELF, Windows, Mach-O in both byte orders and widths,
/// universal Mach-O.
const CODE_MAGIC_NUMBERS: [&[u8]; 8] = [
    b"#!",
    b"\x7fELF",
    b"MZ",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xce",
    b"\xca\xfe\xba\xbe",
];
/// Extensions that Node and compatible runtimes append to a name.
const IMPLIED_EXTENSIONS: [&str; 8] = ["js", "json", "node", "cjs", "mjs", "ts", "mts", "tsx"];
/// Names of the files that run if a folder is passed to an interpreter or a project tool.
const FOLDER_ENTRY_FILES: [&str; 14] = [
    "Cargo.toml",
    "Package.swift",
    "Program.cs",
    "go.mod",
    "main.go",
    "__main__.py",
    "__init__.py",
    "package.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "pyproject.toml",
    "deno.json",
    ".npmrc",
];
/// Extensions of modules that an interpreter loads by name.
const MODULE_EXTENSIONS: [&str; 6] = ["py", "pyc", "pm", "rb", "class", "js"];
/// Extensions of .NET project files, which `dotnet` finds in their folder.
const DOTNET_EXTENSIONS: [&str; 3] = ["csproj", "fsproj", "vbproj"];
/// Maximum number of entries of a folder that are examined for code files.
const MAX_FOLDER_ENTRIES: usize = 1024;
/// Maximum number of shared libraries that are collected from one folder.
const MAX_LIBRARIES_PER_FOLDER: usize = 64;
/// Maximum number of bytes of a `package.json` that are read.
const MAX_PACKAGE_JSON_BYTES: u64 = 1024 * 1024;

/// Returns `true` if the extension or the first bytes of a file identify it as code.
pub(super) fn is_code_file(file: &Path) -> bool {
    has_code_name(file) || has_code_magic_number(file)
}

/// Returns the paths of code files that an interpreter would run: the first arguments that are paths of existing files.
/// Options and their values after `=` are ignored.
pub(crate) fn scripts_in_arguments(arguments: &[String], directory: &Path) -> Vec<PathBuf> {
    let words = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let files = words.map(|word| directory.join(word)).filter(|file| file.is_file() && is_code_file(file));
    files.take(MAX_ARGUMENT_FILES).collect()
}

/// Returns `true` if the path has a file name extension of code. The file need not exist.
pub(crate) fn has_code_name(file: &Path) -> bool {
    lower_case_extension(file).is_some_and(|ending| CODE_EXTENSIONS.contains(&ending.as_str()))
}

fn lower_case_extension(file: &Path) -> Option<String> {
    Some(file.extension()?.to_string_lossy().to_lowercase())
}

/// Returns the files of a folder that match a predicate, sorted.
fn files_in_folder_matching(folder: &Path, fits: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let files = entries.take(MAX_FOLDER_ENTRIES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = files.filter(|file| fits(file) && file.is_file()).collect();
    found.sort_unstable();
    found
}

/// Returns the shared libraries in a folder: `libc.so.6`, `libc.dylib`.
pub(super) fn shared_libraries_in_folder(folder: &Path) -> Vec<PathBuf> {
    let is_library = |file: &Path| {
        let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        name.ends_with(".so") || name.contains(".so.") || name.ends_with(".dylib")
    };
    let mut found = files_in_folder_matching(folder, is_library);
    found.truncate(MAX_LIBRARIES_PER_FOLDER);
    found
}

/// Returns the module folders that Python adds for `PYTHONUSERBASE`: `lib/python3.12/site-packages`.
pub(super) fn python_user_packages(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = base.join("lib").read_dir() else { return Vec::new() };
    let folders = entries.take(MAX_FOLDER_ENTRIES).filter_map(|entry| Some(entry.ok()?.path().join("site-packages")));
    let mut found: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    found.sort_unstable();
    found
}

pub(super) fn has_code_magic_number(file: &Path) -> bool {
    let mut first = Vec::new();
    let read = open_without_blocking(file).and_then(|file| file.take(4).read_to_end(&mut first));
    read.is_ok() && CODE_MAGIC_NUMBERS.iter().any(|magic| first.starts_with(magic))
}

/// Returns the files that an interpreter runs for a path: the file itself, or the files to which Node, Python or a
/// project tool resolves the path.
pub(super) fn files_run_for_path(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_owned()];
    }
    let mut found = paths_with_implied_extensions(at);
    if at.is_dir() {
        found.extend(FOLDER_ENTRY_FILES.map(|entry| at.join(entry)));
        found.extend(paths_with_implied_extensions(&at.join("index")));
        if let Some(main) = package_main(&at.join("package.json")).map(|main| at.join(main)) {
            found.extend(paths_with_implied_extensions(&main));
            found.extend(paths_with_implied_extensions(&main.join("index")));
            found.push(main);
        }
        found.extend(files_in_folder_matching(at, |file| {
            lower_case_extension(file).is_some_and(|ending| DOTNET_EXTENSIONS.contains(&ending.as_str()))
        }));
    }
    found.retain(|file| file.is_file());
    found
}

fn paths_with_implied_extensions(at: &Path) -> Vec<PathBuf> {
    let named = |ending: &str| {
        let mut name = OsString::from(at);
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    IMPLIED_EXTENSIONS.into_iter().map(named).filter(|file| file.is_file()).collect()
}

/// Returns the entry file that a `package.json` names as `main`.
fn package_main(package: &Path) -> Option<String> {
    let mut text = Vec::new();
    open_without_blocking(package).ok()?.take(MAX_PACKAGE_JSON_BYTES).read_to_end(&mut text).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
    package.get("main")?.as_str().map(str::to_owned)
}

/// Returns the files of a module in a folder that exist, and the `__init__.py` files of its parent packages, which run
/// before it.
pub(super) fn module_files(folder: &Path, module: &str) -> Vec<PathBuf> {
    let name = module.replace("::", "/").replace('.', "/");
    let module = folder.join(name.trim_matches('/'));
    let mut found: Vec<PathBuf> = vec![module.join("__main__.py")];
    let packages = module.ancestors().take_while(|package| *package != folder && package.starts_with(folder));
    found.extend(packages.map(|package| package.join("__init__.py")));
    found.extend(MODULE_EXTENSIONS.map(|ending| module.with_extension(ending)));
    found.retain(|file| file.is_file());
    found
}
