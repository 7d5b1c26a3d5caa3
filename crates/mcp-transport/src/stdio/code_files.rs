//! Code on the disk: which files hold it, and which files an interpreter runs for a path or a module. `script_files.rs` asks.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::content_hash::opened;

/// How the names of files end that hold code.
const CODE: [&str; 34] = [
    "bash", "bat", "class", "cjs", "cmd", "cts", "dll", "dylib", "exs", "fish", "jar", "jl", "js", "jsx", "ksh", "lua",
    "mjs", "mts", "php", "pl", "pm", "ps1", "py", "pyc", "pyw", "pyz", "r", "rb", "sh", "so", "ts", "tsx", "wasm",
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
const ENTRIES: [&str; 9] = [
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
/// The most that is read of a `package.json`, in bytes.
const MOST_OF_PACKAGE: u64 = 1024 * 1024;

/// Tells if a file that is named somewhere holds code.
pub(super) fn is_code(file: &Path) -> bool {
    has_code_name(file) || begins_as_code(file)
}

/// Says if a path is named as scripts are. The file need not exist.
pub(crate) fn has_code_name(file: &Path) -> bool {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| CODE.contains(&ending.as_str()))
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
