//! The parts of the owner's state, each with the methods that need no other part. Callers: the methods of [`Owner`](super::Owner), which
//! lead from one part to the next.

mod calls;
mod consent;
mod data_flow;
mod events;
mod folders;
mod grant_documents;
mod launches;
mod lifetime;
mod model_access;
mod permissions;
mod registry;
mod reviews;
mod sampling;
mod server_record;
mod settings;
mod sign_ins;

pub(in crate::owner) use calls::CallTable;
pub(in crate::owner) use consent::ConsentQueue;
pub(in crate::owner) use data_flow::FlowTable;
pub(in crate::owner) use events::EventStream;
pub(in crate::owner) use folders::FolderShares;
pub(in crate::owner) use grant_documents::GrantDocuments;
pub(in crate::owner) use launches::Launches;
pub(in crate::owner) use lifetime::Lifetime;
pub(crate) use model_access::ModelAccess;
pub(in crate::owner) use permissions::Permissions;
pub(in crate::owner) use registry::ServerRegistry;
pub(in crate::owner) use reviews::Reviews;
pub(in crate::owner) use sampling::{Kept, Sampling};
pub(crate) use server_record::ServerRecord;
pub(in crate::owner) use settings::SettingsState;
pub(in crate::owner) use sign_ins::SignIns;
