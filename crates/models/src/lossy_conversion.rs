//! Parts of a request that a provider's API does not support, and the conversions of such parts.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Kind of content or option that a provider's API does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UnsupportedFeature {
    /// An image in a tool result.
    ImageInToolResult,
    /// An audio recording in a tool result.
    AudioInToolResult,
    /// A file in a tool result.
    FileInToolResult,
    /// The flag that marks a tool result as an error.
    ToolError,
    /// An image in a message.
    Image,
    /// An audio recording in a message.
    Audio,
    /// A file in a message.
    File,
    /// The option that requires the model to use a tool.
    ToolRequired,
    /// Stop sequences. The API supports none, or fewer than the request contains.
    Stop,
    /// A sampling temperature, which the API does not support at all or not together with reasoning.
    Temperature,
    /// Reasoning together with tools.
    ThinkingWithTools,
}

impl UnsupportedFeature {
    /// Returns the stable name of the feature, for which the page has a text.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::ImageInToolResult => "imageInToolResult",
            Self::AudioInToolResult => "audioInToolResult",
            Self::FileInToolResult => "fileInToolResult",
            Self::ToolError => "toolError",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::File => "file",
            Self::ToolRequired => "toolRequired",
            Self::Stop => "stop",
            Self::Temperature => "temperature",
            Self::ThinkingWithTools => "thinkingWithTools",
        }
    }

    /// Returns the conversion that applies unless the user chose another. It never drops content of a message, but may
    /// omit an option such as the temperature.
    #[must_use]
    pub const fn default_conversion(self) -> Conversion {
        match self {
            Self::ImageInToolResult => Conversion::SendAfter,
            Self::ToolError => Conversion::SayInText,
            Self::Temperature | Self::ThinkingWithTools => Conversion::LeaveOut,
            _ => Conversion::Refuse,
        }
    }

    /// Returns the conversions that the user can choose for this feature.
    #[must_use]
    pub const fn conversions(self) -> &'static [Conversion] {
        match self {
            Self::ImageInToolResult | Self::AudioInToolResult | Self::FileInToolResult => {
                &[Conversion::Refuse, Conversion::SendAfter, Conversion::LeaveOut]
            }
            Self::ToolError => &[Conversion::SayInText, Conversion::Refuse],
            Self::Temperature | Self::ThinkingWithTools => &[Conversion::LeaveOut, Conversion::Refuse],
            Self::Image | Self::Audio | Self::File | Self::ToolRequired | Self::Stop => {
                &[Conversion::Refuse, Conversion::LeaveOut]
            }
        }
    }
}

impl fmt::Display for UnsupportedFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ImageInToolResult => "pictures in results of tools",
            Self::AudioInToolResult => "recordings in results of tools",
            Self::FileInToolResult => "files in results of tools",
            Self::ToolError => "that a tool failed",
            Self::Image => "pictures",
            Self::Audio => "recordings",
            Self::File => "files",
            Self::ToolRequired => "that a tool must be used",
            Self::Stop => "texts that end the answer, or not as many",
            Self::Temperature => "a temperature, for this model or together with thinking",
            Self::ThinkingWithTools => "thinking, for this model together with tools",
        })
    }
}

/// Treatment of a part of a request that the provider's API does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Conversion {
    /// The whole request fails before anything is sent.
    Refuse,
    /// The content is sent in a user message after the tool result, with a note in its original place.
    SendAfter,
    /// The content is replaced by a textual description.
    SayInText,
    /// The content is dropped, and replaced by a note where possible.
    LeaveOut,
}

/// An unsupported part of a request, with the conversion that applies to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LossyConversion {
    /// Content or option that the API does not support.
    pub what: UnsupportedFeature,
    /// Conversion that is applied to this content or option.
    pub then: Conversion,
}

impl LossyConversion {
    /// Returns `true` if the conversion only expresses the same information as text, so that the user need not be
    /// notified.
    #[must_use]
    pub const fn preserves_content(self) -> bool {
        matches!((self.what, self.then), (UnsupportedFeature::ToolError, Conversion::SayInText))
    }
}

impl fmt::Display for LossyConversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match self.then {
            Conversion::Refuse => write!(f, "this provider does not support {what}"),
            Conversion::SendAfter => write!(f, "{what} are sent in a message that follows"),
            Conversion::SayInText => write!(f, "{what} is described in text"),
            Conversion::LeaveOut => write!(f, "{what}: omitted"),
        }
    }
}

/// Conversions that the user chose for a provider, by unsupported feature.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversionChoices(pub BTreeMap<UnsupportedFeature, Conversion>);

impl ConversionChoices {
    /// Returns the conversion of an unsupported feature: the one that the user chose, or the default.
    #[must_use]
    pub fn conversion(&self, what: UnsupportedFeature) -> LossyConversion {
        let chosen = self.0.get(&what).copied().filter(|chosen| what.conversions().contains(chosen));
        LossyConversion { what, then: chosen.unwrap_or_else(|| what.default_conversion()) }
    }
}
