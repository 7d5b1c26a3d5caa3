//! Clients for language model providers behind one trait.
//!
#![doc = include_str!("../README.md")]

mod error;
mod known_models;
mod local_providers;
mod lossy_conversion;
mod message;
mod model;
mod model_limits;
mod provider;
mod provider_registry;
mod reply_delta;
mod request;
mod settings;
mod wire;
mod wire_capabilities;

pub use error::{MAX_PROVIDER_MESSAGE_CHARS, ModelError, ModelErrorCode};
pub use local_providers::{LocalProvider, find_local_providers, probe_providers};
pub use lossy_conversion::{Conversion, ConversionChoices, LossyConversion, UnsupportedFeature};
pub use message::{MessagePart, ModelMessage, Role};
pub use model::{LongContextPrice, Model, ModelCapabilities, ModelPrice, ModelRank, ModelRef};
pub use provider::{MAX_TEMPERATURE, Provider, ProviderKind, ReplyStream};
pub use provider_registry::ProviderRegistry;
pub use reply_delta::{ModelReply, ReplyDelta, StopReason, TokenUsage};
pub use request::{ModelRequest, ModelTool, ToolChoice};
pub use settings::{PROVIDER_PRESETS, ProviderPreset, ProviderSettings, ProviderSettingsError};
pub use wire::HttpProvider;
