//! Warnings about the manifest of a bundle. The page translates them, and the command line shows their English texts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of a bundle's manifest that is not used as its publisher wrote it. Its texts are from the publisher, limited
/// in size by the parser of the manifest, and escaped for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum ManifestWarning {
    /// The manifest has a member that the format doesn't define. It is ignored.
    UnknownMember {
        /// JSON path of the unknown member, such as `server.colour`.
        member: String,
    },
    /// The manifest lacks a member that the format requires.
    MissingMember {
        /// JSON path of the missing member.
        member: String,
    },
    /// The value of a member has the wrong type. It is ignored.
    WrongType {
        /// JSON path of the member with the wrong type.
        member: String,
        /// Type that the value of the member should have.
        expected: ManifestValueType,
    },
    /// Some items of a list have the wrong type. They are ignored.
    WrongItems {
        /// JSON path of the list that contains these items.
        member: String,
        /// Type that each item of the list should have.
        expected: ManifestValueType,
    },
    /// A list has too many items. Those at its end are ignored.
    TooManyItems {
        /// JSON path of the list that was cut.
        member: String,
        /// Number of items at the beginning of the list that are used.
        used: u32,
    },
    /// A text is too long. Its end is omitted.
    Truncated {
        /// JSON path of the text that was cut.
        member: String,
    },
    /// The manifest has a version of the format that is unknown. Members that only this version has are ignored.
    UnknownManifestVersion {
        /// Version of the format, as the manifest states it.
        version: String,
    },
    /// The version of the bundle is not a semantic version, so it can't be compared with others.
    UncomparableVersion {
        /// Version of the bundle, as the manifest states it.
        version: String,
    },
    /// A setting of the bundle has an unknown type. Its value is treated as text.
    UnknownSettingType {
        /// JSON path of the member with the unknown type.
        member: String,
    },
    /// An icon or screenshot is not a file in the bundle. It is not shown.
    #[serde(rename = "picture_outside")]
    ImageOutsideBundle {
        /// Path or URL of the icon or screenshot.
        picture: String,
    },
    /// The path pattern of the translations does not contain `${locale}` exactly once. The default pattern is used.
    TranslationsPath {
        /// JSON path of the member with the path pattern.
        member: String,
    },
}

/// Type of a JSON value in a manifest.
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
            Self::ImageOutsideBundle { picture } => {
                write!(f, "the picture {picture} is not in the bundle and is not shown")
            }
            Self::TranslationsPath { member } => {
                write!(f, "{member} is not a path with one ${{locale}} and is not used")
            }
        }
    }
}
