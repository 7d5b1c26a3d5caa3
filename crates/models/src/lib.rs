//! Language models of several providers behind one trait.
//!
//! A [`Request`] goes in, [`Delta`]s come out. Nothing here knows MCP, the host or the disk. What a provider's wire can't carry
//! is refused or converted as the user chose ([`Conversions`]), never dropped in silence. Errors ([`ModelError`]) say what to do
//! and never hold a key or a request.

mod delta;
mod error;
mod loss;
mod message;
mod model;
mod provider;
mod registry;
mod request;

pub use delta::{Delta, Reply, Stop, Usage};
pub use error::{ModelError, SAID_MAX};
pub use loss::{Conversion, Conversions, Loss, Uncarried};
pub use message::{Message, Part, Role};
pub use model::{Model, ModelRef, Price, Rank, Takes};
pub use provider::{Deltas, Kind, Provider};
pub use registry::Registry;
pub use request::{Request, Tool, ToolChoice};
