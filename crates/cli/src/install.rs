//! Adding a server that a registry lists or a bundle holds. Nothing is started or approved, and no server is replaced.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use api::{ApiError, ErrorCode};
use bundles::Bundle;
use host::SetupError;
use ports::SecretKept;
use ports::server_config::NewServer;
use serde_json::{Value, json};

use crate::arguments::Install;
use crate::ask::Asker;
use crate::failure::Failure;
use crate::install_plan::{self, sandbox, values};
use crate::install_source::{Source, find};
use crate::session::Session;
use crate::visible::line;
use crate::{bundle, plan_text};

/// Shows what would be set up, and adds it once that is confirmed.
pub(crate) async fn run(session: &Session, what: Install) -> Result<Value, Failure> {
    let there = session.servers(None).await?;
    let root = bundle::root(&session.data_folder)?;
    let Source { mut plan, bundle, words, origin } = find(&what, &root).await?;
    if let Some(name) = &what.name {
        plan.name.clone_from(name);
    }
    if there.contains(&plan.name) {
        let message = format!("there is a server {:?} already; give this one another name with --name", plan.name);
        return Err(Failure::new(ErrorCode::BadName, message));
    }
    let sandbox = sandbox(&what, &plan, bundle.as_ref().map(|(_, folder)| folder.as_path())).await?;
    let values = values(&what, &plan, &session.input, &session.output).await?;
    let filled = plan.fill(&values, sandbox);
    let mut shown = json!({ "origin": origin, "plan": plan_text::in_json(&plan), "added": false });
    let server = match filled {
        Ok(server) => server,
        Err(error) => {
            session.output.text(&format!("{words}{}", plan_text::words(&plan)));
            shown["missing"] = error.to_string().into();
            if what.dry_run {
                session.output.say(&line(&error.to_string()));
                return Ok(shown);
            }
            let message = format!("{error}. Give values with --set KEY=VALUE, and secrets with --secret KEY");
            return Err(Failure { value: Some(Box::new(shown)), ..Failure::usage(message) });
        }
    };
    shown["server"] = install_plan::in_json(&server);
    let setup = install_plan::words(&server);
    session.output.text(&format!("{words}{setup}{}{}", plan_text::inputs(&plan), plan_text::notes(&plan)));
    if what.dry_run {
        return Ok(shown);
    }
    if !what.yes && !is_confirmed(session, &server.entry.name).await {
        let message = "nothing was added; say yes on a terminal, or give --yes";
        return Err(Failure { value: Some(Box::new(shown)), ..Failure::new(ErrorCode::Refused, message) });
    }
    let name = server.entry.name.clone();
    let kept = add(session, server, bundle, root).await?;
    shown["added"] = true.into();
    session.output.text(&format!("\n{} is added. It is stopped, and asked about when it is started.", line(&name)));
    if let SecretKept::ThisRun { cause } = kept {
        let note =
            format!("no keychain keeps its secrets ({cause}): enter them in the app or with \"drawbridge-cli secret\"");
        session.output.say(&line(&note));
        shown["secretsNotKept"] = cause.into();
    }
    Ok(shown)
}

/// Asks on a terminal. Elsewhere nobody can be asked.
async fn is_confirmed(session: &Session, name: &str) -> bool {
    let is_terminal =
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    if session.output.is_json() || !is_terminal {
        return false;
    }
    let asker = Asker::new(session.input.clone(), Arc::clone(&session.output));
    asker.confirm(&format!("Add {}? Nothing is started. ", crate::visible::value(name))).await
}

/// Unpacks the bundle, if it is one, and adds the server. Of a server that can't be added no files stay.
async fn add(
    session: &Session,
    server: NewServer,
    bundle: Option<(Bundle, PathBuf)>,
    root: PathBuf,
) -> Result<SecretKept, Failure> {
    let unpacked = match bundle {
        Some((bundle, _)) => Some(bundle::unpack(bundle, root.clone()).await?),
        None => None,
    };
    let added = match session.api.host().begin_setup().await {
        Ok(setup) => setup.add_new(server).await,
        Err(closed) => Err(closed.into()),
    };
    if let (Err(_), Some((folder, true))) = (&added, unpacked) {
        // That it was not added says more than that something is left.
        drop(bundle::remove(root, folder).await);
    }
    added.map_err(|error: SetupError| ApiError::from(error).into())
}
