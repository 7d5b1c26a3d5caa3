//! References in values: text that an app replaces when it starts a server. Drawbridge reads none of what they point to.

use std::ops::Range;

/// How an app writes references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// None: every text is passed as it stands.
    None,
    /// `${VAR}`, `${env:VAR}`, `${input:ID}` and others in braces behind a dollar sign.
    Dollar,
    /// The same, and `$VAR`.
    Shell,
    /// `{env:VAR}` and `{file:PATH}`.
    Braces,
    /// `${{ secrets.NAME }}`.
    DoubleBraces,
    /// All in braces, where the app is not known.
    Any,
}

/// A reference in a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What it points to.
    pub target: Target,
}

/// What a reference points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A variable of the environment, with what stands for it if there is none.
    Environment {
        /// The variable.
        name: String,
        /// Its value where there is none.
        default: Option<String>,
    },
    /// A value that the app asks its user for.
    Input(String),
    /// A secret that the app keeps.
    Secret(String),
    /// The user's home folder.
    Home,
    /// The sign between folders.
    Separator,
    /// The folder that is open in the app.
    Workspace,
    /// A part of its path, or one of several folders that are open.
    PartOfWorkspace,
    /// A file that the app reads. It is not followed.
    File,
    /// A command that the app runs. It is not followed.
    Command,
    /// Something else.
    Other,
}

/// The longest reference, in bytes. What is longer is text.
const MAX_REFERENCE: usize = 4_096;
/// The most references in one value. The rest is text.
const MAX_REFERENCES: usize = 100;

/// Finds the references in a value.
#[must_use]
pub fn references(text: &str, syntax: Syntax) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty() && found.len() < MAX_REFERENCES) {
        match first(rest, syntax) {
            Some((length, target)) => {
                found.push(Reference { range: at..at + length, target });
                at += length;
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// The reference that a text begins with, and its length.
fn first(text: &str, syntax: Syntax) -> Option<(usize, Target)> {
    let is = |wanted: &[Syntax]| wanted.contains(&syntax);
    if is(&[Syntax::DoubleBraces, Syntax::Any])
        && let Some((inner, length)) = between(text, "${{", "}}")
    {
        return Some((length, in_double_braces(inner.trim())));
    }
    if is(&[Syntax::Dollar, Syntax::Shell, Syntax::Any])
        && let Some((inner, length)) = between(text, "${", "}")
    {
        return behind_dollar(inner).map(|target| (length, target));
    }
    if is(&[Syntax::Braces, Syntax::Any])
        && let Some((inner, length)) = between(text, "{", "}")
    {
        let target = match inner.split_once(':')? {
            ("env", name) if is_variable(name) => Target::Environment { name: name.to_owned(), default: None },
            ("file", _) => Target::File,
            _ => return None,
        };
        return Some((length, target));
    }
    if syntax == Syntax::Shell {
        let name = text.strip_prefix('$')?;
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let name = &name[..end];
        return is_variable(name).then(|| (1 + end, Target::Environment { name: name.to_owned(), default: None }));
    }
    None
}

fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<(&'t str, usize)> {
    let inner = text.strip_prefix(open)?;
    // One within another is found by itself. So a text of braces that are never closed is not looked through again and again.
    let end = inner.bytes().take(MAX_REFERENCE).position(|byte| matches!(byte, b'{' | b'}'))?;
    inner[end..].starts_with(close).then_some(())?;
    Some((&inner[..end], open.len() + end + close.len()))
}

fn in_double_braces(inner: &str) -> Target {
    match inner.split_once('.') {
        Some(("secrets", name)) => Target::Secret(name.to_owned()),
        Some(("inputs", name)) => Target::Input(name.to_owned()),
        _ => Target::Other,
    }
}

fn behind_dollar(inner: &str) -> Option<Target> {
    if let Some((name, default)) = inner.split_once(":-").filter(|(name, _)| is_variable(name)) {
        return Some(Target::Environment { name: name.to_owned(), default: Some(default.to_owned()) });
    }
    Some(match inner.split_once(':') {
        Some(("env", name)) => Target::Environment { name: name.to_owned(), default: None },
        Some(("input", id)) => Target::Input(id.to_owned()),
        Some(("secret", name)) => Target::Secret(name.to_owned()),
        Some(("file", _)) => Target::File,
        Some(("command", _)) => Target::Command,
        Some(("workspaceFolder", _)) => Target::PartOfWorkspace,
        Some(_) => Target::Other,
        None => match inner {
            "userHome" => Target::Home,
            "pathSeparator" | "/" => Target::Separator,
            "workspaceFolder" | "workspaceRoot" => Target::Workspace,
            name if name.starts_with("workspaceFolder") => Target::PartOfWorkspace,
            name if is_variable(name) => Target::Environment { name: name.to_owned(), default: None },
            // Nothing that an app replaces.
            _ => return None,
        },
    })
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_app_has_references_of_its_own() {
        let environment = |name: &str| Target::Environment { name: name.to_owned(), default: None };
        let with_default = Target::Environment { name: "A".into(), default: Some("b:c".into()) };
        let cases: &[(&str, Syntax, &[Target])] = &[
            ("${A}", Syntax::None, &[]),
            ("x ${A} ${A:-b:c}", Syntax::Dollar, &[environment("A"), with_default]),
            ("${env:A}${input:key}", Syntax::Dollar, &[environment("A"), Target::Input("key".into())]),
            ("$A", Syntax::Dollar, &[]),
            ("$A/$1 $", Syntax::Shell, &[environment("A")]),
            ("{env:A} {file:~/.key} {x}", Syntax::Braces, &[environment("A"), Target::File]),
            ("${{ secrets.A }}", Syntax::DoubleBraces, &[Target::Secret("A".into())]),
            ("${file:/etc/passwd}${command:x.y}", Syntax::Dollar, &[Target::File, Target::Command]),
            (
                "${userHome}${/}${workspaceFolder}",
                Syntax::Dollar,
                &[Target::Home, Target::Separator, Target::Workspace],
            ),
            (
                "${workspaceRoot}${workspaceFolder:a}${workspaceFolderBasename}",
                Syntax::Dollar,
                &[Target::Workspace, Target::PartOfWorkspace, Target::PartOfWorkspace],
            ),
            ("${a b} ${", Syntax::Dollar, &[]),
            ("${A:-${B}}", Syntax::Dollar, &[environment("B")]),
            ("ü{env:A}", Syntax::Any, &[environment("A")]),
        ];
        for (text, syntax, wanted) in cases {
            let found: Vec<Target> = references(text, *syntax).into_iter().map(|found| found.target).collect();
            assert_eq!(found, *wanted, "references of {text} in {syntax:?}");
        }
    }
}
