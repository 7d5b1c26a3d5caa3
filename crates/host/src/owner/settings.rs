//! The app's own settings.

use std::sync::PoisonError;

use super::Owner;
use crate::limits::Use;
use crate::ports::{Document, StoreError};
use crate::view::{AppSettings, HostEvent};

impl Owner {
    /// How much a server uses of what each server gets.
    pub(crate) fn used(&self, name: &str) -> Option<Use> {
        let counted = *self.servers.get(name)?.used.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match counted {
            Some((at, used)) => used.after(at.elapsed().as_secs_f64()),
            None => Use::none(&self.settings.limits.within_bounds()),
        })
    }

    pub(crate) fn set_settings(&mut self, settings: AppSettings) -> Result<(), StoreError> {
        self.keep(Document::Settings, &settings)?;
        self.settings = settings.clone();
        self.retain_audit();
        self.emit(HostEvent::SettingsChanged(settings));
        Ok(())
    }

    pub(crate) fn conversations_changed(&mut self, changed: Option<String>) {
        self.emit(HostEvent::ConversationsChanged(changed));
    }
}
