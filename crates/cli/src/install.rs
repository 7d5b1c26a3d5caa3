//! The `install` command: adds a server from a registry or a bundle, or upgrades an installed one. Starts and approves
//! nothing, and replaces no other server.

use std::io::IsTerminal as _;
use std::sync::Arc;

use ::registry::CachePolicy;
use api::ErrorCode;
use installer::{InstallDraft, InstallError};
use ports::SecretPersistence;
use serde_json::{Value, json};

use crate::arguments::InstallArguments;
use crate::failure::CommandFailure;
use crate::install_plan::{self, read_install_input_values, sandbox_from_options};
use crate::install_source::{ResolvedInstall, resolve_install};
use crate::session::CommandSession;
use crate::terminal_escape::escape_line;
use crate::terminal_user::TerminalUser;
use crate::{install_plan_text, registry};

/// Prints the configuration of the server to install, and adds the server after the user confirms.
pub(crate) async fn run(session: &CommandSession, what: InstallArguments) -> Result<Value, CommandFailure> {
    let there = session.resolve_server_names(None).await?;
    let host = session.api.host();
    let ports = host.ports();
    let choice = registry::registry_choice_from_option(
        what.address.clone(),
        Arc::clone(&ports.documents),
        Arc::clone(&ports.secrets),
    );
    let installer = registry::create_installer(session.data_folder.clone(), choice);
    let ResolvedInstall { source, mut plan, bundle, description, origin } =
        resolve_install(&what, &installer, host).await?;
    if let Some(name) = what.name.as_ref().or(what.upgrade.as_ref()) {
        plan.name.clone_from(name);
    }
    if what.upgrade.is_none() && there.contains(&plan.name) {
        let message = format!("a server {:?} already exists; choose another name with --name", plan.name);
        return Err(CommandFailure::new(ErrorCode::BadName, message));
    }
    let sandbox = match what.upgrade {
        // An upgrade keeps the sandbox of the installed server.
        Some(_) => None,
        None => sandbox_from_options(&what, &installer.containment(&plan).await, bundle.as_deref())?,
    };
    let values = read_install_input_values(&what, &plan, &session.input, &session.output).await?;
    let draft = InstallDraft { source, name: plan.name.clone(), values, sandbox, upgrades: what.upgrade.clone() };
    let mut shown = json!({ "origin": origin, "plan": install_plan_text::install_plan_json(&plan), "added": false });
    // Queries the registry again, since the cached response for this exact version may be older than the plan.
    let preview = match installer.preview(host, &draft, CachePolicy::Now).await {
        Ok(preview) => preview,
        Err(InstallError::Fill(error)) => {
            session.output.print_text(&format!("{description}{}", install_plan_text::install_plan_text(&plan)));
            shown["missing"] = error.to_string().into();
            if what.dry_run {
                session.output.print_message(&escape_line(&error.to_string()));
                return Ok(shown);
            }
            let message = format!("{error}. Give values with --set KEY=VALUE, and secrets with --secret KEY");
            return Err(CommandFailure { value: Some(Box::new(shown)), ..CommandFailure::usage_error(message) });
        }
        Err(error) => return Err(error.into()),
    };
    shown["server"] = install_plan::server_to_install_json(&preview.server);
    let setup = match &preview.before {
        Some(before) => {
            shown["before"] = install_plan::server_to_install_json(before);
            install_plan::upgrade_changes_text(before, &preview.server)
        }
        None => install_plan::server_to_install_text(&preview.server),
    };
    session.output.print_text(&format!(
        "{description}{setup}{}{}",
        install_plan_text::plan_inputs_text(&plan),
        install_plan_text::plan_notes_text(&plan)
    ));
    if what.dry_run {
        return Ok(shown);
    }
    let request = match &draft.upgrades {
        Some(server) => {
            format!(
                "Change {} to this version? It is stopped if it runs. ",
                crate::terminal_escape::escape_value(server)
            )
        }
        None => format!("Add {}? Nothing is started. ", crate::terminal_escape::escape_value(&draft.name)),
    };
    if !what.yes && !prompt_for_confirmation(session, &request).await {
        let message = "nothing was changed; confirm on a terminal, or use --yes";
        return Err(CommandFailure {
            value: Some(Box::new(shown)),
            ..CommandFailure::new(ErrorCode::Refused, message)
        });
    }
    let name = escape_line(&draft.name);
    let (persistence, done, key) = match draft.upgrades {
        Some(_) => {
            (installer.upgrade(host, &draft, preview.hash.as_str(), true).await?, "has this version now", "upgraded")
        }
        None => (installer.install(host, &draft, preview.hash.as_str()).await?, "is added", "added"),
    };
    shown[key] = true.into();
    session.output.print_text(&format!("\n{name} {done}. It is stopped. Starting it requires consent."));
    if let SecretPersistence::ThisRun { cause } = persistence {
        let note = format!(
            "no keychain can store its secrets ({cause}): enter them in the app or with \"drawbridge-cli secret\""
        );
        session.output.print_message(&escape_line(&note));
        shown["secretsNotKept"] = cause.into();
    }
    Ok(shown)
}

/// Prompts the user for confirmation on the terminal. Returns `false` if there is no user to prompt.
async fn prompt_for_confirmation(session: &CommandSession, request: &str) -> bool {
    let is_terminal =
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    if session.output.is_json() || !is_terminal {
        return false;
    }
    let asker = TerminalUser::new(session.input.clone(), Arc::clone(&session.output));
    asker.confirm(request).await
}
