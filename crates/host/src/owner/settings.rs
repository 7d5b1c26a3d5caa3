//! The app's own settings.

use super::Owner;
use crate::ports::{Document, StoreError};
use crate::view::{AppSettings, HostEvent};

impl Owner {
    pub(crate) fn set_settings(&mut self, settings: AppSettings) -> Result<(), StoreError> {
        self.keep(Document::Settings, &settings)?;
        self.settings = settings.clone();
        self.emit(HostEvent::SettingsChanged(settings));
        Ok(())
    }

    pub(crate) fn conversations_changed(&mut self, changed: Option<String>) {
        self.emit(HostEvent::ConversationsChanged(changed));
    }
}
