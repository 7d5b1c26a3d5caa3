//! Shell completions and manual pages, generated from the definition of the command line. `main` calls this module
//! before any settings are read.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::arguments::{Arguments, DocumentationCommand};

const PROGRAM_NAME: &str = "drawbridge-cli";

/// Writes completions to standard output, or manual pages into a folder.
///
/// # Errors
///
/// Returns the I/O error if standard output or the folder can't be written to.
pub(crate) fn write_documentation(documents: &DocumentationCommand) -> io::Result<()> {
    match documents {
        DocumentationCommand::Completions { shell } => {
            // clap_complete panics if its writer fails, so the script is generated in memory first.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), PROGRAM_NAME, &mut script);
            io::stdout().write_all(&script)
        }
        DocumentationCommand::Man { folder } => clap_mangen::generate_to(Arguments::command(), folder),
    }
}
