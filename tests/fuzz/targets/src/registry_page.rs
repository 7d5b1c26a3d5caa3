//! Fuzz target: the responses of registries, and the install plans of their entries.

use installs::{InputValues, InstallPlan, PlannedTransport, TemplatePart};
use registry::server_json::{EntryPage, MAX_SERVER_NAME_BYTES, read_page};
use registry::{PackageInstall, Publisher, plan_package, plan_remote};

/// Tests the parser of a registry's responses. Displayed texts must contain no control characters. The installation
/// plan of an entry must run a known launcher, reference no secret, and yield a valid server name.
///
/// # Panics
/// Panics if one of these requirements is not met.
pub fn registry_page(data: &[u8]) {
    let Ok(EntryPage { entries, unreadable, .. }) = read_page(data) else { return };
    for entry in unreadable {
        assert_printable(&entry.cause.to_string());
        assert_printable(&entry.name.unwrap_or_default());
    }
    for entry in entries {
        let server = &entry.server;
        assert!(
            server.name.len() <= MAX_SERVER_NAME_BYTES && server.name.matches('/').count() == 1,
            "{:?} is a name",
            server.name
        );
        assert_printable(&server.version);
        assert_printable(&Publisher::from_name(&server.name).to_string());
        for text in [&server.title, &server.description, &server.website_url].into_iter().flatten() {
            assert_printable(text);
        }
        for package in &server.packages {
            match plan_package(server, package) {
                Ok(PackageInstall::Plan(plan)) => check_install_plan(&plan),
                Ok(PackageInstall::Bundle(bundle)) => {
                    assert!(bundle.url.starts_with("https://") && bundle.sha256.len() == 64, "{bundle:?}");
                }
                Err(error) => assert_printable(&error.to_string()),
            }
        }
        for remote in &server.remotes {
            match plan_remote(server, remote) {
                Ok(plan) => check_install_plan(&plan),
                Err(error) => assert_printable(&error.to_string()),
            }
        }
    }
}

fn check_install_plan(plan: &InstallPlan) {
    plan.notes.iter().for_each(|note| assert_printable(&note.to_string()));
    let templates: Vec<_> = match &plan.target {
        PlannedTransport::Command { command, args, env } => {
            assert!(
                ["npx", "uvx", "dnx", "docker", "podman"].contains(&command.as_str()),
                "the command {command} is a known launcher"
            );
            args.iter().flat_map(|arg| &arg.words).chain(env.values()).collect()
        }
        PlannedTransport::Remote { url, headers, .. } => std::iter::once(url).chain(headers.values()).collect(),
    };
    for part in templates.iter().flat_map(|template| &template.parts) {
        match part {
            TemplatePart::Text(text) => {
                assert!(ports::secrets::referenced_secret_names(text).is_empty(), "{text:?} references a secret")
            }
            TemplatePart::Input(key) | TemplatePart::Needs(key) => {
                let count = plan.inputs.iter().filter(|input| input.key == *key).count();
                assert_eq!(count, 1, "the plan has the input {key:?} once");
            }
        }
    }
    let given: InputValues = plan.inputs.iter().map(|input| (input.key.clone(), vec!["7".to_owned()])).collect();
    for values in [InputValues::new(), given] {
        if let Ok(filled) = plan.fill(&values, None) {
            let (entry, _) = filled.into_settings(Vec::new());
            assert!(!entry.name.is_empty() && entry.name.len() <= 64, "{:?} is a name", entry.name);
        }
    }
}

fn assert_printable(text: &str) {
    assert!(!text.contains(char::is_control) && !text.contains('\u{202e}'), "{text:?} is printable");
}
