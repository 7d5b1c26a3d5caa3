//! Warnings about the manifest of a bundle. The page translates them, and the command line shows their English texts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of a bundle's manifest that is not used as its publisher wrote it. Its texts are from the publisher, limited
/// in size by the parser of the manifest, and escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ManifestWarning {
    /// The member is unknown, so it is ignored.
    UnknownMember {
        /// Path of the unknown member in the manifest.
        member: String,
    },
    /// The member should be in the manifest.
    MissingMember {
        /// Path of the missing member in the manifest.
        member: String,
    },
    /// The value of the member has the wrong type, so it is ignored.
    WrongType {
        /// Path of the member in the manifest.
        member: String,
        /// Type that the value should have.
        expected: ManifestValueType,
    },
    /// Items of the list have the wrong type, so they are ignored.
    WrongItems {
        /// Path of the list in the manifest.
        member: String,
        /// Type that each item should have.
        expected: ManifestValueType,
    },
    /// The list is too long, so the items at its end are ignored.
    TooManyItems {
        /// Path of the list in the manifest.
        member: String,
        /// Number of items that are used.
        used: u32,
    },
    /// The text is too long, so its end is omitted.
    Truncated {
        /// Path of the text in the manifest.
        member: String,
    },
    /// The version of the manifest's format is unknown, so new members are ignored.
    UnknownManifestVersion {
        /// Version of the manifest's format.
        version: String,
    },
    /// The version of the bundle can't be compared with others.
    UncomparableVersion {
        /// Version of the bundle.
        version: String,
    },
    /// The type of a setting is unknown, so its value is a text.
    UnknownSettingType {
        /// Path of the setting's type in the manifest.
        member: String,
    },
    /// A picture is not a file in the bundle, so it is not shown.
    PictureOutside {
        /// Path or URL of the picture.
        picture: String,
    },
    /// The path of the translations does not contain `${locale}` exactly once, so the default path is used.
    TranslationsPath {
        /// Path of the translations' member in the manifest.
        member: String,
    },
}

/// Type of a value in a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ManifestValueType {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// An object.
    Object,
    /// An array.
    List,
}

impl fmt::Display for ManifestValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Boolean => "true or false",
            Self::Number => "a number",
            Self::Object => "an object",
            Self::List => "a list",
        })
    }
}

impl fmt::Display for ManifestWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMember { member } => write!(f, "{member} is unknown and ignored"),
            Self::MissingMember { member } => write!(f, "{member} is missing"),
            Self::WrongType { member, expected } => write!(f, "{member} is not {expected} and is not used"),
            Self::WrongItems { member, expected } => {
                write!(f, "{member} has items that are not {expected} and are not used")
            }
            Self::TooManyItems { member, used } => write!(f, "{member} has too many items; {used} are used"),
            Self::Truncated { member } => write!(f, "{member} is too long and was cut"),
            Self::UnknownManifestVersion { version } => {
                write!(f, "the version {version} of the manifest is unknown; new members are ignored")
            }
            Self::UncomparableVersion { version } => {
                write!(f, "version {version} is not of the form 1.2.3, so it can't be compared with others")
            }
            Self::UnknownSettingType { member } => write!(f, "{member} is unknown and read as text"),
            Self::PictureOutside { picture } => {
                write!(f, "the picture {picture} is not in the bundle and is not shown")
            }
            Self::TranslationsPath { member } => {
                write!(f, "{member} is not a path with one ${{locale}} and is not used")
            }
        }
    }
}
