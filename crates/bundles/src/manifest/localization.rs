//! Translations of a manifest: files in the bundle that replace display texts, and nothing else.

use installs::ManifestWarning;
use serde::Serialize;
use serde_json::Map;

use super::fields::{MAX_DESCRIPTION_BYTES, MAX_LABEL_BYTES, ManifestFields, ManifestWarnings};
use super::read::parse_object;
use super::server::normalized_bundle_path;
use super::{Manifest, ManifestError};

const LOCALE_PLACEHOLDER: &str = "${locale}";

/// Paths of the translations in a bundle, and the language of the manifest itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Localization {
    /// Pattern for the paths of the translation files, with `${locale}` in place of the language tag.
    pub resources: String,
    /// BCP 47 tag of the language in which the manifest's texts are written.
    pub default_locale: String,
}

impl Default for Localization {
    fn default() -> Self {
        Self { resources: "mcpb-resources/${locale}.json".to_owned(), default_locale: "en-US".to_owned() }
    }
}

impl Localization {
    pub(super) fn read(root: ManifestFields<'_>, warnings: &mut ManifestWarnings) -> Self {
        let default = Self::default();
        let Some(object) = root.object("localization", warnings) else { return default };
        let fields = ManifestFields::new(object, "localization");
        let resources =
            fields.text("resources", MAX_LABEL_BYTES, warnings).unwrap_or_else(|| default.resources.clone());
        let default_locale = fields.text("default_locale", MAX_LABEL_BYTES, warnings).unwrap_or(default.default_locale);
        if normalized_bundle_path(&resources).is_some_and(|path| path.matches(LOCALE_PLACEHOLDER).count() == 1) {
            return Self { resources, default_locale };
        }
        warnings.add(ManifestWarning::TranslationsPath { member: fields.displayed_member_path("resources") });
        Self { resources: default.resources, default_locale }
    }
}

impl Manifest {
    /// Returns the path of the translation file that matches the language `locale` best: exactly, or else without its
    /// last subtags (RFC 4647, section 3.4), or else the same language in another region. Returns `None` if no file
    /// matches, or the texts of the manifest match better.
    pub(crate) fn find_translation<'p>(&self, locale: &str, paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
        let resources = normalized_bundle_path(&self.localization.resources)?;
        let (before, after) = resources.split_once(LOCALE_PLACEHOLDER)?;
        let tag = |path: &'p str| path.strip_prefix(before)?.strip_suffix(after).filter(|tag| !tag.contains('/'));
        let available: Vec<(&str, &str)> = paths.filter_map(|path| Some((tag(path)?, path))).collect();
        let own = &self.localization.default_locale;

        let mut candidate = locale;
        loop {
            if is_same_language_tag(candidate, own) {
                return None;
            }
            if let Some((_, path)) = available.iter().find(|(tag, _)| is_same_language_tag(tag, candidate)) {
                return Some(path);
            }
            let Some(shorter) = shorten_language_tag(candidate) else { break };
            candidate = shorter;
        }
        let same_language = |tag: &str| is_same_language_tag(primary_language(tag), primary_language(locale));
        if same_language(own) {
            return None;
        }
        available.iter().find(|(tag, _)| same_language(tag)).map(|(_, path)| *path)
    }

    /// Returns the manifest with its display texts replaced by those of the translation file `json`. Translations of
    /// tools and prompts that the manifest doesn't have are ignored.
    pub(crate) fn with_translations(&self, json: &[u8]) -> Result<Self, ManifestError> {
        let root = parse_object(json)?;
        let fields = ManifestFields::new(&root, "");
        let mut manifest = self.clone();
        // Invalid translations are not reported. The texts of the manifest are used instead.
        let mut warnings = ManifestWarnings::default();
        let warnings = &mut warnings;
        replace_if_translated(&mut manifest.description, fields.text("description", MAX_DESCRIPTION_BYTES, warnings));
        manifest.display_name = fields.text("display_name", MAX_LABEL_BYTES, warnings).or(manifest.display_name);
        manifest.long_description =
            fields.text("long_description", MAX_DESCRIPTION_BYTES, warnings).or(manifest.long_description);
        let empty = Map::new();
        let author = ManifestFields::new(fields.object("author", warnings).unwrap_or(&empty), "author");
        replace_if_translated(&mut manifest.author.name, author.text("name", MAX_LABEL_BYTES, warnings));
        let keywords = fields.string_list("keywords", warnings);
        if !keywords.is_empty() {
            manifest.keywords = keywords;
        }
        for tool in fields.objects("tools", warnings) {
            let tool = ManifestFields::new(tool, "tools");
            let name = tool.text("name", MAX_LABEL_BYTES, warnings);
            if let Some(own) = manifest.tools.iter_mut().find(|own| Some(&own.name) == name.as_ref()) {
                own.description = tool.text("description", MAX_DESCRIPTION_BYTES, warnings).or(own.description.take());
            }
        }
        for prompt in fields.objects("prompts", warnings) {
            let prompt = ManifestFields::new(prompt, "prompts");
            let name = prompt.text("name", MAX_LABEL_BYTES, warnings);
            if let Some(own) = manifest.prompts.iter_mut().find(|own| Some(&own.name) == name.as_ref()) {
                own.description =
                    prompt.text("description", MAX_DESCRIPTION_BYTES, warnings).or(own.description.take());
                own.text = prompt.text("text", MAX_DESCRIPTION_BYTES, warnings).or(own.text.take());
            }
        }
        Ok(manifest)
    }
}

fn replace_if_translated(text: &mut String, with: Option<String>) {
    if let Some(with) = with {
        *text = with;
    }
}

fn is_same_language_tag(tag: &str, other: &str) -> bool {
    tag.eq_ignore_ascii_case(other)
}

fn primary_language(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

/// Returns a language tag without its last subtag, and without a single-letter subtag before that one, or `None` if the
/// tag has only one subtag.
fn shorten_language_tag(tag: &str) -> Option<&str> {
    let (shorter, _) = tag.rsplit_once('-')?;
    match shorter.rsplit_once('-') {
        Some((before, last)) if last.len() == 1 => Some(before),
        _ => Some(shorter),
    }
}
