//! URI templates of resources (RFC 6570). Used by `api`, which lists the variables of templates and expands them.

use std::collections::BTreeMap;

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;

/// Maximum size of a template that is expanded, in bytes.
const MAX_URI_TEMPLATE_BYTES: usize = 8 * 1024;

/// Error of parsing or expanding a template, with the cause as text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server's URI template can't be used: {0}")]
pub struct UriTemplateError(String);

/// Returns the variables of a template without duplicates, in the order of their first use. Empty if the template is
/// invalid.
#[must_use]
pub fn template_variable_names(template: &str) -> Vec<String> {
    let Ok(template) = parse(template) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for variable in template.variables() {
        if !names.iter().any(|name| name == variable.as_str()) {
            names.push(variable.as_str().to_owned());
        }
    }
    names
}

/// Expands a template. Empty values are treated as undefined, and values of unknown variables are ignored.
///
/// # Errors
///
/// Returns [`UriTemplateError`] if the template is invalid, longer than 8 KiB, or can't be expanded.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// use offers::uri_template::{expand, template_variable_names};
///
/// let template = "notes://{folder}/{name}{?version}";
/// assert_eq!(template_variable_names(template), ["folder", "name", "version"]);
/// let given = [("folder", "work"), ("name", "to do/today")];
/// let mut values = BTreeMap::from(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
/// // A slash in a value can't lead to another path.
/// assert_eq!(expand(template, &values)?, "notes://work/to%20do%2Ftoday");
/// values.insert("version".to_owned(), "2".to_owned());
/// assert_eq!(expand(template, &values)?, "notes://work/to%20do%2Ftoday?version=2");
/// assert!(expand("notes://{folder", &values).is_err());
/// # Ok::<(), offers::uri_template::UriTemplateError>(())
/// ```
pub fn expand(template: &str, values: &BTreeMap<String, String>) -> Result<String, UriTemplateError> {
    let mut context = SimpleContext::new();
    for (name, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        context.insert(name.as_str(), value.as_str());
    }
    let expanded = parse(template)?.expand::<UriSpec, _>(&context).map_err(|e| UriTemplateError(e.to_string()))?;
    Ok(expanded.to_string())
}

fn parse(template: &str) -> Result<&UriTemplateStr, UriTemplateError> {
    if template.len() > MAX_URI_TEMPLATE_BYTES {
        return Err(UriTemplateError(format!("it is longer than {MAX_URI_TEMPLATE_BYTES} bytes")));
    }
    UriTemplateStr::new(template).map_err(|e| UriTemplateError(e.to_string()))
}
