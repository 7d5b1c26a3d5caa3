//! Export of the API contract as TypeScript. Called by `cargo xtask codegen`.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};

use models::ProviderKind;
use serde_json::json;
use ts_rs::{Config, TS, TypeVisitor};

/// TypeScript declarations that were collected so far, by type name.
pub(crate) struct TsDeclarations {
    config: Config,
    visited: HashSet<TypeId>,
    by_name: BTreeMap<String, String>,
}

impl TsDeclarations {
    pub(crate) fn add<T: TS + 'static + ?Sized>(&mut self) {
        self.visit::<T>();
    }
}

impl TypeVisitor for TsDeclarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if !self.visited.insert(TypeId::of::<T>()) {
            return;
        }
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            self.by_name.insert(T::ident(&self.config), format!("{docs}export {}\n", T::decl(&self.config)));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}

/// Returns the settings for exporting Rust types as TypeScript.
///
/// Large integers are exported as `number`, since they are times and sizes below 2^53.
fn typescript_export_config() -> Config {
    Config::default().with_large_int("number")
}

/// Returns the TypeScript module with all commands, types, events and errors of the contract.
#[must_use]
pub fn typescript() -> String {
    let mut all =
        TsDeclarations { config: typescript_export_config(), visited: HashSet::new(), by_name: BTreeMap::new() };
    let commands = crate::table::command_interface(&typescript_export_config(), &mut all);
    all.add::<crate::Events>();
    all.add::<crate::ApiError>();
    let temperatures: BTreeMap<String, f64> = ProviderKind::ALL
        .iter()
        .map(|kind| (json!(kind).as_str().unwrap_or_default().to_owned(), kind.max_temperature()))
        .collect();
    let mut text = format!(
        "// Generated from crates/api by `cargo xtask codegen`. Do not edit.\n\n\
         /** Maximum number of servers in one conversation. */\n\
         export const MAX_CONVERSATION_SERVERS = {};\n\n\
         /** Maximum length of the name of a saved system prompt, in characters. */\n\
         export const MAX_SAVED_PROMPT_NAME_CHARS = {};\n\n\
         /** Maximum number of tokens of a reply that a conversation can set. */\n\
         export const MAX_REPLY_TOKENS = {};\n\n\
         /** Maximum number of saved system prompts. */\n\
         export const MAX_SAVED_PROMPTS = {};\n\n\
         /** Maximum sampling temperature of each kind of provider. */\n\
         export const MAX_TEMPERATURE = {} satisfies Record<ProviderKind, number>;\n\n",
        chat::MAX_SERVERS_PER_CONVERSATION,
        chat::MAX_SAVED_PROMPT_NAME_CHARS,
        chat::MAX_REPLY_TOKENS,
        chat::MAX_SAVED_PROMPTS,
        json!(temperatures),
    );
    text.push_str(&commands);
    for declaration in all.by_name.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    text
}
