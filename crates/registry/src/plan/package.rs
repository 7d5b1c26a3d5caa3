//! Plans for packages: the command that loads and runs a package.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use installs::{ArgumentGroupTemplate, InstallNote, InstallPlan, PlanPlace, PlannedTransport, Template, TemplatePart};
use ports::server_config::server_url_problem;
use url::Url;

use super::command::{PackageLauncher, is_sha256, package_argument};
use super::inputs::{PlanInputs, ValuePosition};
use super::{BundleDownload, PackageInstall, PlanError};
use crate::client::is_loopback;
use crate::server_json::read::{quote_untrusted_text, shorten_untrusted_text};
use crate::server_json::{ArgumentKind, DescribedArgument, InputDefinition, NamedInput, Package, ServerJson};

/// Creates the plan for one of the packages of a server.
///
/// # Errors
/// Returns [`PlanError`] if the package is not supported, or a part of it could be mistaken for another argument on a
/// command line.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// use registry::server_json::read_entry;
/// use registry::{PackageInstall, plan_package};
///
/// let entry = read_entry(br#"{ "server": {
///     "name": "io.github.alice/notes",
///     "version": "1.2.3",
///     "packages": [{
///         "registryType": "npm",
///         "identifier": "@alice/notes",
///         "version": "1.2.3",
///         "environmentVariables": [{ "name": "NOTES_FOLDER", "isRequired": true }]
///     }]
/// } }"#)?;
/// let PackageInstall::Plan(plan) = plan_package(&entry.server, &entry.server.packages[0])? else {
///     panic!("a package of npm is started by a command")
/// };
/// let [input] = &plan.inputs[..] else { panic!("the package has one input") };
/// assert!(input.required);
/// assert!(plan.fill(&BTreeMap::new(), None).is_err(), "the value is missing");
///
/// let values = BTreeMap::from([(input.key.clone(), vec!["/home/ann/notes".to_owned()])]);
/// let config = plan.fill(&values, None)?.entry.config;
/// let stdio = config.as_stdio().expect("the package runs on this computer");
/// assert_eq!(stdio.command_line(), "npx -y @alice/notes@1.2.3");
/// assert_eq!(stdio.env["NOTES_FOLDER"], "/home/ann/notes");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_package(server: &ServerJson, package: &Package) -> Result<PackageInstall, PlanError> {
    if package.registry_type == "mcpb" {
        return bundle_download(package).map(PackageInstall::Bundle);
    }
    let launcher = PackageLauncher::for_package(package)?;
    if let Some(transport) = package.transport.as_ref().filter(|transport| transport.kind != "stdio") {
        return Err(PlanError::NotStdio(quote_untrusted_text(&transport.kind)));
    }
    let word = package_argument(launcher, package)?;
    let mut inputs = PlanInputs::default();
    for note in word.notes {
        inputs.add_note(note);
    }
    if let Some(hint) = package.runtime_hint.as_deref().filter(|hint| !hint.is_empty() && *hint != launcher.program()) {
        let named = shorten_untrusted_text(hint);
        inputs.add_note(InstallNote::OtherProgram { named, used: launcher.program().to_owned() });
    }
    if package.file_sha256.is_some() {
        inputs.add_note(InstallNote::HashNotUsed { program: launcher.program().to_owned() });
    }
    let env = environment_templates(&package.environment_variables, &mut inputs)?;
    let names: Vec<String> = env
        .keys()
        .filter(|name| launcher.affects_executed_code(name))
        .map(|name| shorten_untrusted_text(name))
        .collect();
    if !names.is_empty() {
        inputs.add_note(InstallNote::CodeVariables { names });
    }
    let mut args: Vec<ArgumentGroupTemplate> =
        launcher.leading_arguments().iter().map(|word| ArgumentGroupTemplate::from(*word)).collect();
    if launcher.is_container() {
        args.extend(env.iter().map(container_variable_argument));
    }
    let runtime: Vec<&DescribedArgument> =
        package.runtime_arguments.iter().filter(|argument| !is_implied_by_launcher(launcher, argument)).collect();
    if !runtime.is_empty() {
        inputs.add_note(InstallNote::LauncherArguments { program: launcher.program().to_owned() });
    }
    for argument in runtime {
        args.push(plan_argument(argument, &mut inputs)?);
    }
    args.extend(word.options.iter().chain([&word.word]).map(|word| ArgumentGroupTemplate::from(word.as_str())));
    args.extend(launcher.trailing_arguments().iter().map(|word| ArgumentGroupTemplate::from(*word)));
    for argument in &package.package_arguments {
        args.push(plan_argument(argument, &mut inputs)?);
    }
    for step in &package.post_install_instructions {
        let (description, command) = (step.description.clone(), step.command.clone());
        inputs.add_note(InstallNote::StepAfterwards { description, command });
    }
    let PlanInputs { inputs, notes } = inputs;
    let target = PlannedTransport::Command { command: launcher.program().to_owned(), args, env };
    Ok(PackageInstall::Plan(InstallPlan { name: proposed_name(server), target, inputs, notes }))
}

/// Returns the proposed name of a server: the part of its registry name after the slash.
pub(super) fn proposed_name(server: &ServerJson) -> String {
    const MAX_NAME_LENGTH: usize = 64;
    let own = server.name.rsplit('/').next().unwrap_or_default();
    own.chars().take(MAX_NAME_LENGTH).collect()
}

fn bundle_download(package: &Package) -> Result<BundleDownload, PlanError> {
    let url = &package.identifier;
    let problem = server_url_problem(url);
    // Addresses on this computer are checked again when the bundle is downloaded.
    let is_accepted = url.starts_with("https://") || Url::parse(url).is_ok_and(|url| is_loopback(&url));
    let problem = problem.or_else(|| (!is_accepted).then(|| "it must begin with https://".to_owned()));
    if let Some(problem) = problem {
        return Err(PlanError::Address(quote_untrusted_text(url), problem));
    }
    let sha256 = package.file_sha256.as_deref().filter(|hash| is_sha256(hash)).ok_or(PlanError::NoHash)?;
    Ok(BundleDownload { url: url.clone(), sha256: sha256.to_ascii_lowercase() })
}

fn environment_templates(
    variables: &[NamedInput],
    inputs: &mut PlanInputs,
) -> Result<BTreeMap<String, Template>, PlanError> {
    let mut env = BTreeMap::new();
    for variable in variables {
        let name = &variable.name;
        // Podman passes all variables that match a name with `*`.
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c)) {
            return Err(PlanError::Name(format!(
                "{} is no name of a variable of the environment",
                quote_untrusted_text(name)
            )));
        }
        let place = PlanPlace::Variable { name: name.clone() };
        let template =
            inputs.value_template(ValuePosition { label: name, place: &place, is_repeated: false }, &variable.value)?;
        if env.insert(name.clone(), template).is_some() {
            return Err(PlanError::Name(format!("the variable {name} occurs twice")));
        }
    }
    Ok(env)
}

/// Returns the option `-e NAME` of Docker or Podman, which passes an environment variable of the launcher to the
/// container. The plan omits it if the input has no value, since Drawbridge's environment may have a variable of this
/// name.
fn container_variable_argument((name, value): (&String, &Template)) -> ArgumentGroupTemplate {
    let needs = value.input_keys().map(|key| TemplatePart::Needs(key.to_owned()));
    let name = Template { parts: std::iter::once(TemplatePart::Text(name.clone())).chain(needs).collect() };
    ArgumentGroupTemplate { words: vec!["-e".into(), name] }
}

/// Returns `true` if the planned command line contains this argument anyway, so that the publisher's one is omitted.
fn is_implied_by_launcher(launcher: PackageLauncher, argument: &DescribedArgument) -> bool {
    let value = argument.value.input.value.as_deref().filter(|value| !value.is_empty());
    match argument.kind {
        ArgumentKind::Positional => value.is_some_and(|value| launcher.always_has_argument(value)),
        ArgumentKind::Named => {
            value.is_none() && argument.name.as_deref().is_some_and(|name| launcher.always_has_argument(name))
        }
    }
}

/// Converts an argument in the publisher's description to one in the plan. A named argument becomes two words, its name
/// and its value, or one word if it has no value.
fn plan_argument(argument: &DescribedArgument, inputs: &mut PlanInputs) -> Result<ArgumentGroupTemplate, PlanError> {
    let name = argument.name.as_deref().filter(|_| argument.kind == ArgumentKind::Named);
    let label = name.or(argument.value_hint.as_deref()).unwrap_or("argument");
    let place = PlanPlace::Argument { name: shorten_untrusted_text(label) };
    let at = ValuePosition { label, place: &place, is_repeated: argument.is_repeated };
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        if argument.kind == ArgumentKind::Named {
            return Err(PlanError::Name("an argument has no name".to_owned()));
        }
        return Ok(inputs.value_template(at, &argument.value)?.into());
    };
    let flag = inputs.text_template(at, name, &IndexMap::new(), &InputDefinition::default())?;
    let input = &argument.value.input;
    let is_flag = input.value.as_deref() == Some("") || *input == InputDefinition::default();
    let mut words = vec![flag];
    if !is_flag {
        words.push(inputs.value_template(at, &argument.value)?);
    }
    Ok(ArgumentGroupTemplate { words })
}
