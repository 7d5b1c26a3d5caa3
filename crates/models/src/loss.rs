//! What a provider's wire can't carry, and what is done about it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a wire can't carry as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Uncarried {
    /// A picture in a tool's result.
    ImageInToolResult,
    /// A recording in a tool's result.
    AudioInToolResult,
    /// A file in a tool's result.
    FileInToolResult,
    /// That a tool failed.
    ToolError,
    /// A picture in a message.
    Image,
    /// A recording in a message.
    Audio,
    /// A file in a message.
    File,
    /// That the model must use a tool.
    ToolRequired,
    /// Texts that end the answer, as many or at all.
    Stop,
    /// A temperature, at all or beside thinking.
    Temperature,
    /// That the model should think, beside tools.
    ThinkingWithTools,
}

impl Uncarried {
    /// A stable name, for the page's words.
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

    /// What is done where the user chose nothing: nothing that would lose content.
    #[must_use]
    pub const fn default_conversion(self) -> Conversion {
        match self {
            Self::ImageInToolResult => Conversion::SendAfter,
            Self::ToolError => Conversion::SayInText,
            Self::Temperature | Self::ThinkingWithTools => Conversion::LeaveOut,
            _ => Conversion::Refuse,
        }
    }

    /// What a user may choose.
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

impl fmt::Display for Uncarried {
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
            Self::Temperature => "a temperature, to this model or beside thinking",
            Self::ThinkingWithTools => "thinking, to this model beside tools",
        })
    }
}

/// What is done about something that can't be carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Conversion {
    /// Nothing is sent.
    Refuse,
    /// It is sent in a message of the user that follows, with a note in its place.
    SendAfter,
    /// It is said in words in its place.
    SayInText,
    /// It is left out, with a note in its place where there is a place.
    LeaveOut,
}

/// Something in a request that its wire can't carry, and what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// What it is.
    pub what: Uncarried,
    /// What is done.
    pub then: Conversion,
}

impl Loss {
    /// Returns true if the model learns the same by it, so that the user need not be told.
    #[must_use]
    pub const fn is_only_rephrased(self) -> bool {
        matches!((self.what, self.then), (Uncarried::ToolError, Conversion::SayInText))
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.what;
        match self.then {
            Conversion::Refuse => write!(f, "this provider can't carry {what}"),
            Conversion::SendAfter => write!(f, "{what} are sent in a message that follows"),
            Conversion::SayInText => write!(f, "{what} is said in words"),
            Conversion::LeaveOut => write!(f, "{what}: left out"),
        }
    }
}

/// What the user chose for a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conversions(pub BTreeMap<Uncarried, Conversion>);

impl Conversions {
    /// What is done about this.
    #[must_use]
    pub fn of(&self, what: Uncarried) -> Loss {
        let chosen = self.0.get(&what).copied().filter(|chosen| what.conversions().contains(chosen));
        Loss { what, then: chosen.unwrap_or_else(|| what.default_conversion()) }
    }
}
