//! Clients for language model providers behind one trait.
//!
#![doc = include_str!("../README.md")]

mod carry;
mod delta;
mod error;
mod known;
mod limits;
mod local;
mod loss;
mod message;
mod model;
mod provider;
mod registry;
mod request;
mod settings;
mod wire;

pub use delta::{Reply, ReplyDelta, StopReason, TokenUsage};
pub use error::{ModelError, ModelErrorCode, SAID_MAX};
pub use local::{LocalProvider, find_at, find_local};
pub use loss::{Conversion, ConversionChoices, LossyConversion, UnsupportedFeature};
pub use message::{Message, Part, Role};
pub use model::{LongContextPrice, Model, ModelCapabilities, ModelPrice, ModelRank, ModelRef};
pub use provider::{Deltas, Provider, ProviderKind};
pub use registry::ProviderRegistry;
pub use request::{Request, Tool, ToolChoice};
pub use settings::{PRESETS, ProviderPreset, ProviderSettings, SettingsError};
pub use wire::HttpProvider;
