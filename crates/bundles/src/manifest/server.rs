//! The server of a manifest: its type, and the command that starts it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::ManifestError;
use super::fields::{
    MAX_ARGUMENT_BYTES, MAX_LABEL_BYTES, MAX_MANIFEST_ITEMS, ManifestFields, ManifestWarnings, parse_bounded_string,
};
use crate::archive::is_safe_path;

/// Type of a bundle's server, which determines how its code is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerKind {
    /// The server is JavaScript code, with its packages in the bundle.
    Node,
    /// The server is Python code, with its packages in the bundle.
    Python,
    /// The server is a native program in the bundle.
    Binary,
    /// The server is Python code, with packages that uv installs at the first start.
    Uv,
}

/// Server of a bundle, with the command that starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    /// How the server is run: with Node, Python or uv, or as a native program.
    pub kind: ServerKind,
    /// Path of the server's main file in the bundle.
    pub entry_point: String,
    /// Command that starts the server on platforms without overrides.
    pub command: Command,
    /// Parts of the command that differ on a platform, by the platform's name in Node: `win32`, `darwin`, `linux`.
    pub platform_overrides: BTreeMap<String, CommandOverride>,
}

/// Command that starts a bundle's server. Its texts may contain references such as `${__dirname}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Command {
    /// Name or path of the program to run.
    pub command: String,
    /// Arguments of the program, in order.
    pub args: Vec<String>,
    /// Environment variables of the server's process, by name.
    pub env: BTreeMap<String, String>,
}

/// Parts of a server's command that differ on one platform. Each part that is present replaces the whole part of
/// [`Command`], for example all arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CommandOverride {
    /// Program that replaces the original one on the platform, if any.
    pub command: Option<String>,
    /// Arguments that replace all original ones on the platform, if any.
    pub args: Option<Vec<String>>,
    /// Environment variables that replace all original ones on the platform, if any.
    pub env: Option<BTreeMap<String, String>>,
}

impl Server {
    /// Returns the command for a platform, in which the platform's overrides replace the original parts.
    #[must_use]
    pub fn command_on(&self, platform: &str) -> Command {
        let mut command = self.command.clone();
        if let Some(other) = self.platform_overrides.get(platform).cloned() {
            command.command = other.command.unwrap_or(command.command);
            command.args = other.args.unwrap_or(command.args);
            command.env = other.env.unwrap_or(command.env);
        }
        command
    }

    pub(super) fn read(root: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Result<Self, ManifestError> {
        let server = root.object("server", warnings);
        let server =
            server.ok_or_else(|| ManifestError::Field { field: "server".to_owned(), expected: "an object" })?;
        let server = ManifestFields::new(server, "server");
        let kind = match server.required_string("type", MAX_LABEL_BYTES)?.as_str() {
            "node" => ServerKind::Node,
            "python" => ServerKind::Python,
            "binary" => ServerKind::Binary,
            "uv" => ServerKind::Uv,
            other => return Err(ManifestError::ServerKind(other.to_owned())),
        };
        let written = server.required_string("entry_point", MAX_ARGUMENT_BYTES)?;
        let entry_point = normalized_bundle_path(&written).ok_or(ManifestError::Path(written))?;
        let Some(config) = server.value("mcp_config") else {
            // The JSON Schema of 0.4 requires the command for all types, but the specification not for uv.
            let field = "server.mcp_config".to_owned();
            let error = ManifestError::Field { field, expected: "an object" };
            let command = (kind == ServerKind::Uv).then(|| uv_command(&entry_point)).ok_or(error)?;
            return Ok(Self { kind, entry_point, command, platform_overrides: BTreeMap::new() });
        };
        let CommandOverride { command, args, env } = parse_command(config, "server.mcp_config")?;
        let field = "server.mcp_config.command".to_owned();
        let command = command.filter(|command| !command.is_empty());
        let command = command.ok_or(ManifestError::Field { field, expected: "a text" })?;
        let command = Command { command, args: args.unwrap_or_default(), env: env.unwrap_or_default() };
        Ok(Self { kind, entry_point, command, platform_overrides: parse_overrides(config)? })
    }
}

fn uv_command(entry_point: &str) -> Command {
    let args = ["run", "--directory", "${__dirname}", entry_point].map(str::to_owned).to_vec();
    Command { command: "uv".to_owned(), args, env: BTreeMap::new() }
}

fn parse_overrides(config: &Value) -> Result<BTreeMap<String, CommandOverride>, ManifestError> {
    const OVERRIDES_PATH: &str = "server.mcp_config.platform_overrides";
    let Some(overrides) = config.get("platform_overrides").filter(|value| !value.is_null()) else {
        return Ok(BTreeMap::new());
    };
    let overrides = overrides
        .as_object()
        .ok_or_else(|| ManifestError::Field { field: OVERRIDES_PATH.to_owned(), expected: "an object" })?;
    if overrides.len() > MAX_MANIFEST_ITEMS {
        return Err(ManifestError::TooLong(OVERRIDES_PATH.to_owned()));
    }
    let one = |(platform, value): (&String, &Value)| {
        Ok((
            parse_bounded_string(&platform.as_str().into(), OVERRIDES_PATH, MAX_LABEL_BYTES)?,
            parse_command(value, &format!("{OVERRIDES_PATH}.{platform}"))?,
        ))
    };
    overrides.iter().map(one).collect()
}

/// Parses a command in a manifest. Any invalid part is an error.
fn parse_command(value: &Value, at: &str) -> Result<CommandOverride, ManifestError> {
    let object = value.as_object();
    let object = object.ok_or_else(|| ManifestError::Field { field: at.to_owned(), expected: "an object" })?;
    let fields = ManifestFields::new(object, at);
    Ok(CommandOverride {
        command: fields.optional_string("command", MAX_ARGUMENT_BYTES)?,
        args: fields.value("args").map(|args| parse_args(args, &fields.path("args"))).transpose()?,
        env: fields.value("env").map(|env| parse_variables(env, &fields.path("env"))).transpose()?,
    })
}

fn parse_args(args: &Value, at: &str) -> Result<Vec<String>, ManifestError> {
    let field = || ManifestError::Field { field: at.to_owned(), expected: "a list of texts" };
    let args = args.as_array().ok_or_else(field)?;
    if args.len() > MAX_MANIFEST_ITEMS {
        return Err(ManifestError::TooLong(at.to_owned()));
    }
    args.iter().map(|arg| parse_bounded_string(arg, at, MAX_ARGUMENT_BYTES)).collect()
}

fn parse_variables(env: &Value, at: &str) -> Result<BTreeMap<String, String>, ManifestError> {
    let field = || ManifestError::Field { field: at.to_owned(), expected: "an object of texts" };
    let env = env.as_object().ok_or_else(field)?;
    if env.len() > MAX_MANIFEST_ITEMS {
        return Err(ManifestError::TooLong(at.to_owned()));
    }
    let one = |(name, value): (&String, &Value)| {
        if name.is_empty() || name.len() > MAX_LABEL_BYTES || name.contains(['=', '\0']) {
            return Err(ManifestError::Field { field: at.to_owned(), expected: "an object with names of variables" });
        }
        Ok((name.clone(), parse_bounded_string(value, &format!("{at}.{name}"), MAX_ARGUMENT_BYTES)?))
    };
    env.iter().map(one).collect()
}

/// Returns the path below the root of the archive that a path in the manifest refers to, or `None` if no archive may
/// contain that path. Accepts paths with `./` or the bundle's folder in front.
pub(crate) fn normalized_bundle_path(written: &str) -> Option<String> {
    let path = written.strip_prefix("${__dirname}/").or_else(|| written.strip_prefix("./")).unwrap_or(written);
    is_safe_path(path).then(|| path.to_owned())
}
