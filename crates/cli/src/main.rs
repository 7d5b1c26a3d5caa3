//! `drawbridge-cli`: runs Drawbridge's host without a window, for terminals, scripts and CI. Uses the same policy and
//! audit log as the app.

mod answers_file;
mod app;
mod arguments;
mod audit;
mod bundle;
mod chat;
mod commands;
mod consent_decider;
mod consent_request_text;
mod conversation_printer;
mod data_flow;
mod doctor;
mod documents;
mod dry_run_text;
mod endpoints;
mod event_printer;
mod failure;
mod form;
mod host_view;
mod import;
mod input_lines;
mod install;
mod install_plan;
mod install_plan_text;
mod install_source;
mod launch_files;
mod link;
mod login;
mod models;
mod output;
mod packages;
mod pasted_redirects;
mod platform;
mod published_names;
mod registry;
mod result_text;
mod review;
mod review_marks_text;
mod rules;
mod sampling;
mod sampling_text;
mod secret;
mod session;
mod sign_in_text;
mod skills;
mod table;
mod terminal_escape;
mod terminal_user;
mod trace;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;
use serde_json::Value;
use tracing_subscriber::EnvFilter;

use crate::answers_file::AnswersFile;
use crate::arguments::Arguments;
use crate::consent_decider::ConsentDecider;
use crate::failure::CommandFailure;
use crate::input_lines::InputLines;
use crate::output::Output;
use crate::session::CommandSession;
use crate::terminal_user::TerminalUser;

fn main() -> ExitCode {
    store::keep_process_memory_private();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not failures. With `--json`, an invalid command line is also reported as a result
            // line.
            if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
                let words = error.render().to_string();
                let first = words.lines().next().unwrap_or_default().trim_start_matches("error: ");
                Output::new(true).print_result(Err(&CommandFailure::usage_error(first)));
            }
            // A failure to print can't be reported either.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if let arguments::Command::Documents(what) = &arguments.command {
        return match documents::write_documentation(what) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => print_result(
                &Output::new(arguments.json),
                Err(CommandFailure::new(api::ErrorCode::System, error.to_string())),
            ),
        };
    }
    let filter = EnvFilter::try_from_env("DRAWBRIDGE_LOG").unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let output = Arc::new(Output::new(arguments.json));
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            return print_result(&output, Err(CommandFailure::new(api::ErrorCode::System, error.to_string())));
        }
    };
    let code = runtime.block_on(run(arguments, output));
    // A pending read of standard input must not block the exit.
    runtime.shutdown_background();
    code
}

async fn run(arguments: Arguments, output: Arc<Output>) -> ExitCode {
    let without_host = tokio::select! {
        result = run_without_host(&arguments, &output) => result,
        signal = wait_for_signal() => Some(Err(CommandFailure::from_signal(signal))),
    };
    if let Some(result) = without_host {
        return print_result(&output, result);
    }
    let session = match open_session(&arguments, &output).await {
        Ok(session) => session,
        Err(failure) => return print_result(&output, Err(failure)),
    };
    // The command `watch` is expected to end by an interrupt.
    let watches = matches!(arguments.command, arguments::Command::Watch(_));
    let result = tokio::select! {
        result = commands::run(&session, arguments.command) => result,
        _ = wait_for_signal(), if watches => Ok(Value::Null),
        signal = wait_for_signal(), if !watches => Err(CommandFailure::from_signal(signal)),
        () = output.wait_until_closed() => Err(CommandFailure::from_signal(13)),
    };
    session.flush_events().await;
    let code = print_result(&output, result);
    tokio::select! {
        () = session.close() => code,
        // A second signal exits without stopping the servers. The next start of Drawbridge cleans up their processes.
        signal = wait_for_signal() => ExitCode::from(128 + signal),
    }
}

/// Runs the command if it is one that uses no host, such as `doctor`, which must work even if a host can't start.
/// Returns `None` for all other commands.
async fn run_without_host(arguments: &Arguments, output: &Output) -> Option<Result<Value, CommandFailure>> {
    match &arguments.command {
        arguments::Command::Doctor(what) => Some(doctor::run(arguments, what, output).await),
        arguments::Command::Registry(what) => Some(registry::run(arguments, what, output).await),
        arguments::Command::Bundle { command } => Some(bundle::run(arguments, command, output).await),
        _ => None,
    }
}

async fn open_session(arguments: &Arguments, output: &Arc<Output>) -> Result<CommandSession, CommandFailure> {
    commands::check_command_arguments(&arguments.command)?;
    let input = InputLines::default();
    let decider = match &arguments.answers {
        Some(path) => ConsentDecider::Answers(AnswersFile::read(path).map_err(CommandFailure::usage_error)?),
        None if std::io::stdin().is_terminal()
            && std::io::stdout().is_terminal()
            && std::io::stderr().is_terminal() =>
        {
            ConsentDecider::User(TerminalUser::new(input.clone(), Arc::clone(output)))
        }
        None => ConsentDecider::Nobody,
    };
    CommandSession::open(arguments, decider, input, Arc::clone(output)).await
}

fn print_result(output: &Output, result: Result<Value, CommandFailure>) -> ExitCode {
    output.print_result(result.as_ref());
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.status),
    }
}

/// Waits for a signal that ends the program, and returns its number.
#[cfg(unix)]
async fn wait_for_signal() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};
    const SIGHUP: u8 = 1;
    const SIGINT: u8 = 2;
    const SIGTERM: u8 = 15;
    let wait = async |kind: SignalKind, number: u8| match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
            number
        }
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        number = wait(SignalKind::interrupt(), SIGINT) => number,
        number = wait(SignalKind::terminate(), SIGTERM) => number,
        number = wait(SignalKind::hangup(), SIGHUP) => number,
    }
}

/// Waits for a signal that ends the program, and returns the number of the same signal on Unix. After the user has
/// closed the console's window, Windows ends the program within seconds.
#[cfg(not(unix))]
async fn wait_for_signal() -> u8 {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close};
    const SIGHUP: u8 = 1;
    const SIGINT: u8 = 2;
    let (Ok(mut interrupt), Ok(mut stop), Ok(mut close)) = (ctrl_c(), ctrl_break(), ctrl_close()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => SIGINT,
        _ = stop.recv() => SIGINT,
        _ = close.recv() => SIGHUP,
    }
}
