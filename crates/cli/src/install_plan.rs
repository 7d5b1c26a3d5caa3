//! Converts the options of `install` to the input values and the sandbox of an installation plan, and formats the
//! resulting server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use installer::InstallContainment;
use installs::{InputValues, InstallPlan};
use ports::server_config::{
    AccessMode, AllowedFolder, NetworkAccess, NewServer, SandboxConfig, ServerTransport, ValuePart,
};
use serde_json::{Map, Value, json};

use crate::arguments::InstallArguments;
use crate::failure::CommandFailure;
use crate::input_lines::InputLines;
use crate::output::Output;
use crate::terminal_escape::{escape_line, escape_value};

/// Text that is printed instead of the value of a secret.
const SECRET_PLACEHOLDER: &str = "(for the keychain)";

/// Returns the values for the inputs of an installation plan: ordinary values from the command line, and secrets from
/// standard input.
pub(crate) async fn read_install_input_values(
    what: &InstallArguments,
    plan: &InstallPlan,
    input: &InputLines,
    output: &Output,
) -> Result<InputValues, CommandFailure> {
    let is_secret = |key: &str| -> Result<bool, CommandFailure> {
        let found = plan.inputs.iter().find(|input| input.key == key);
        found.map(|input| input.secret).ok_or_else(|| CommandFailure::usage_error(format!("there is no input {key:?}")))
    };
    let mut values = InputValues::new();
    for set in &what.set {
        let Some((key, value)) = set.split_once('=') else {
            return Err(CommandFailure::usage_error("--set: expected KEY=VALUE"));
        };
        if is_secret(key)? {
            return Err(CommandFailure::usage_error(format!(
                "{key:?} is a secret, which other programs could read on the command line: use --secret {key}, and pass it on standard input"
            )));
        }
        values.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    for key in &what.secret {
        is_secret(key)?;
        if what.dry_run {
            continue;
        }
        output.print_prompt(&format!("{} (it is shown while you type): ", escape_line(key)));
        let typed = input.next_line().await;
        let typed = typed
            .ok_or_else(|| CommandFailure::usage_error(format!("standard input ends before the value of {key:?}")))?;
        values.entry(key.clone()).or_default().push(typed.trim_end().to_owned());
    }
    Ok(values)
}

/// Returns the sandbox settings for a server to install, or `None` if the options disable the sandbox, the server is
/// remote, or it runs in a container.
///
/// # Errors
///
/// Returns a [`CommandFailure`] if this computer supports no sandbox, or if the options contradict each other.
pub(crate) fn sandbox_from_options(
    what: &InstallArguments,
    containment: &InstallContainment,
    bundle: Option<&Path>,
) -> Result<Option<SandboxConfig>, CommandFailure> {
    let none = match containment {
        InstallContainment::Remote => Some("a remote server"),
        InstallContainment::Container => Some("a container"),
        InstallContainment::Possible | InstallContainment::Impossible { .. } => None,
    };
    if let Some(none) = none {
        let is_described = !(what.network.is_empty() && what.read.is_empty() && what.write.is_empty());
        let message = format!("--network, --read and --write are for a sandbox, which {none} does not get");
        return if is_described { Err(CommandFailure::usage_error(message)) } else { Ok(None) };
    }
    if what.no_sandbox {
        return Ok(None);
    }
    if let InstallContainment::Impossible { cause } = containment {
        let message = format!(
            "no sandbox works here: {cause}. To install it without one, with access to everything that you can access, use --no-sandbox"
        );
        return Err(CommandFailure::new(api::ErrorCode::Unsupported, message));
    }
    let network = match what.network.as_slice() {
        [] => NetworkAccess::None,
        [all] if all == "all" => NetworkAccess::Full,
        hosts => {
            let hosts = hosts.iter().map(|host| {
                host.parse()
                    .map_err(|error| CommandFailure::usage_error(format!("--network {}: {error}", escape_value(host))))
            });
            NetworkAccess::Hosts(hosts.collect::<Result<_, _>>()?)
        }
    };
    let folder = |path: &PathBuf, access| {
        let path = std::path::absolute(path).map_err(|error| CommandFailure::usage_error(error.to_string()))?;
        Ok(AllowedFolder { path, access })
    };
    let bundle = bundle.map(|path| Ok(AllowedFolder { path: path.to_owned(), access: AccessMode::Read }));
    let read = what.read.iter().map(|path| folder(path, AccessMode::Read));
    let write = what.write.iter().map(|path| folder(path, AccessMode::Write));
    let folders: Result<Vec<AllowedFolder>, CommandFailure> = bundle.into_iter().chain(read).chain(write).collect();
    let sandbox = SandboxConfig { folders: folders?, network };
    match sandbox.problem() {
        Some(problem) => Err(CommandFailure::usage_error(problem)),
        None => Ok(Some(sandbox)),
    }
}

/// Formats the configuration of a server to install as text for the user.
pub(crate) fn server_to_install_text(server: &NewServer) -> String {
    let mut text = format!("name        {}\n", escape_value(&server.entry.name));
    let shown = |values: &BTreeMap<String, String>| -> BTreeMap<String, String> {
        let plain = values.iter().map(|(name, text)| (name.clone(), escape_value(text)));
        plain
            .chain(server.secret_values.iter().map(|(name, parts)| (name.clone(), text_with_masked_secrets(parts))))
            .collect()
    };
    match &server.entry.config.transport {
        ServerTransport::Stdio(stdio) => {
            text.push_str(&format!("program     {}\n", escape_value(&stdio.command)));
            for arg in &stdio.args {
                text.push_str(&format!("argument    {}\n", escape_value(arg)));
            }
            for (name, value) in shown(&stdio.env) {
                text.push_str(&format!("variable    {}={value}\n", escape_line(&name)));
            }
            text.push_str(&install_sandbox_text(&stdio.command, stdio.sandbox.as_ref()));
        }
        ServerTransport::Http(http) => {
            text.push_str(&format!("address     {}\n", escape_value(&http.url)));
            for (name, value) in shown(&http.headers) {
                text.push_str(&format!("header      {}: {value}\n", escape_line(&name)));
            }
            text.push_str("Its operator receives everything that you send.\n");
        }
    }
    text
}

/// Formats the configuration of a server after an upgrade as text, together with the removed lines. Removed lines start
/// with `-`, and added ones with `+`.
pub(crate) fn upgrade_changes_text(before: &NewServer, after: &NewServer) -> String {
    let (before, after) = (server_to_install_text(before), server_to_install_text(after));
    let is_in = |text: &str, line: &str| text.lines().any(|other| other == line);
    let removed = before.lines().filter(|line| !is_in(&after, line)).map(|line| format!("- {line}\n"));
    let now = after.lines().map(|line| format!("{} {line}\n", if is_in(&before, line) { ' ' } else { '+' }));
    removed.chain(now).collect()
}

/// Formats the configuration of a server to install as JSON.
pub(crate) fn server_to_install_json(server: &NewServer) -> Value {
    let shown = |values: &BTreeMap<String, String>| -> Value {
        let plain = values.iter().map(|(name, text)| (name.clone(), Value::from(text.as_str())));
        let secret = server.secret_values.keys().map(|name| (name.clone(), Value::from(SECRET_PLACEHOLDER)));
        plain.chain(secret).collect::<Map<_, _>>().into()
    };
    match &server.entry.config.transport {
        ServerTransport::Stdio(stdio) => json!({
            "name": server.entry.name,
            "command": stdio.command,
            "args": stdio.args,
            "env": shown(&stdio.env),
            "sandbox": stdio.sandbox.as_ref().map(SandboxConfig::to_json),
        }),
        ServerTransport::Http(http) => {
            json!({ "name": server.entry.name, "url": http.url, "headers": shown(&http.headers) })
        }
    }
}

fn text_with_masked_secrets(parts: &[ValuePart]) -> String {
    let part = |part: &ValuePart| match part {
        ValuePart::Text(text) => escape_line(text),
        ValuePart::Secret(_) => SECRET_PLACEHOLDER.to_owned(),
    };
    parts.iter().map(part).collect()
}

fn install_sandbox_text(command: &str, sandbox: Option<&SandboxConfig>) -> String {
    let Some(SandboxConfig { folders, network }) = sandbox else {
        // A container engine can't reach its service from a sandbox.
        if process::is_container_engine(command) {
            return "sandbox     none: its container isolates it, as far as the arguments above permit\n".to_owned();
        }
        return "sandbox     NONE: it reaches all that you do\n".to_owned();
    };
    let mut text = String::from("sandbox     on\n");
    for AllowedFolder { path, access } in folders {
        let may = if *access == AccessMode::Write { "may change" } else { "may read" };
        text.push_str(&format!("{may:<11} {}\n", escape_line(&path.display().to_string())));
    }
    match network {
        NetworkAccess::None => text.push_str(
            "network     none. A server that loads packages or calls a service needs --network HOST, or --network all.\n",
        ),
        NetworkAccess::Full => text.push_str("network     all of it\n"),
        NetworkAccess::Hosts(hosts) => {
            for host in hosts {
                text.push_str(&format!("host        {}\n", escape_line(&host.to_string())));
            }
        }
    }
    text
}
