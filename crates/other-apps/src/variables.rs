//! References in values, which an app replaces when it starts a server. Drawbridge reads no value that they refer to
//! before the user chooses so.

use std::ops::Range;

/// Syntax by which values in an app's settings refer to environment variables, prompted values and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceSyntax {
    /// No references: the other app passes all text to the server unchanged.
    None,
    /// References in braces after a dollar sign, such as `${VAR}`, `${env:VAR}` and `${input:ID}`.
    Dollar,
    /// References as in [`Dollar`](Self::Dollar), and `$VAR` without braces.
    Shell,
    /// References such as `{env:VAR}` and `{file:PATH}`.
    Braces,
    /// References such as `${{ secrets.NAME }}`.
    DoubleBraces,
    /// All of these syntaxes except `$VAR` without braces, for an app that is not known.
    Any,
}

/// A reference such as `${env:NAME}` in a value, which the other app replaces before it starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueReference {
    /// Position of the reference in the value, in bytes.
    pub range: Range<usize>,
    /// Source of the value that replaces the reference.
    pub target: ReferenceTarget,
}

/// The source of the value that replaces a reference in another app's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// An environment variable, with a default value if the reference contains one.
    Environment {
        /// Name of the environment variable.
        name: String,
        /// Value that replaces the reference if the variable is not set.
        default: Option<String>,
    },
    /// A value for which the other app prompts the user. Contains the identifier of the prompt.
    Input(String),
    /// A secret that the other app stores. Contains the name of the secret.
    Secret(String),
    /// The path of the user's home folder.
    Home,
    /// The character that separates path components on the operating system.
    Separator,
    /// The path of the folder that is open in the other app.
    Workspace,
    /// A part of the path of the folder that is open in the other app, or one of several open folders.
    PartOfWorkspace,
    /// The content of a file. Drawbridge does not read the file.
    File,
    /// The output of a command. Drawbridge does not run the command.
    Command,
    /// A value that this crate can't determine.
    Other,
}

/// Maximum length of a reference, in bytes. Longer references are treated as text.
const MAX_REFERENCE_BYTES: usize = 4_096;
/// Maximum number of references in a value. Further references are treated as text.
const MAX_REFERENCES: usize = 100;

/// Returns the references in a value that have this syntax, in order.
#[must_use]
pub fn find_references(text: &str, syntax: ReferenceSyntax) -> Vec<ValueReference> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty() && found.len() < MAX_REFERENCES) {
        match parse_reference(rest, syntax) {
            Some((length, target)) => {
                found.push(ValueReference { range: at..at + length, target });
                at += length;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Parses the reference at the beginning of a text. Returns the length of the reference in bytes, and its target.
fn parse_reference(text: &str, syntax: ReferenceSyntax) -> Option<(usize, ReferenceTarget)> {
    let is = |syntaxes: &[ReferenceSyntax]| syntaxes.contains(&syntax);
    if is(&[ReferenceSyntax::DoubleBraces, ReferenceSyntax::Any])
        && let Some((inner, length)) = strip_delimiters(text, "${{", "}}")
    {
        return Some((length, parse_double_brace_reference(inner.trim())));
    }
    if is(&[ReferenceSyntax::Dollar, ReferenceSyntax::Shell, ReferenceSyntax::Any])
        && let Some((inner, length)) = strip_delimiters(text, "${", "}")
    {
        return parse_dollar_reference(inner).map(|target| (length, target));
    }
    if is(&[ReferenceSyntax::Braces, ReferenceSyntax::Any])
        && let Some((inner, length)) = strip_delimiters(text, "{", "}")
    {
        let target = match inner.split_once(':')? {
            ("env", name) if is_variable_name(name) => {
                ReferenceTarget::Environment { name: name.to_owned(), default: None }
            }
            ("file", _) => ReferenceTarget::File,
            _ => return None,
        };
        return Some((length, target));
    }
    if syntax == ReferenceSyntax::Shell {
        let name = text.strip_prefix('$')?;
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let name = &name[..end];
        return is_variable_name(name)
            .then(|| (1 + end, ReferenceTarget::Environment { name: name.to_owned(), default: None }));
    }
    None
}

fn strip_delimiters<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    // A nested reference is found separately. Stopping at the first brace avoids scanning text with unclosed braces
    // repeatedly.
    let end = inner.bytes().take(MAX_REFERENCE_BYTES).position(|byte| matches!(byte, b'{' | b'}'))?;
    inner[end..].starts_with(close).then_some(())?;
    Some((&inner[..end], open.len() + end + close.len()))
}

fn parse_double_brace_reference(inner: &str) -> ReferenceTarget {
    match inner.split_once('.') {
        Some(("secrets", name)) => ReferenceTarget::Secret(name.to_owned()),
        Some(("inputs", name)) => ReferenceTarget::Input(name.to_owned()),
        _ => ReferenceTarget::Other,
    }
}

fn parse_dollar_reference(inner: &str) -> Option<ReferenceTarget> {
    if let Some((name, default)) = inner.split_once(":-").filter(|(name, _)| is_variable_name(name)) {
        return Some(ReferenceTarget::Environment { name: name.to_owned(), default: Some(default.to_owned()) });
    }
    Some(match inner.split_once(':') {
        Some(("env", name)) => ReferenceTarget::Environment { name: name.to_owned(), default: None },
        Some(("input", id)) => ReferenceTarget::Input(id.to_owned()),
        Some(("secret", name)) => ReferenceTarget::Secret(name.to_owned()),
        Some(("file", _)) => ReferenceTarget::File,
        Some(("command", _)) => ReferenceTarget::Command,
        Some(("workspaceFolder", _)) => ReferenceTarget::PartOfWorkspace,
        Some(_) => ReferenceTarget::Other,
        None => match inner {
            "userHome" => ReferenceTarget::Home,
            "pathSeparator" | "/" => ReferenceTarget::Separator,
            "workspaceFolder" | "workspaceRoot" => ReferenceTarget::Workspace,
            name if name.starts_with("workspaceFolder") => ReferenceTarget::PartOfWorkspace,
            name if is_variable_name(name) => ReferenceTarget::Environment { name: name.to_owned(), default: None },
            // No app has such references.
            _ => return None,
        },
    })
}

fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_app_has_its_own_reference_syntax() {
        let environment = |name: &str| ReferenceTarget::Environment { name: name.to_owned(), default: None };
        let with_default = ReferenceTarget::Environment { name: "A".into(), default: Some("b:c".into()) };
        let cases: &[(&str, ReferenceSyntax, &[ReferenceTarget])] = &[
            ("${A}", ReferenceSyntax::None, &[]),
            ("x ${A} ${A:-b:c}", ReferenceSyntax::Dollar, &[environment("A"), with_default]),
            (
                "${env:A}${input:key}",
                ReferenceSyntax::Dollar,
                &[environment("A"), ReferenceTarget::Input("key".into())],
            ),
            ("$A", ReferenceSyntax::Dollar, &[]),
            ("$A/$1 $", ReferenceSyntax::Shell, &[environment("A")]),
            ("{env:A} {file:~/.key} {x}", ReferenceSyntax::Braces, &[environment("A"), ReferenceTarget::File]),
            ("${{ secrets.A }}", ReferenceSyntax::DoubleBraces, &[ReferenceTarget::Secret("A".into())]),
            (
                "${file:/etc/passwd}${command:x.y}",
                ReferenceSyntax::Dollar,
                &[ReferenceTarget::File, ReferenceTarget::Command],
            ),
            (
                "${userHome}${/}${workspaceFolder}",
                ReferenceSyntax::Dollar,
                &[ReferenceTarget::Home, ReferenceTarget::Separator, ReferenceTarget::Workspace],
            ),
            (
                "${workspaceRoot}${workspaceFolder:a}${workspaceFolderBasename}",
                ReferenceSyntax::Dollar,
                &[ReferenceTarget::Workspace, ReferenceTarget::PartOfWorkspace, ReferenceTarget::PartOfWorkspace],
            ),
            ("${a b} ${", ReferenceSyntax::Dollar, &[]),
            ("${A:-${B}}", ReferenceSyntax::Dollar, &[environment("B")]),
            ("ü{env:A}", ReferenceSyntax::Any, &[environment("A")]),
        ];
        for (text, syntax, expected) in cases {
            let found: Vec<ReferenceTarget> =
                find_references(text, *syntax).into_iter().map(|found| found.target).collect();
            assert_eq!(found, *expected, "references of {text} in {syntax:?}");
        }
    }
}
