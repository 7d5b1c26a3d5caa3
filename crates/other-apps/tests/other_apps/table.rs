//! The table of expected results for home folders, stored in `tests/import`, with a line for each problem and each
//! server.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use other_apps::{FoundServer, ImportedValueKind, ScanReport};
use ports::server_config::ServerTransport;

/// Heading line of the table of scan results.
const TABLE_HEADING: &str =
    "home\tapp\tfile\tname\ttransport\ttarget\targs\tenv\theaders\tstatus\ttools and switch\tnotes";

/// Returns the folder `tests/import`, which contains home folders, special cases and settings.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/import").canonicalize().expect("the fixtures are there")
}

/// The table of scan results that a test compares with a file.
pub(crate) struct ImportTable {
    lines: Vec<String>,
}

impl ImportTable {
    pub(crate) fn new() -> Self {
        Self { lines: vec![TABLE_HEADING.to_owned()] }
    }

    /// Adds the scan results for a home folder. `case` is the name of that folder in the table.
    pub(crate) fn add(&mut self, case: &str, home: &Path, report: &ScanReport) {
        let home = home.to_str().unwrap();
        for problem in &report.problems {
            let at = format!("{}:{}", problem.line.unwrap_or_default(), problem.column.unwrap_or_default());
            let file = problem.file.clone().unwrap_or_default();
            let cells = [case, "PROBLEM", &file, &at, &problem.message];
            self.lines.push(cells.join("\t").replace(home, "HOME"));
        }
        for server in &report.servers {
            self.lines.push(server_row(case, server).replace(home, "HOME"));
        }
    }

    /// Compares the table with a file. If they differ, the table is written to another file for inspection.
    pub(crate) fn expect(&self, file: &Path) {
        let actual = self.lines.join("\n") + "\n";
        let expected = fs::read_to_string(file).unwrap_or_default();
        if actual != expected {
            let folder = file.parent().and_then(Path::file_name).unwrap_or_default().display();
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{folder}-actual.tsv"));
            fs::write(&path, &actual).unwrap();
            let different = actual.lines().zip(expected.lines()).find(|(actual, expected)| actual != expected);
            panic!("{} differs; what was found is in {}; first: {different:#?}", file.display(), path.display());
        }
    }
}

pub(crate) fn notes_text(server: &FoundServer) -> String {
    server.notes.iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn server_row(case: &str, server: &FoundServer) -> String {
    let origin = &server.origins[0];
    let (target, args) = match &server.config.transport {
        ServerTransport::Stdio(config) => (config.command.clone(), config.args.join(" ")),
        ServerTransport::Http(config) => (config.url.clone(), String::new()),
    };
    let kinds = |kinds: &BTreeMap<String, ImportedValueKind>| {
        let typed = |name: &String| if server.pending.contains_key(name) { ", to be typed" } else { "" };
        kinds
            .iter()
            .map(|(name, kind)| format!("{name}={}{}", kind.json_name(), typed(name)))
            .collect::<Vec<_>>()
            .join("; ")
    };
    let mut extras = Vec::new();
    if server.off {
        extras.push(String::from("off"));
    }
    extras.extend((!server.placeholders.is_empty()).then(|| String::from("incomplete")));
    let tools = &server.config.tools;
    extras.extend((!tools.disabled.is_empty()).then(|| format!("not {}", tools.disabled.join(","))));
    extras.extend(tools.enabled.as_ref().map(|enabled| format!("only {}", enabled.join(","))));
    let cells = [
        case,
        &origin.app,
        &origin.file,
        &server.name,
        server.transport(),
        &target,
        &args,
        &kinds(&server.env),
        &kinds(&server.headers),
        server.status.json_name(),
        &extras.join("; "),
        &notes_text(server).replace('\n', " | "),
    ];
    for cell in cells {
        assert!(!cell.contains(['\t', '\n', '\u{1b}', '\u{202e}']), "a cell is one line and safe to print: {cell:?}");
    }
    cells.join("\t")
}
