//! `cargo xtask tidy`: rules for the text of the repository and for the form of its files.
//!
//! Each rule is a function that examines the [`Tree`] and returns findings. Each has a test that contains violations.

mod comment_paths;
mod commits;
mod contract;
mod dependencies;
mod doc_comments;
mod equal_fields;
mod layout;
mod messages;
mod module_cycles;
mod module_lists;
mod names;
mod nested_results;
mod owner_parts;
mod page;
mod pure_crates;
mod rust_code;
mod rust_paths;
mod single_places;
mod struct_fields;
mod svelte_text;
mod time;
pub(crate) mod tree;
mod window_commands;
mod words;

use std::fmt;

use tree::Tree;

use crate::problem::Problem;
use crate::{requirements, workspace};

/// Violation of a rule at a place in the repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Number of the line, counted from 1, or 0 for the whole file.
    line: usize,
    text: String,
}

impl Finding {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.text),
            line => write!(formatter, "{}:{line}: {}", self.path, self.text),
        }
    }
}

/// Rules that examine only the files of the repository.
const RULES: [fn(&Tree) -> Vec<Finding>; 36] = [
    layout::top_level_is_known,
    layout::modules_have_docs,
    layout::files_are_short,
    layout::crates_are_short,
    comment_paths::paths_in_comments_exist,
    module_lists::listed_modules_exist,
    doc_comments::comments_do_not_begin_with_clauses,
    doc_comments::short_comments_are_few,
    names::types_are_nouns,
    names::retired_words_are_absent,
    module_cycles::modules_depend_in_one_direction,
    owner_parts::state_parts_are_independent,
    struct_fields::host_structs_are_small,
    nested_results::results_are_not_nested,
    words::no_unfinished_work,
    words::channels_are_bounded,
    words::no_fixed_waits,
    pure_crates::pure_crates_use_no_system,
    dependencies::tauri_only_in_shell,
    dependencies::host_state_in_the_host_only,
    dependencies::ts_rs_behind_a_feature,
    equal_fields::shapes_are_defined_once,
    single_places::sockets_open_in_listed_places,
    single_places::processes_start_in_one_place,
    single_places::urls_open_in_listed_places,
    single_places::credentials_are_used_in_one_place,
    contract::api_only_translates,
    contract::commands_do_not_recurse,
    contract::members_are_camel_case,
    page::tauri_is_in_one_folder,
    page::page_opens_no_windows,
    svelte_text::texts_come_from_messages,
    messages::languages_have_equal_keys,
    time::clock_is_injected,
    time::tests_do_not_sleep,
    window_commands::capability_matches_commands,
];

/// Returns the violations of all rules.
pub(crate) fn findings() -> Result<Vec<Finding>, Problem> {
    let tree = Tree::read(&workspace::root_folder())?;
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.extend(dependencies::pure_crates_have_pure_dependencies()?);
    let requirements = requirements::findings(&tree)?.into_iter();
    findings.extend(requirements.map(|(path, line, text)| Finding { path, line, text }));
    Ok(findings)
}

/// Arguments of `cargo xtask tidy`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Check the subjects of these commits instead of the files, such as origin/main..HEAD
    #[arg(long, value_name = "RANGE")]
    commits: Option<String>,
}

/// Checks the selected rules and prints the findings.
///
/// # Errors
/// Returns [`Problem::ChecksFailed`] if there are findings.
pub(crate) fn run(options: &Options) -> Result<(), Problem> {
    match &options.commits {
        Some(range) => print(&commits::findings(range)?),
        None => check(),
    }
}

/// Checks all rules for files and prints the findings.
///
/// # Errors
/// Returns [`Problem::ChecksFailed`] if there are findings.
pub(crate) fn check() -> Result<(), Problem> {
    print(&findings()?)
}

fn print(findings: &[Finding]) -> Result<(), Problem> {
    for finding in findings {
        println!("{finding}");
    }
    if findings.is_empty() { Ok(()) } else { Err(Problem::ChecksFailed) }
}
