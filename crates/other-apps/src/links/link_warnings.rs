//! Warnings that are displayed before a server of a link is added. They don't prevent anything, and a server without
//! warnings may be malicious, since programs can be made to run other code in more ways than a list can cover.

use std::net::IpAddr;

use foreign::is_public;
use ports::server_config::{HttpConfig, ImportNote, ImportNoteKind, ImportPlace, StdioConfig};
use ports::url_parts::UrlParts;
use process::is_code_variable;
use url::{Host, Url};

use crate::bridged_servers::{parse_bridge, program_name};
use crate::notes::{MAX_QUOTED_CHARS, omission_note, quoted_text, shortened_text};
use crate::secret_detection::{has_secret, is_empty_or_boolean, is_secret_name};
use crate::server_candidate::ServerCandidate;

/// Maximum number of warnings about one server.
const MAX_LINK_WARNINGS: usize = 20;
/// Words for the warnings that are omitted, in the singular and in the plural.
const OMITTED_WARNINGS_SINGULAR_PLURAL: [&str; 2] =
    ["warning: read the whole command before you add it", "warnings: read the whole command before you add it"];
const MAX_NAMES_IN_WARNING: usize = 20;

/// Kind of a program that a server in a link runs. It determines which command-line options are risky.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramKind {
    /// A shell, such as `bash`, which runs command lines.
    Shell,
    /// An interpreter, such as `python`. Each character of the string is a one-letter option whose value is code that
    /// the interpreter runs.
    Interpreter(&'static str),
    /// A program such as `npx`, which loads a package and runs it.
    Launcher,
    /// A program such as `docker`, which runs a container.
    Container,
    /// A program such as `sudo`, which runs another program with elevated privileges.
    Elevation,
}

/// Options of interpreters and launchers whose value is code, or a file with code that is executed first.
const CODE_EXECUTION_OPTIONS: [&str; 8] =
    ["--call", "--eval", "--print", "--require", "--import", "--loader", "--experimental-loader", "--preload"];
/// Options of launchers that set the source of packages.
const PACKAGE_SOURCE_OPTIONS: [&str; 10] = [
    "--from",
    "--with",
    "--package",
    "--registry",
    "--index",
    "--index-url",
    "--extra-index-url",
    "--default-index",
    "--find-links",
    "-p",
];
/// Options of container programs that give access to a folder, a device or privileges of the host.
const CONTAINER_HOST_ACCESS_OPTIONS: [&str; 8] =
    ["--volume", "--mount", "--privileged", "--device", "--cap-add", "--pid", "--network", "--net"];
/// Returns warnings about risky settings of a server in an install link.
pub(super) fn server_warnings(found: &ServerCandidate) -> Vec<ImportNote> {
    let mut remarks = match &found.remote {
        Some(remote) => remote_warnings(remote),
        None => local_warnings(&found.config),
    };
    if found.remote.is_none()
        && let Some(bridged) = parse_bridge(&found.config)
    {
        remarks.extend(remote_warnings(&bridged.remote));
        if bridged.remote.is_unencrypted_remote() {
            let note = "its address is not encrypted: sent data can be read on the way";
            remarks.push(ImportNote::new(ImportNoteKind::Unencrypted, note));
        }
    }
    let values = found.remote.as_ref().map_or(&found.config.env, |remote| &remote.headers);
    let secret: Vec<&String> = values
        .iter()
        .filter(|(name, value)| has_secret(value) || (is_secret_name(name) && !needs_value(value)))
        .map(|(name, _)| name)
        .take(MAX_NAMES_IN_WARNING)
        .collect();
    if !secret.is_empty() {
        let names = quoted_names(&secret);
        let note = format!(
            "the link contains values that look like secrets: {names}; everyone who has the link can read them"
        );
        remarks.push(ImportNote::new(ImportNoteKind::LinkSecrets, note).with_names(shortened_names(&secret)));
    }
    let omitted = remarks.len().saturating_sub(MAX_LINK_WARNINGS);
    remarks.truncate(MAX_LINK_WARNINGS);
    // Otherwise harmless words with warnings could hide the dangerous ones after them.
    remarks.extend(omission_note(ImportNoteKind::MoreWarnings, omitted, OMITTED_WARNINGS_SINGULAR_PLURAL));
    remarks
}

fn quoted_names(names: &[&String]) -> String {
    names.iter().map(|name| quoted_text(name)).collect::<Vec<_>>().join(", ")
}

fn shortened_names(names: &[&String]) -> Vec<String> {
    names.iter().map(|name| shortened_text(name)).collect()
}

/// Shortens an ASCII host name at its beginning, since the end of the name shows who owns the host.
fn shorten_host_at_start(host: &str) -> String {
    match host.char_indices().nth_back(MAX_QUOTED_CHARS - 1) {
        Some((start, _)) if start > 0 => format!("…{}", &host[start..]),
        _ => host.to_owned(),
    }
}

/// Returns `true` if a value is empty, a boolean, or contains a placeholder such as `${NAME}` or `<key>`.
fn needs_value(value: &str) -> bool {
    is_empty_or_boolean(value.trim()) || value.contains("${") || (value.contains('<') && value.contains('>'))
}

fn remote_warnings(remote: &HttpConfig) -> Vec<ImportNote> {
    let mut remarks = Vec::new();
    let host = Url::parse(&remote.url).ok().and_then(|url| url.host().map(|host| host.to_owned()));
    match host.map(|host| address_location(&host)) {
        Some(AddressLocation::ThisComputer) => {
            let note =
                "its address is on this computer: the program that responds there receives everything that is sent";
            remarks.push(ImportNote::new(ImportNoteKind::ThisComputer, note));
        }
        Some(AddressLocation::OwnNetwork) => {
            let note = "its address is in your network or reserved, and not on the internet";
            remarks.push(ImportNote::new(ImportNoteKind::OwnNetwork, note));
        }
        Some(AddressLocation::Internet) | None => {}
    }
    if let Some(ascii) = UrlParts::parse(&remote.url).ascii_host {
        let ascii = shorten_host_at_start(&ascii);
        let note = format!("its host has letters that look like others: it is {ascii:?}");
        remarks.push(ImportNote::new(ImportNoteKind::LookalikeHost, note).with_names([ascii]));
    }
    remarks
}

/// Location of a network address: this computer, the local network, or the internet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressLocation {
    ThisComputer,
    OwnNetwork,
    Internet,
}

/// Domains, and suffixes of domains, that are only resolved in a private network.
const PRIVATE_DOMAINS: [&str; 4] = ["local", "internal", "lan", "home.arpa"];

fn address_location(host: &Host<String>) -> AddressLocation {
    let address: IpAddr = match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let is_below = |end: &str| name == end || name.ends_with(&format!(".{end}"));
            if is_below("localhost") {
                return AddressLocation::ThisComputer;
            }
            let is_own = !name.contains('.') || PRIVATE_DOMAINS.into_iter().any(is_below);
            return if is_own { AddressLocation::OwnNetwork } else { AddressLocation::Internet };
        }
        Host::Ipv4(address) => (*address).into(),
        Host::Ipv6(address) => address.to_ipv4_mapped().map_or_else(|| (*address).into(), IpAddr::from),
    };
    match address {
        address if address.is_loopback() || address.is_unspecified() => AddressLocation::ThisComputer,
        address if is_public(address) => AddressLocation::Internet,
        _ => AddressLocation::OwnNetwork,
    }
}

fn local_warnings(config: &StdioConfig) -> Vec<ImportNote> {
    let mut remarks = Vec::new();
    let mut kind = program_kind(&config.command);
    remarks.extend(program_warning(kind, ImportPlace::Command, &config.command));
    // The options of a launcher end at the package. All following arguments belong to the server.
    let mut is_server = false;
    for (number, word) in (1..).zip(&config.args) {
        let place = ImportPlace::Argument { number: u32::try_from(number).unwrap_or(u32::MAX) };
        // A package may have a name that ends like that of a program.
        let inner =
            program_kind(word).filter(|inner| !word.contains('@') && (*inner != ProgramKind::Launcher || !is_server));
        if inner.is_some() {
            kind = inner;
            is_server = false;
            remarks.extend(program_warning(kind, place, word));
            continue;
        }
        let value = config.args.get(number).map(String::as_str).unwrap_or_default();
        let Some(risk) = kind.filter(|_| !is_server).and_then(|kind| option_risk(kind, word, value)) else {
            let is_option = word.starts_with('-');
            let is_step = ["run", "exec", "dlx", "x", "tool"].contains(&word.as_str());
            let is_value = number > 1
                && config.args.get(number - 2).is_some_and(|before| PACKAGE_SOURCE_OPTIONS.contains(&before.as_str()));
            let was_server = is_server;
            is_server |= !is_option
                && !is_step
                && !is_value
                && matches!(kind, Some(ProgramKind::Launcher | ProgramKind::Interpreter(_)));
            // Only the package is checked, not the arguments of the server.
            if is_server && !was_server && kind == Some(ProgramKind::Launcher) && is_package_address(word) {
                let note = format!("argument {number} loads code from an address instead of a package from a registry");
                remarks.push(ImportNote::new(ImportNoteKind::PackageAddress, note).at(place));
            }
            continue;
        };
        let option = option_name(word);
        let note = format!("argument {number}, {}, {}: read it completely", quoted_text(option), risk.description());
        remarks.push(ImportNote::new(risk.note_kind(), note).at(place).with_names([shortened_text(option)]));
    }
    let variables: Vec<&String> =
        config.env.keys().filter(|name| is_code_variable(name)).take(MAX_NAMES_IN_WARNING).collect();
    if !variables.is_empty() {
        let note = format!("these variables decide which code runs: {}", quoted_names(&variables));
        remarks.push(ImportNote::new(ImportNoteKind::CodeVariables, note).with_names(shortened_names(&variables)));
    }
    remarks
}

/// Returns a warning about a program of this kind, or `None` if the program itself has no risk.
fn program_warning(kind: Option<ProgramKind>, place: ImportPlace, word: &str) -> Option<ImportNote> {
    let (kind, risk) = match kind? {
        ProgramKind::Shell => (ImportNoteKind::Shell, "is a shell, which runs any command in its arguments"),
        ProgramKind::Elevation => (ImportNoteKind::MoreRights, "runs the rest with more rights than yours"),
        ProgramKind::Interpreter(_) | ProgramKind::Launcher | ProgramKind::Container => return None,
    };
    let words = match place {
        ImportPlace::Argument { number } => format!("argument {number}"),
        _ => String::from("the command"),
    };
    let note = ImportNote::new(kind, format!("{words}, {}, {risk}", quoted_text(word)));
    Some(note.at(place).with_names([shortened_text(word)]))
}

/// Returns the kind of the program with this name or path, or `None` for an unknown program.
fn program_kind(word: &str) -> Option<ProgramKind> {
    let name = program_name(word).to_ascii_lowercase();
    // The name may end with a version, such as python3.12.
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "fish" | "csh" | "tcsh" | "cmd" | "powershell" | "pwsh"
        | "busybox" | "wsl" => ProgramKind::Shell,
        "python" | "pypy" | "py" => ProgramKind::Interpreter("c"),
        "node" | "electron" => ProgramKind::Interpreter("epr"),
        "ruby" | "perl" | "lua" => ProgramKind::Interpreter("eE"),
        "php" => ProgramKind::Interpreter("rBE"),
        "osascript" => ProgramKind::Interpreter("e"),
        "npx" | "npm" | "pnpm" | "pnpx" | "yarn" | "bunx" | "bun" | "uvx" | "uv" | "pipx" | "deno" => {
            ProgramKind::Launcher
        }
        name if process::is_container_engine(name) => ProgramKind::Container,
        "sudo" | "doas" | "pkexec" | "runas" => ProgramKind::Elevation,
        _ => return None,
    })
}

/// A risk of a command-line option: the option runs code, changes the source of packages, or gives access to the
/// computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OptionRisk {
    Code,
    PackageSource,
    HostAccess,
}

impl OptionRisk {
    const fn description(self) -> &'static str {
        match self {
            Self::Code => "runs code from the link, or code that it downloads first",
            Self::PackageSource => "downloads code from an address instead of the usual registry",
            Self::HostAccess => "gives the container access to a folder or device, or privileges on this computer",
        }
    }

    const fn note_kind(self) -> ImportNoteKind {
        match self {
            Self::Code => ImportNoteKind::CodeOption,
            Self::PackageSource => ImportNoteKind::SourceOption,
            Self::HostAccess => ImportNoteKind::AccessOption,
        }
    }
}

/// Returns the risk of the command-line option `word` of a program, or `None` if it has none. `next` is the argument
/// after the option, which may be its value.
fn option_risk(kind: ProgramKind, word: &str, next: &str) -> Option<OptionRisk> {
    let value = word.split_once('=').map_or(next, |(_, value)| value);
    let has_letter = |letters: &str| {
        let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        // After the letter m, an option contains the name of a module.
        let is_letter = |c: &char| c.is_ascii_alphabetic() && *c != 'm';
        cluster.is_some_and(|cluster| cluster.chars().take_while(is_letter).any(|c| letters.contains(c)))
    };
    let is_code = CODE_EXECUTION_OPTIONS.contains(&option_name(word));
    match kind {
        ProgramKind::Shell => {
            let switch = ["/c", "/k", "/r"].iter().any(|switch| word.eq_ignore_ascii_case(switch));
            let command = word.get(..2).is_some_and(|start| ["-c", "-e"].iter().any(|s| start.eq_ignore_ascii_case(s)));
            (switch || command || has_letter("c")).then_some(OptionRisk::Code)
        }
        ProgramKind::Interpreter(letters) => (is_code || has_letter(letters)).then_some(OptionRisk::Code),
        ProgramKind::Launcher if is_code || has_letter("c") || word == "eval" || word == "-e" => Some(OptionRisk::Code),
        ProgramKind::Launcher if PACKAGE_SOURCE_OPTIONS.contains(&option_name(word)) && is_package_address(value) => {
            Some(OptionRisk::PackageSource)
        }
        ProgramKind::Launcher => None,
        ProgramKind::Container => {
            let is_short = has_letter("v") && (value.contains(':') || word.contains(':'));
            let is_given = match option_name(word) {
                "--pid" | "--network" | "--net" => value.starts_with("host"),
                word => CONTAINER_HOST_ACCESS_OPTIONS.contains(&word),
            };
            (is_short || is_given).then_some(OptionRisk::HostAccess)
        }
        ProgramKind::Elevation => None,
    }
}

/// Returns the name of a command-line option without its value.
fn option_name(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// Returns `true` if a package runner would load the package that this argument names from a URL, a repository or a
/// file, instead of a registry.
fn is_package_address(word: &str) -> bool {
    word.contains("://") || ["git+", "github:", "gitlab:", "file:", "git@"].iter().any(|start| word.contains(start))
}
