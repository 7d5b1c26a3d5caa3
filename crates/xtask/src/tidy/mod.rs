//! `cargo xtask tidy`: rules for the text of the repository and for the form of its files.
//!
//! Each rule is a function that examines the [`SourceTree`] and returns findings. Each has a test that contains
//! violations.

mod comment_paths;
mod commits;
mod contract;
mod decision_records;
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
pub(crate) mod source_tree;
mod struct_fields;
mod svelte_text;
mod time;
mod untested_targets;
mod window_commands;
mod words;

use std::fmt;

use source_tree::SourceTree;

use crate::problem::Problem;
use crate::{requirements, workspace};

/// Violation of a rule of `cargo xtask tidy` at a place in the repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// Number of the line that violates the rule, counted from 1, or 0 for the whole file.
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

/// Rules of `cargo xtask tidy` that examine only the files of the repository.
const TIDY_RULES: [fn(&SourceTree) -> Vec<Finding>; 39] = [
    layout::find_unknown_top_level_entries,
    layout::find_modules_without_docs,
    layout::find_long_files,
    layout::find_long_crates,
    comment_paths::find_missing_paths_in_comments,
    module_lists::find_unknown_listed_modules,
    decision_records::find_missing_guards_of_decisions,
    doc_comments::find_comments_beginning_with_clauses,
    doc_comments::find_excess_short_comments,
    names::find_type_names_without_noun,
    names::find_retired_words,
    module_cycles::find_module_cycles,
    owner_parts::find_dependencies_of_state_parts,
    struct_fields::find_large_host_structs,
    nested_results::find_nested_result_types,
    nested_results::find_twice_propagated_results,
    words::find_unfinished_work,
    words::find_channels_without_bound,
    words::find_fixed_waits,
    pure_crates::find_io_use_in_pure_crates,
    dependencies::find_tauri_outside_desktop_app,
    dependencies::find_host_state_outside_host,
    dependencies::find_unconditional_ts_rs,
    equal_fields::find_duplicate_types,
    single_places::find_disallowed_sockets,
    single_places::find_disallowed_process_starts,
    single_places::find_disallowed_url_openings,
    single_places::find_disallowed_credential_uses,
    contract::find_storage_and_locks_in_api,
    contract::find_api_commands_that_call_themselves,
    contract::find_fields_not_in_camel_case,
    page::find_tauri_outside_platform_folder,
    page::find_windows_opened_by_page,
    svelte_text::find_hard_coded_texts,
    messages::find_translation_differences,
    time::find_system_clock_reads,
    time::find_sleeping_tests,
    untested_targets::find_tests_that_never_run,
    window_commands::find_capability_differences,
];

/// Returns the violations of all rules that apply to files.
pub(crate) fn all_findings() -> Result<Vec<Finding>, Problem> {
    let tree = SourceTree::read(&workspace::root_folder())?;
    let mut findings: Vec<Finding> = TIDY_RULES.iter().flat_map(|rule| rule(&tree)).collect();
    findings.extend(dependencies::find_impure_dependencies()?);
    let requirements = requirements::requirement_findings(&tree)?.into_iter();
    findings.extend(requirements.map(|(path, line, text)| Finding { path, line, text }));
    Ok(findings)
}

/// Arguments of `cargo xtask tidy`.
#[derive(clap::Args)]
pub(crate) struct TidyOptions {
    /// Check the subjects of these commits instead of the files, such as origin/main..HEAD
    #[arg(long, value_name = "RANGE")]
    commits: Option<String>,
}

/// Checks the selected rules, and prints the violations.
///
/// # Errors
/// Returns [`Problem::ChecksFailed`] if there are findings.
pub(crate) fn run(options: &TidyOptions) -> Result<(), Problem> {
    match &options.commits {
        Some(range) => print_findings(&commits::commit_subject_findings(range)?),
        None => check_repository(),
    }
}

/// Checks all rules that apply to files, and prints the violations.
///
/// # Errors
/// Returns [`Problem::ChecksFailed`] if there are findings.
pub(crate) fn check_repository() -> Result<(), Problem> {
    print_findings(&all_findings()?)
}

fn print_findings(findings: &[Finding]) -> Result<(), Problem> {
    for finding in findings {
        println!("{finding}");
    }
    if findings.is_empty() { Ok(()) } else { Err(Problem::ChecksFailed) }
}
