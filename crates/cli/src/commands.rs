//! Execution of the commands. Each command returns its result as JSON, and prints it as text unless `--json` is set.

use std::collections::BTreeMap;

use ::chat::ToolCall;
use api::data::{CompleteArgument, CompletionReference, GetPrompt, ReadResource, ServerCatalog, ServerName};
use api::{ApiError, ErrorCode, Handler as _};
use futures_util::future::join_all;
use host::CallOrigin;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app;
use crate::arguments::{self, Command, PolicyCommand, ServerArgument};
use crate::audit;
use crate::chat;
use crate::consent_request_text;
use crate::data_flow;
use crate::failure::CommandFailure;
use crate::import;
use crate::install;
use crate::link;
use crate::login;
use crate::models;
use crate::output::{to_json_value, with_redacted_environment_variables};
use crate::published_names::{
    DEFINITION_FIELD_NAMES, SANDBOX_FIELD_NAMES, SERVER_FIELD_NAMES, with_published_field_names,
};
use crate::result_text;
use crate::review;
use crate::rules;
use crate::sampling;
use crate::secret;
use crate::session::CommandSession;
use crate::skills;
use crate::table::format_table;
use crate::terminal_escape;

/// Identifier of the only call to a server that a command makes.
pub(crate) const CLI_CALL_ID: &str = "cli";

/// Runs a command in a session, and returns its result as JSON.
pub(crate) async fn run(session: &CommandSession, command: Command) -> Result<Value, CommandFailure> {
    match command {
        Command::Servers => list_servers(session).await,
        Command::Tools(of) => list_catalog_items(session, of, |catalog| catalog.tools, result_text::tool_row).await,
        Command::Prompts(of) => {
            list_catalog_items(session, of, |catalog| catalog.prompts, result_text::prompt_row).await
        }
        Command::Resources(of) => {
            list_catalog_items(session, of, |catalog| catalog.resources, result_text::resource_row).await
        }
        Command::Templates(of) => {
            list_catalog_items(session, of, |catalog| catalog.templates, result_text::template_row).await
        }
        Command::Skills { command } => skills::run(session, command).await,
        Command::Call { server, tool, args } => call_tool(session, server, tool, &args).await,
        Command::App(what) => {
            require_ready_server(session, &what.server).await?;
            app::run(session, what).await
        }
        Command::Prompt { server, name, args } => get_prompt(session, server, name, &args).await,
        Command::Read { server, uri } => read_resource(session, server, uri).await,
        Command::Complete(complete) => self::complete_argument(session, complete).await,
        Command::Login { server } => login::login(session, &server).await,
        Command::Logout { server } => login::logout(session, &server).await,
        Command::Sandbox { server } => show_sandbox(session, server).await,
        Command::Review { server, accept } => {
            require_ready_server(session, &server).await?;
            review::review_definitions(session, server, accept).await
        }
        Command::Pins { server } => review::show_reviewed_definitions(session, server).await,
        Command::Auth { client_document: Some(url), .. } => login::print_client_metadata_document(session, &url),
        Command::Auth { server, .. } => login::show_authorization(session, &server.unwrap_or_default()).await,
        Command::Secret { server, name } => secret::store_secret(session, &server, name).await,
        Command::Import(what) => import::run(session, what).await,
        Command::Export { format } => import::export_servers(session, format).await,
        Command::Link(what) => link::run(session, what).await,
        Command::Install(what) => install::run(session, what).await,
        Command::Flow(what) => data_flow::run(session, what).await,
        Command::Sampling(what) => sampling::run(session, what).await,
        Command::Watch(of) => watch_events(session, of).await,
        Command::Chat(what) => chat::run(session, what).await,
        Command::Models { command } => models::run(session, command).await,
        Command::Policy { command } => rules::run(session, command).await,
        Command::Audit(what) => audit::run(session, what).await,
        // `main` runs these commands before a session is opened.
        Command::Doctor(_) | Command::Registry(_) | Command::Bundle { .. } | Command::Documents(_) => Ok(Value::Null),
    }
}

/// Starts a server and waits until it is ready. Returns the reason as a failure if it can't be used.
pub(crate) async fn require_ready_server(session: &CommandSession, server: &str) -> Result<(), CommandFailure> {
    session.resolve_server_names(Some(server)).await?;
    session.start_server_and_wait(server).await
}

async fn list_servers(session: &CommandSession) -> Result<Value, CommandFailure> {
    let names = session.resolve_server_names(None).await?;
    // A server that fails to start is still listed, with its state.
    join_all(names.iter().map(|name| session.start_server_and_wait(name))).await;
    let servers: Vec<_> = names.iter().filter_map(|name| session.server(name)).collect();
    session.output.print_text(&format_table(&servers.iter().map(result_text::server_row).collect::<Vec<_>>()));
    let values =
        servers.iter().map(|server| with_published_field_names(to_json_value(server), SERVER_FIELD_NAMES)).collect();
    Ok(with_redacted_environment_variables(Value::Array(values)))
}

/// Lists the tools, prompts, resources or templates of one server or of all servers. `part` selects one of these lists
/// from a server's catalog.
async fn list_catalog_items<T: Serialize>(
    session: &CommandSession,
    of: ServerArgument,
    part: impl Fn(ServerCatalog) -> Vec<T>,
    row: impl Fn(&str, &T) -> Vec<String>,
) -> Result<Value, CommandFailure> {
    let read = async |server: String| {
        let mut catalog = session.api.read_catalog(ServerName { server }).await?;
        let notes = std::mem::take(&mut catalog.notes);
        Ok(ServerItemList { items: part(catalog), notes })
    };
    list_items_of_servers(session, of, read, row).await
}

/// Items of one kind that a server lists, such as its tools, with notes that explain why the list is incomplete.
pub(crate) struct ServerItemList<T> {
    pub(crate) items: Vec<T>,
    pub(crate) notes: Vec<String>,
}

/// Lists the items of one kind, such as tools, of one server or of all servers. Skips servers that can't be used. If
/// none can be used, returns the first failure.
pub(crate) async fn list_items_of_servers<T: Serialize>(
    session: &CommandSession,
    of: ServerArgument,
    read: impl AsyncFn(String) -> Result<ServerItemList<T>, CommandFailure>,
    row: impl Fn(&str, &T) -> Vec<String>,
) -> Result<Value, CommandFailure> {
    let names = session.resolve_server_names(of.server.as_deref()).await?;
    let started = join_all(names.iter().map(|name| session.start_server_and_wait(name))).await;
    let mut items = Vec::new();
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    for (name, started) in names.iter().zip(started) {
        if let Err(failure) = started {
            failures.push(failure);
            continue;
        }
        let offered = match read(name.clone()).await {
            Ok(offered) => offered,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        for note in &offered.notes {
            session.output.print_event("note", json!({ "server": name, "message": note }));
            session.output.print_message(&terminal_escape::escape_line(&format!("{name}: {note}")));
        }
        for item in &offered.items {
            rows.push(row(name, item));
            let mut object = Map::new();
            object.insert(String::from("server"), name.clone().into());
            if let Value::Object(fields) = with_published_field_names(to_json_value(item), DEFINITION_FIELD_NAMES) {
                object.extend(fields);
            }
            items.push(Value::Object(object));
        }
    }
    if failures.len() == names.len() && !failures.is_empty() {
        return Err(failures.swap_remove(0));
    }
    for failure in &failures {
        session.output.print_event("note", json!({ "message": failure.message }));
        session.output.print_message(terminal_escape::escape_and_prefix_lines(&failure.message, "").trim_end());
    }
    session.output.print_text(&format_table(&rows));
    Ok(Value::Array(items))
}

pub(crate) fn parse_json_object(text: &str, option: &str) -> Result<Map<String, Value>, CommandFailure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(CommandFailure::usage_error(format!("{option}: expected a JSON object such as {{\"a\": 1}}"))),
        Err(error) => Err(CommandFailure::usage_error(format!("{option}: expected a JSON object: {error}"))),
    }
}

fn parse_string_map(text: &str, option: &str) -> Result<BTreeMap<String, String>, CommandFailure> {
    parse_json_object(text, option)?
        .into_iter()
        .map(|(name, value)| match value {
            Value::String(value) => Ok((name, value)),
            _ => Err(CommandFailure::usage_error(format!("{option}: {name:?} must be a text in double quotes"))),
        })
        .collect()
}

/// Returns a usage failure if an argument of the command is invalid. Called before any server starts.
pub(crate) fn check_command_arguments(command: &Command) -> Result<(), CommandFailure> {
    match command {
        Command::Call { args, .. } => parse_json_object(args, "--args").map(drop),
        Command::Prompt { args, .. } => parse_string_map(args, "--args").map(drop),
        Command::Complete(complete) => parse_string_map(&complete.context, "--context").map(drop),
        Command::Policy { command: PolicyCommand::Check { args, .. } } => parse_json_object(args, "JSON").map(drop),
        Command::Audit(what) => audit::check_audit_arguments(what),
        _ => Ok(()),
    }
}

async fn call_tool(
    session: &CommandSession,
    server: String,
    tool: String,
    args: &str,
) -> Result<Value, CommandFailure> {
    let arguments = parse_json_object(args, "--args")?;
    require_ready_server(session, &server).await?;
    let app = session.api.app_views().app_page_uri(&server, &tool).await;
    let origin = CallOrigin::CommandLine;
    let (id, called, name) = (CLI_CALL_ID.to_owned(), server.clone(), tool.clone());
    let call = ToolCall { id, origin, server: called, app: None, tool: name, arguments, repeats: None };
    let result = session.api.chat().call_tool(call).await.map_err(ApiError::from)?;
    if result.is_error {
        return Err(CommandFailure::tool_error(result_text::error_result_text(&result), to_json_value(&result)));
    }
    session.output.print_text(&result_text::tool_result_text(&result));
    if let Some(uri) = app {
        session.output.print_message(&terminal_escape::escape_line(&format!(
            "The tool has an app at {}, which the window of Drawbridge shows. To save its page: drawbridge-cli app {server} {tool} --html FILE",
            uri.as_str()
        )));
    }
    Ok(to_json_value(&result))
}

async fn get_prompt(
    session: &CommandSession,
    server: String,
    prompt: String,
    args: &str,
) -> Result<Value, CommandFailure> {
    let arguments = parse_string_map(args, "--args")?;
    require_ready_server(session, &server).await?;
    let result = session
        .api
        .get_prompt(GetPrompt { call: CLI_CALL_ID.to_owned(), server, prompt, arguments, hash: None })
        .await?;
    session.output.print_text(&result_text::prompt_result_text(&result));
    Ok(to_json_value(&result))
}

async fn read_resource(session: &CommandSession, server: String, uri: String) -> Result<Value, CommandFailure> {
    require_ready_server(session, &server).await?;
    let result =
        session.api.read_resource(ReadResource { call: CLI_CALL_ID.to_owned(), server, uri, refresh: true }).await?;
    session.output.print_text(&result.contents.iter().map(result_text::resource_contents_text).collect::<String>());
    Ok(to_json_value(&result))
}

async fn complete_argument(
    session: &CommandSession,
    complete: arguments::CompleteArguments,
) -> Result<Value, CommandFailure> {
    let context = parse_string_map(&complete.context, "--context")?;
    require_ready_server(session, &complete.server).await?;
    let of = match (complete.of.prompt, complete.of.template) {
        (Some(name), _) => CompletionReference::Prompt { name },
        (None, Some(uri)) => CompletionReference::Template { uri },
        (None, None) => return Err(CommandFailure::usage_error("expected --prompt or --template")),
    };
    let request =
        CompleteArgument { server: complete.server, of, argument: complete.argument, value: complete.value, context };
    let result = session.api.complete(request).await?;
    session.output.print_text(
        &result.values.iter().map(|value| format!("{}\n", terminal_escape::escape_line(value))).collect::<String>(),
    );
    Ok(to_json_value(&result))
}

/// Shows what a server could access in its sandbox. Fails if the sandbox can't be set up, because the server could not
/// start either.
async fn show_sandbox(session: &CommandSession, server: String) -> Result<Value, CommandFailure> {
    session.resolve_server_names(Some(&server)).await?;
    let report = session.api.describe_sandbox(ServerName { server: server.clone() }).await?;
    if let Some(problem) = report.problem {
        return Err(CommandFailure::new(ErrorCode::System, problem));
    }
    let words = match &report.plan {
        Some(plan) => {
            consent_request_text::sandbox_text(plan) + &consent_request_text::inaccessible_files_text(&report.missing)
        }
        None => format!("{} has no sandbox: it reaches all that you do.\n", terminal_escape::escape_line(&server)),
    };
    session.output.print_text(&words);
    Ok(with_published_field_names(to_json_value(&report), SANDBOX_FIELD_NAMES))
}

/// Starts the servers, and waits while their events are printed, until a signal ends the program. Fails only if a
/// single named server can't start.
async fn watch_events(session: &CommandSession, of: ServerArgument) -> Result<Value, CommandFailure> {
    let names = session.resolve_server_names(of.server.as_deref()).await?;
    let started = join_all(names.iter().map(|name| session.start_server_and_wait(name))).await;
    if let [Err(failure)] = &started[..]
        && of.server.is_some()
    {
        return Err(failure.clone());
    }
    std::future::pending().await
}
