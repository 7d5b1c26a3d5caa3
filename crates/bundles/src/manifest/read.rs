//! Parses a manifest. Members that decide which program is started must be valid. Other invalid members are ignored,
//! with a warning.

use foreign::escape_invisible;
use installs::ManifestWarning;
use serde_json::{Map, Value};

use super::fields::{MAX_DESCRIPTION_BYTES, MAX_LABEL_BYTES, ManifestFields, ManifestWarnings, truncate};
use super::server::normalized_bundle_path;
use super::{
    Author, Compatibility, DeclaredPrompt, DeclaredTool, Icon, Localization, Manifest, ManifestError, Server,
    user_config,
};

/// Versions of the manifest format that this crate fully supports.
const SUPPORTED_MANIFEST_VERSIONS: [&str; 4] = ["0.1", "0.2", "0.3", "0.4"];
/// Maximum length of a bundle's name, in bytes.
const MAX_BUNDLE_NAME_BYTES: usize = 200;

/// Names of the manifest's members that cause no warning. Drawbridge uses all of them except `_meta`, which is meant
/// for other clients.
const KNOWN_MANIFEST_MEMBERS: [&str; 28] = [
    "$schema",
    "_meta",
    "author",
    "compatibility",
    "description",
    "display_name",
    "documentation",
    "dxt_version",
    "homepage",
    "icon",
    "icons",
    "keywords",
    "license",
    "localization",
    "long_description",
    "manifest_version",
    "name",
    "privacy_policies",
    "prompts",
    "prompts_generated",
    "repository",
    "screenshots",
    "server",
    "support",
    "tools",
    "tools_generated",
    "user_config",
    "version",
];

impl Manifest {
    /// Parses `manifest.json`. Also returns warnings about the ignored values.
    ///
    /// # Errors
    /// Returns [`ManifestError`] if the file is not a JSON object, or if the name, the version or the program to start
    /// are missing or invalid.
    ///
    /// # Examples
    ///
    /// ```
    /// use bundles::{Manifest, ManifestError, ServerKind};
    ///
    /// let (manifest, warnings) = Manifest::read(br#"{
    ///     "manifest_version": "0.3",
    ///     "name": "notes",
    ///     "version": "1.0.0",
    ///     "description": "Reads notes",
    ///     "author": { "name": "Ann" },
    ///     "colour": "blue",
    ///     "server": {
    ///         "type": "node",
    ///         "entry_point": "server/index.js",
    ///         "mcp_config": {
    ///             "command": "node",
    ///             "args": ["${__dirname}/server/index.js"],
    ///             "platform_overrides": { "win32": { "command": "node.exe" } }
    ///         }
    ///     },
    ///     "user_config": { "folder": { "type": "directory", "title": "Folder", "required": true } }
    /// }"#)?;
    /// assert_eq!(manifest.server.kind, ServerKind::Node);
    /// assert_eq!(manifest.server.command_on("linux").command, "node");
    /// assert_eq!(manifest.server.command_on("win32").command, "node.exe");
    /// assert!(manifest.user_config[0].required);
    /// assert!(warnings.iter().any(|warning| warning.to_string().contains("colour")), "it is not known: {warnings:?}");
    ///
    /// let outside = br#"{ "name": "a", "version": "1", "server": { "type": "node", "entry_point": "../a.js" } }"#;
    /// assert_eq!(Manifest::read(outside), Err(ManifestError::Path("../a.js".to_owned())));
    /// # Ok::<(), ManifestError>(())
    /// ```
    pub fn read(json: &[u8]) -> Result<(Self, Vec<ManifestWarning>), ManifestError> {
        let root = parse_object(json)?;
        let fields = ManifestFields::new(&root, "");
        let mut warnings = ManifestWarnings::default();
        for key in fields.keys().filter(|key| !KNOWN_MANIFEST_MEMBERS.contains(&key.as_str())) {
            warnings.add(ManifestWarning::UnknownMember { member: fields.displayed_member_path(key) });
        }
        let manifest = parse_manifest(fields, &mut warnings)?;
        Ok((manifest, warnings.0))
    }
}

/// Parses the content of a manifest or translation file, which must be a JSON object.
pub(super) fn parse_object(json: &[u8]) -> Result<Map<String, Value>, ManifestError> {
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    // The parser's message may quote text of the file, so it is escaped and truncated.
    serde_json::from_slice(json)
        .map_err(|cause| ManifestError::NotJson(truncate(&escape_invisible(&cause.to_string()), MAX_LABEL_BYTES)))
}

fn parse_manifest(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Result<Manifest, ManifestError> {
    let manifest_version = parse_manifest_version(fields, warnings);
    let name = fields.required_string("name", MAX_BUNDLE_NAME_BYTES)?;
    let version = fields.required_string("version", MAX_LABEL_BYTES)?;
    if semver::Version::parse(&version).is_err() {
        warnings.add(ManifestWarning::UncomparableVersion { version: escape_invisible(&version).into_owned() });
    }
    for key in ["description", "author"].into_iter().filter(|key| fields.value(key).is_none()) {
        warnings.add(ManifestWarning::MissingMember { member: key.to_owned() });
    }
    let server = Server::read(fields, warnings)?;
    let mut short = |key: &str| fields.text(key, MAX_LABEL_BYTES, warnings);
    Ok(Manifest {
        manifest_version,
        name,
        display_name: short("display_name"),
        version,
        homepage: short("homepage"),
        documentation: short("documentation"),
        support: short("support"),
        license: short("license"),
        description: fields.text("description", MAX_DESCRIPTION_BYTES, warnings).unwrap_or_default(),
        long_description: fields.text("long_description", MAX_DESCRIPTION_BYTES, warnings),
        author: parse_author(fields, warnings),
        repository: parse_repository(fields, warnings),
        keywords: fields.string_list("keywords", warnings),
        privacy_policies: fields.string_list("privacy_policies", warnings),
        icons: parse_icons(fields, warnings),
        screenshots: parse_screenshots(fields, warnings),
        server,
        tools: parse_tools(fields, warnings),
        tools_generated: fields.flag("tools_generated", warnings),
        prompts: parse_prompts(fields, warnings),
        prompts_generated: fields.flag("prompts_generated", warnings),
        compatibility: Compatibility::read(fields, warnings),
        localization: Localization::read(fields, warnings),
        user_config: user_config::read_user_config(fields, warnings)?,
    })
}

fn parse_manifest_version(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> String {
    let mut version = |key| fields.text(key, MAX_LABEL_BYTES, warnings);
    let version = version("manifest_version").or_else(|| version("dxt_version")).unwrap_or_default();
    if version.is_empty() {
        warnings.add(ManifestWarning::MissingMember { member: "manifest_version".to_owned() });
    } else if !SUPPORTED_MANIFEST_VERSIONS.contains(&version.as_str()) {
        warnings.add(ManifestWarning::UnknownManifestVersion { version: escape_invisible(&version).into_owned() });
    }
    version
}

fn parse_author(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Author {
    let Some(author) = fields.object("author", warnings) else { return Author::default() };
    let author = ManifestFields::new(author, "author");
    let mut short = |key: &str| author.text(key, MAX_LABEL_BYTES, warnings);
    Author { name: short("name").unwrap_or_default(), email: short("email"), url: short("url") }
}

/// Returns the URL of the repository, which a manifest may contain in an object or, as in npm, as a plain string.
fn parse_repository(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Option<String> {
    if fields.value("repository").is_some_and(Value::is_string) {
        return fields.text("repository", MAX_LABEL_BYTES, warnings);
    }
    let repository = fields.object("repository", warnings)?;
    ManifestFields::new(repository, "repository").text("url", MAX_LABEL_BYTES, warnings)
}

/// Returns the icons that are files in the bundle. Others are dropped, since loading them from the network would reveal
/// that the user views the bundle.
fn parse_icons(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Vec<Icon> {
    let listed = fields.objects("icons", warnings);
    let mut icons: Vec<Icon> = Vec::new();
    for icon in listed {
        let icon = ManifestFields::new(icon, "icons");
        let Some(src) = icon.text("src", MAX_LABEL_BYTES, warnings) else { continue };
        let Some(path) = parse_image_path(&src, warnings) else { continue };
        let mut short = |key: &str| icon.text(key, MAX_LABEL_BYTES, warnings);
        icons.push(Icon { path, size: short("size"), theme: short("theme") });
    }
    let single = fields.text("icon", MAX_LABEL_BYTES, warnings).filter(|_| icons.is_empty());
    let single = single.and_then(|src| parse_image_path(&src, warnings));
    icons.extend(single.map(|path| Icon { path, size: None, theme: None }));
    icons
}

fn parse_screenshots(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Vec<String> {
    let paths = fields.string_list("screenshots", warnings);
    paths.iter().filter_map(|path| parse_image_path(path, warnings)).collect()
}

fn parse_image_path(src: &str, warnings: &mut ManifestWarnings) -> Option<String> {
    let path = normalized_bundle_path(src);
    if path.is_none() {
        warnings.add(ManifestWarning::ImageOutsideBundle { picture: escape_invisible(src).into_owned() });
    }
    path
}

fn parse_tools(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Vec<DeclaredTool> {
    let mut tools = Vec::new();
    for tool in fields.objects("tools", warnings) {
        let tool = ManifestFields::new(tool, "tools");
        let Some(name) = tool.text("name", MAX_LABEL_BYTES, warnings) else { continue };
        tools.push(DeclaredTool { name, description: tool.text("description", MAX_DESCRIPTION_BYTES, warnings) });
    }
    tools
}

fn parse_prompts(fields: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Vec<DeclaredPrompt> {
    let mut prompts = Vec::new();
    for prompt in fields.objects("prompts", warnings) {
        let prompt = ManifestFields::new(prompt, "prompts");
        let Some(name) = prompt.text("name", MAX_LABEL_BYTES, warnings) else { continue };
        prompts.push(DeclaredPrompt {
            name,
            description: prompt.text("description", MAX_DESCRIPTION_BYTES, warnings),
            arguments: prompt.string_list("arguments", warnings),
            text: prompt.text("text", MAX_DESCRIPTION_BYTES, warnings),
        });
    }
    prompts
}
