//! Creates an install plan from a manifest: the command that runs a bundle on this computer, with inputs for the user.

mod program;
mod substitution;

pub use program::ProgramLocation;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use foreign::escape_invisible;
use installs::{
    ArgumentGroupTemplate, InputKind, InstallNote, InstallPlan, PlanInput, PlannedTransport, Template, TemplatePart,
};
use process::is_code_variable;

use crate::manifest::normalized_bundle_path;
use crate::manifest::{UserConfig, UserConfigKind, is_version_in_range};
use crate::{Bundle, ManifestError, ServerKind};
use substitution::SubstitutionValues;

/// Maximum length of the name of a bundle's server, in characters.
const MAX_SERVER_NAME_CHARS: usize = 64;
/// Beginning of a reference to a secret in the settings. Only values that the user enters may contain it.
const SECRET_REFERENCE_START: &str = "${secret:";

/// Operating system, of those for which a manifest can contain different commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Windows, which manifests name `win32`.
    Windows,
    /// macOS, which manifests name `darwin`.
    MacOs,
    /// Linux, which manifests name `linux`.
    Linux,
}

impl Platform {
    /// Returns the name of the platform that manifests use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Windows => "win32",
            Self::MacOs => "darwin",
            Self::Linux => "linux",
        }
    }

    fn separator(self) -> &'static str {
        if self == Self::Windows { "\\" } else { "/" }
    }
}

/// Properties of this computer on which the install plan of a bundle depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEnvironment {
    /// Operating system of this computer, for which the command is selected.
    pub platform: Platform,
    /// Folder to which the bundle is or will be unpacked: [`Bundle::unpacked_folder`].
    pub folder: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The user's desktop folder.
    pub desktop: PathBuf,
    /// The user's documents folder.
    pub documents: PathBuf,
    /// The user's downloads folder.
    pub downloads: PathBuf,
    /// Version of the Node on the user's `PATH`, or `None` if unknown.
    pub node: Option<String>,
    /// Version of the Python on the user's `PATH`, or `None` if unknown.
    pub python: Option<String>,
}

/// Install plan of a bundle on this computer, and the facts about its command that a later check of its files needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePlan {
    /// Command, inputs and warnings of the installation.
    pub install: InstallPlan,
    /// Location of the program that the bundle's command runs.
    pub program: ProgramLocation,
    /// Paths of the files in the bundle that decide which code runs. [`verify_tree`](crate::verify_tree) compares them
    /// with the unpacked ones before each start.
    pub watched: BTreeSet<String>,
}

/// Environment variable that makes uv create the environment of a project anew at each start, from its cache and
/// outside of the project.
const UV_ISOLATED_VARIABLE: &str = "UV_ISOLATED";
/// Environment variable that prevents Python from writing compiled code next to its source.
const NO_BYTECODE_VARIABLE: &str = "PYTHONDONTWRITEBYTECODE";

/// Reason why no plan can be created for a bundle. Messages are escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The command's program contains a value that the user enters. Only arguments and variables may contain such
    /// values.
    #[error("the command contains a value that the user enters")]
    InputInCommand,
    /// The program is a file in the bundle's folder, but the bundle doesn't contain it.
    #[error("the command is the file {}, which is not in the bundle", escape_invisible(.0))]
    MissingProgram(String),
    /// This text of the manifest contains a reference to a secret in Drawbridge's keychain entries.
    #[error("{} asks for a secret of the keychain", escape_invisible(.0))]
    ReferencesSecret(String),
    /// The path of this folder is not Unicode, so it can't be stored in the settings.
    #[error("the name of the folder {} is not Unicode", .0.display())]
    NonUnicodeFolder(PathBuf),
    /// The manifest is not valid for this platform.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

/// Creates the plan of a bundle's installation. References `${…}` in the manifest are replaced once, and replacements
/// are not expanded again.
///
/// An argument or variable is omitted if an input in it has no value. An argument is repeated for each value of an
/// input with several values.
///
/// # Errors
/// Returns [`PlanError`] if the manifest yields no command that could be shown and approved.
pub fn plan(bundle: &Bundle, environment: &BundleEnvironment) -> Result<BundlePlan, PlanError> {
    let manifest = &bundle.manifest;
    let substitution = SubstitutionValues::new(environment)?;
    let written = manifest.server.command_on(environment.platform.name());
    let mut notes = Vec::new();

    let command = substitution.text(&written.command).ok_or(PlanError::InputInCommand)?;
    let (program, command) = program::find_program(bundle, environment, &written.command, command)?;
    let mut watched: BTreeSet<String> = [manifest.server.entry_point.clone()].into();
    if let ProgramLocation::Inside(path) = &program {
        watched.insert(path.clone());
    }

    let inputs: Vec<PlanInput> = manifest
        .user_config
        .iter()
        .map(|config| plan_input(config, &substitution, &mut notes))
        .collect::<Result<_, _>>()?;
    let mut templates = TemplateBuilder { inputs: &inputs, substitution: &substitution, notes: &mut notes };
    let mut args = Vec::new();
    for arg in &written.args {
        args.push(ArgumentGroupTemplate { words: vec![templates.template(arg, arg, true)?] });
        watched.extend(normalized_bundle_path(arg).filter(|path| bundle.archive.file(path).is_some()));
    }
    let mut env = BTreeMap::new();
    for (name, value) in &written.env {
        env.insert(name.clone(), templates.template(value, name, false)?);
    }

    if matches!(manifest.server.kind, ServerKind::Python | ServerKind::Uv) {
        // A cache next to the code would change the bundle, which would prevent the server from starting again.
        env.entry(NO_BYTECODE_VARIABLE.to_owned()).or_insert_with(|| "1".into());
    }

    notes.extend(program.warning(&command, &written.args, manifest.server.kind));
    let names: Vec<String> =
        env.keys().filter(|name| is_code_variable(name)).map(|name| escaped_note_text(name)).collect();
    if !names.is_empty() {
        notes.push(InstallNote::CodeVariables { names });
    }
    if manifest.server.kind == ServerKind::Uv {
        // An environment next to the code would change the bundle, and in a sandbox the bundle's folder is read-only.
        env.entry(UV_ISOLATED_VARIABLE.to_owned()).or_insert_with(|| "1".into());
    }
    notes.extend(unmet_requirements(bundle, environment));
    let target = PlannedTransport::Command { command, args, env };
    let name = server_name(manifest.display_name.as_deref().unwrap_or_default(), &manifest.name);
    Ok(BundlePlan { install: InstallPlan { name, target, inputs, notes }, program, watched })
}

/// Creates templates from texts of a manifest, and collects a note for the user about each reference that is not
/// replaced as the manifest intends.
struct TemplateBuilder<'p> {
    inputs: &'p [PlanInput],
    substitution: &'p SubstitutionValues,
    notes: &'p mut Vec<InstallNote>,
}

impl TemplateBuilder<'_> {
    fn template(&mut self, text: &str, what: &str, is_argument: bool) -> Result<Template, PlanError> {
        let template = self.substitution.template(text);
        // Adjacent parts may form a reference to a secret together, so the literal text of all parts is joined.
        let literal: String =
            template.parts.iter().map(|part| if let TemplatePart::Text(text) = part { text } else { "" }).collect();
        if literal.contains(SECRET_REFERENCE_START) || template.forms_secret_reference(self.inputs) {
            return Err(PlanError::ReferencesSecret(what.to_owned()));
        }
        for key in template.input_keys() {
            let setting = escaped_note_text(key);
            match self.inputs.iter().find(|input| input.key == key) {
                None => self.notes.push(InstallNote::MissingSetting { text: escaped_note_text(what), setting }),
                Some(input) if input.multiple && !is_argument => {
                    self.notes.push(InstallNote::FirstValueOnly { variable: escaped_note_text(what), setting });
                }
                Some(input) if input.multiple && template.parts.len() > 1 => {
                    self.notes.push(InstallNote::RepeatedArgument { argument: escaped_note_text(what), setting });
                }
                Some(_) => {}
            }
        }
        if literal.contains("${") {
            self.notes.push(InstallNote::UnknownReference { text: escaped_note_text(what) });
        }
        Ok(template)
    }
}

/// Returns a text of the manifest with invisible characters escaped, for use in a note.
fn escaped_note_text(text: &str) -> String {
    escape_invisible(text).into_owned()
}

fn plan_input(
    config: &UserConfig,
    substitution: &SubstitutionValues,
    notes: &mut Vec<InstallNote>,
) -> Result<PlanInput, PlanError> {
    let kind = match config.kind {
        UserConfigKind::String => InputKind::Text,
        UserConfigKind::Number => InputKind::Number,
        UserConfigKind::Boolean => InputKind::Boolean,
        UserConfigKind::Directory => InputKind::Folder,
        UserConfigKind::File => InputKind::File,
    };
    let mut planned = PlanInput {
        label: config.title.clone().unwrap_or_else(|| config.key.clone()),
        description: config.description.clone(),
        kind,
        required: config.required,
        secret: config.sensitive,
        multiple: config.multiple,
        // A default value that refers to another setting of the bundle is dropped.
        default: config.default.iter().filter_map(|value| substitution.text(value)).collect(),
        min: config.min,
        max: config.max,
        ..PlanInput::text(&config.key)
    };
    if planned.default.iter().any(|value| value.contains(SECRET_REFERENCE_START)) {
        return Err(PlanError::ReferencesSecret(format!("the default of {}", config.key)));
    }
    if let Some(problem) = planned.default_problem() {
        notes.push(InstallNote::DefaultOmitted { input: escaped_note_text(&config.key), problem });
        planned.default.clear();
    }
    Ok(planned)
}

/// Returns a warning for each platform or version that the bundle requires and this computer doesn't have.
fn unmet_requirements(bundle: &Bundle, environment: &BundleEnvironment) -> Vec<InstallNote> {
    let compatibility = &bundle.manifest.compatibility;
    let mut notes = Vec::new();
    if bundle.manifest.server.kind == ServerKind::Uv {
        notes.push(InstallNote::UvPackages);
    }
    let own = environment.platform.name();
    if let Some(platforms) = compatibility.platforms.as_ref().filter(|all| !all.iter().any(|name| name == own)) {
        let platforms = platforms.iter().map(|name| escaped_note_text(name)).collect();
        notes.push(InstallNote::OtherPlatforms { platforms, own: own.to_owned() });
    }
    for (key, version, shown) in [("node", &environment.node, "Node"), ("python", &environment.python, "Python")] {
        let Some(range) = compatibility.runtimes.get(key) else { continue };
        let (runtime, range_text) = (shown.to_owned(), escaped_note_text(range));
        let compared =
            version.as_ref().map(|version| (escaped_note_text(version), is_version_in_range(version, range)));
        match compared {
            Some((_, Some(true))) => {}
            Some((version, Some(false))) => {
                notes.push(InstallNote::RuntimeMismatch { runtime, range: range_text, version });
            }
            Some((version, None)) => notes.push(InstallNote::RuntimeUnclear { runtime, range: range_text, version }),
            None => notes.push(InstallNote::RuntimeNeeded { runtime, range: range_text }),
        }
    }
    notes
}

/// Returns a name for the server that is safe to display, derived from the display name or, if that has no usable
/// characters, from the machine-readable one.
fn server_name(display_name: &str, name: &str) -> String {
    let usable = |name: &str| {
        let is_seen = |c: &char| !c.is_control() && escape_invisible(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8();
        let name: String = name.chars().filter(is_seen).take(MAX_SERVER_NAME_CHARS).collect();
        name.trim().to_owned()
    };
    let names = [usable(display_name), usable(name), "server".to_owned()];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default()
}

/// Returns the path of a folder as text, or an error if it is not Unicode.
fn unicode_folder_path(folder: &Path) -> Result<String, PlanError> {
    folder.to_str().map(str::to_owned).ok_or_else(|| PlanError::NonUnicodeFolder(folder.to_owned()))
}
