//! `cargo xtask codegen`: writes the generated TypeScript types of the API contract to `ui/src/lib/api/generated.ts`.

mod doc_links;

use std::fs;

use clap::Args;

use crate::problem::Problem;
use crate::process::{Program, cargo};
use crate::progress::print_step;
use crate::workspace;

const GENERATED_TYPESCRIPT_FILE: &str = "src/lib/api/generated.ts";

#[derive(Args)]
pub(crate) struct CodegenOptions {
    /// Fail if the committed file is outdated, and do not write it
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &CodegenOptions) -> Result<(), Problem> {
    print_step("reading the contract from crates/api");
    let generator = cargo().dir(workspace::root_folder()).args(["run", "-q", "-p", "api", "--example", "typescript"]);
    if options.check {
        return check_generated_types(generator);
    }
    let file = workspace::ui_folder().join(GENERATED_TYPESCRIPT_FILE);
    fs::write(&file, run_typescript_generator(generator)?).map_err(Problem::file_error(&file))?;
    println!("Wrote {}", file.display());
    Ok(())
}

/// Returns an error with the first difference if the committed TypeScript types are not those that `generator` prints.
pub(crate) fn check_generated_types(generator: Program) -> Result<(), Problem> {
    let file = workspace::ui_folder().join(GENERATED_TYPESCRIPT_FILE);
    let committed = fs::read_to_string(&file).map_err(Problem::file_error(&file))?;
    match first_difference(&committed, &run_typescript_generator(generator)?) {
        None => Ok(()),
        Some(difference) => Err(Problem::Machine(difference)),
    }
}

fn run_typescript_generator(generator: Program) -> Result<String, Problem> {
    let (text, outcome) = generator.output_and_result()?;
    outcome.map(|()| doc_links::replace_doc_links(&text))
}

/// Returns the first difference between the committed file and the generated one, with the command that updates it, or
/// `None` if they match. Line endings are ignored.
fn first_difference(committed: &str, generated: &str) -> Option<String> {
    let mut ours = committed.lines();
    let mut theirs = generated.lines();
    let mut number = 0;
    loop {
        number += 1;
        let (our, their) = (ours.next(), theirs.next());
        if our != their {
            let shown = |line: Option<&str>| line.unwrap_or("(the file ends)").to_owned();
            return Some(format!(
                "ui/{GENERATED_TYPESCRIPT_FILE} is not what crates/api says; run `cargo xtask codegen` and commit the result.\n  \
                 first difference in line {number}:\n  - {}\n  + {}",
                shown(our),
                shown(their)
            ));
        }
        our?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_of_generated_types_ignores_line_endings() {
        assert_eq!(first_difference("a\r\nb\r\n", "a\nb\n"), None, "line endings should be ignored");
    }

    #[test]
    fn first_differing_line_is_reported() {
        let changed = first_difference("a\nb\n", "a\nc\n").unwrap_or_default();
        assert!(changed.contains("line 2") && changed.contains("- b") && changed.contains("+ c"), "{changed}");
        let shorter = first_difference("a\n", "a\nb\n").unwrap_or_default();
        assert!(
            shorter.contains("line 2") && shorter.contains("(the file ends)"),
            "a missing end should be reported: {shorter}"
        );
    }
}
