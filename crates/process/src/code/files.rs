//! Code on the disk: which files hold it, and which files an interpreter runs for a path or a module. `script_files.rs` asks.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::content_hash::opened;

/// The most files of a command's arguments that a sandbox reaches because of them: the script, and one that is loaded before it.
const MOST_NAMED: usize = 2;
/// How the names of files end that hold code.
const CODE: [&str; 72] = [
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
/// How programs begin, and scripts that name their interpreter: ELF, Mach-O in both byte orders and for several machines, Windows.
const MAGIC: [&[u8]; 8] = [
    b"#!",
    b"\x7fELF",
    b"MZ",
    b"\xcf\xfa\xed\xfe",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xfe\xed\xfa\xce",
    b"\xca\xfe\xba\xbe",
];
/// The endings that Node and its relatives add to a name.
const ADDED: [&str; 8] = ["js", "json", "node", "cjs", "mjs", "ts", "mts", "tsx"];
/// Files that run when a folder is given to an interpreter or a project tool.
const ENTRIES: [&str; 14] = [
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
/// The endings of modules, and the files that run when a module is a folder.
const MODULES: [&str; 6] = ["py", "pyc", "pm", "rb", "class", "js"];
/// The endings of projects of .NET, by which they are found in their folder.
const DOTNET: [&str; 3] = ["csproj", "fsproj", "vbproj"];
/// The most files of a folder that are looked at.
const MOST_IN_FOLDER: usize = 1024;
/// The most libraries of one folder.
const MOST_LIBRARIES: usize = 64;
/// The most that is read of a `package.json`, in bytes.
const MOST_OF_PACKAGE: u64 = 1024 * 1024;

/// Tells if a file that is named somewhere holds code.
pub(super) fn is_code(file: &Path) -> bool {
    has_code_name(file) || begins_as_code(file)
}

/// The files with code that arguments name as a whole, the first ones: what an interpreter runs. Options are left out, and what options
/// name after a `=`.
pub(crate) fn scripts_named(arguments: &[String], directory: &Path) -> Vec<PathBuf> {
    let words = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let files = words.map(|word| directory.join(word)).filter(|file| file.is_file() && is_code(file));
    files.take(MOST_NAMED).collect()
}

/// Says if a path is named as scripts are. The file need not exist.
pub(crate) fn has_code_name(file: &Path) -> bool {
    ending_of(file).is_some_and(|ending| CODE.contains(&ending.as_str()))
}

fn ending_of(file: &Path) -> Option<String> {
    Some(file.extension()?.to_string_lossy().to_lowercase())
}

/// The files in a folder that fit, in order.
fn in_folder(folder: &Path, fits: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let files = entries.take(MOST_IN_FOLDER).filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = files.filter(|file| fits(file) && file.is_file()).collect();
    found.sort_unstable();
    found
}

/// The shared libraries in a folder: `libc.so.6`, `libc.dylib`.
pub(super) fn libraries(folder: &Path) -> Vec<PathBuf> {
    let is_library = |file: &Path| {
        let name = file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        name.ends_with(".so") || name.contains(".so.") || name.ends_with(".dylib")
    };
    let mut found = in_folder(folder, is_library);
    found.truncate(MOST_LIBRARIES);
    found
}

/// The folders with modules that Python adds to its own for `PYTHONUSERBASE`: `lib/python3.12/site-packages`.
pub(super) fn user_packages(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = base.join("lib").read_dir() else { return Vec::new() };
    let folders = entries.take(MOST_IN_FOLDER).filter_map(|entry| Some(entry.ok()?.path().join("site-packages")));
    let mut found: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    found.sort_unstable();
    found
}

pub(super) fn begins_as_code(file: &Path) -> bool {
    let mut first = Vec::new();
    let read = opened(file).and_then(|file| file.take(4).read_to_end(&mut first));
    read.is_ok() && MAGIC.iter().any(|magic| first.starts_with(magic))
}

/// The files that an interpreter runs for a path: this one, or those that Node, Python or a project tool look for in its place.
pub(super) fn run_by(at: &Path) -> Vec<PathBuf> {
    if at.is_file() {
        return vec![at.to_owned()];
    }
    let mut found = with_added_ending(at);
    if at.is_dir() {
        found.extend(ENTRIES.map(|entry| at.join(entry)));
        found.extend(with_added_ending(&at.join("index")));
        if let Some(main) = main_of(&at.join("package.json")).map(|main| at.join(main)) {
            found.extend(with_added_ending(&main));
            found.extend(with_added_ending(&main.join("index")));
            found.push(main);
        }
        found.extend(in_folder(at, |file| ending_of(file).is_some_and(|ending| DOTNET.contains(&ending.as_str()))));
    }
    found.retain(|file| file.is_file());
    found
}

fn with_added_ending(at: &Path) -> Vec<PathBuf> {
    let named = |ending: &str| {
        let mut name = OsString::from(at);
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    ADDED.into_iter().map(named).filter(|file| file.is_file()).collect()
}

/// The file that a package names as its entry.
fn main_of(package: &Path) -> Option<String> {
    let mut text = Vec::new();
    opened(package).ok()?.take(MOST_OF_PACKAGE).read_to_end(&mut text).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
    package.get("main")?.as_str().map(str::to_owned)
}

/// The files of a module in a folder, and those of the packages that it lies in, which run before it.
pub(super) fn module_files(folder: &Path, module: &str) -> Vec<PathBuf> {
    let name = module.replace("::", "/").replace('.', "/");
    let module = folder.join(name.trim_matches('/'));
    let mut found: Vec<PathBuf> = vec![module.join("__main__.py")];
    let packages = module.ancestors().take_while(|package| *package != folder && package.starts_with(folder));
    found.extend(packages.map(|package| package.join("__init__.py")));
    found.extend(MODULES.map(|ending| module.with_extension(ending)));
    found.retain(|file| file.is_file());
    found
}
