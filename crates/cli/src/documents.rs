//! Shell completions and manual pages, made from the command line's own definition. `main` calls this before any settings are read.

use std::io::{self, Write as _};

use clap::CommandFactory as _;

use crate::arguments::{Arguments, Documents};

const PROGRAM: &str = "drawbridge-cli";

/// Writes completions to standard output, or manual pages into a folder.
///
/// # Errors
/// If standard output or the folder cannot be written to.
pub(crate) fn write(documents: &Documents) -> io::Result<()> {
    match documents {
        Documents::Completions { shell } => {
            // clap_complete panics when its writer fails, so it writes to memory.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), PROGRAM, &mut script);
            io::stdout().write_all(&script)
        }
        Documents::Man { folder } => clap_mangen::generate_to(Arguments::command(), folder),
    }
}
