//! What the user confirmed of settings that are edited by hand as well: where providers of models are, and how long the audit log is
//! kept. A file that says otherwise changes neither before the user does.

use std::collections::BTreeMap;

use credentials::providers::ProvidersFile;
use domain::StoreError;
use models::{ModelRef, ProviderKind, ProviderSettings};
use policy::{Hash, canonical_json};
use ports::{Document, DocumentSeal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use super::Owner;
use super::audit::Decided;
use super::document_writer::ReadDocument;
use crate::view::AppSettings;

/// `confirmed.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ConfirmedFile {
    providers: BTreeMap<String, Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<ModelRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    keeping: Option<Keeping>,
}

/// What decides where requests and keys go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Address {
    kind: ProviderKind,
    url: Url,
}

/// What the audit log keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Keeping {
    days: u32,
    megabytes: u32,
    contents: bool,
}

/// What was confirmed, as it was read last.
#[derive(Debug, Default)]
pub(super) struct Confirmed {
    /// None while it can't be said.
    file: Option<ConfirmedFile>,
    /// Whether what stands there counts as confirmed, as nothing was ever sealed before.
    pub(super) adopts: bool,
    /// Changes of a provider that the user made and that `file` does not have yet: they wait for the audit log or the disk.
    pending_providers: usize,
}

impl Address {
    fn of(settings: &ProviderSettings) -> Self {
        Self { kind: settings.kind, url: settings.url.clone() }
    }
}

impl Keeping {
    const fn of(settings: &AppSettings) -> Self {
        let AppSettings { audit_days, audit_megabytes, audit_contents, .. } = settings;
        Self { days: *audit_days, megabytes: *audit_megabytes, contents: *audit_contents }
    }
}

impl Confirmed {
    /// Whether it can be said what was confirmed.
    pub(super) const fn is_known(&self) -> bool {
        self.file.is_some()
    }

    /// Where a provider was when the user confirmed it; an error if it is not there any more, or never was.
    pub(super) fn check_address(&self, settings: &ProviderSettings) -> Result<(), Option<String>> {
        let known = self.file.as_ref().and_then(|file| file.providers.get(&settings.id));
        match known {
            Some(known) if *known == Address::of(settings) => Ok(()),
            known => Err(known.map(|known| known.url.to_string())),
        }
    }

    /// The model that the user chose for new conversations; the file's, if nothing was confirmed.
    pub(super) fn default_model(&self, file: &ProvidersFile) -> Option<ModelRef> {
        self.file.as_ref().and_then(|kept| kept.default.clone()).filter(|_| file.default.is_some())
    }
}

impl Owner {
    /// Takes over what was confirmed, as it was read. Where nothing ever was, what stands in the settings counts as confirmed. Whether it is another
    /// than before.
    pub(super) fn take_confirmed(&mut self, read: ReadDocument, file: &ProvidersFile) -> bool {
        self.heed_documents();
        if self.documents.confirmed.file.is_some() && self.documents.writer.is_written_later(Document::Confirmed) {
            // The file is older than what the user confirmed; it is read again once that is written.
            return false;
        }
        let kept = read.ok().flatten().map(serde_json::from_value::<ConfirmedFile>);
        let next = match (kept, self.ports.documents.seal()) {
            (Some(Ok(kept)), _) => Some(kept),
            (_, DocumentSeal::Waiting | DocumentSeal::Unavailable { .. }) => None,
            (None, DocumentSeal::None { .. }) => Some(self.adopt(file)),
            (None, DocumentSeal::Sealed) if self.documents.confirmed.adopts => Some(self.adopt(file)),
            _ => Some(ConfirmedFile::default()),
        };
        self.documents.confirmed.adopts = false;
        let is_other = self.documents.confirmed.file != next;
        self.documents.confirmed.file = next;
        is_other
    }

    fn adopt(&mut self, file: &ProvidersFile) -> ConfirmedFile {
        let adopted = ConfirmedFile {
            providers: file.providers.iter().map(|own| (own.id.clone(), Address::of(own))).collect(),
            default: file.default.clone(),
            keeping: Some(Keeping::of(&self.settings.current)),
        };
        // Where nothing is set up, the first confirmation writes it.
        let is_needed = !adopted.providers.is_empty() || self.ports.documents.seal() == DocumentSeal::Sealed;
        if is_needed {
            let kept = adopted.clone();
            self.change_confirmed(
                move |own| own.clone_from(&kept),
                |_, written| {
                    if let Err(error) = written {
                        tracing::error!(%error, "what is set up could not be kept as confirmed");
                    }
                },
            );
        }
        adopted
    }

    fn change_confirmed(
        &mut self,
        change: impl Fn(&mut ConfirmedFile) + Send + 'static,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let own = self.documents.confirmed.file.clone().unwrap_or_default();
        let change = move |kept: Option<Value>| {
            let kept = kept.and_then(|kept| serde_json::from_value(kept).ok());
            let mut changed: ConfirmedFile = kept.unwrap_or_else(|| own.clone());
            change(&mut changed);
            (json!(changed), changed)
        };
        self.change_document(Document::Confirmed, change, move |owner, written| {
            let written = written.map(|changed| owner.documents.confirmed.file = Some(changed));
            then(owner, written);
        });
    }

    /// The user says where a provider is: it is written down, and confirmed.
    pub(super) fn confirm_provider(
        &mut self,
        settings: &ProviderSettings,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let (id, now) = (settings.id.clone(), Address::of(settings));
        let was = self.documents.confirmed.file.as_ref().and_then(|file| file.providers.get(&id)).cloned();
        if was.as_ref() == Some(&now) && self.documents.confirmed.pending_providers == 0 {
            return then(self, Ok(()));
        }
        let then = self.count_provider_change(then);
        self.audit_provider(&settings.id, was.as_ref(), Some(&now.clone()), "allowed", move |owner, written| {
            match written {
                Ok(()) => owner.change_confirmed(
                    move |kept| {
                        kept.providers.insert(id.clone(), now.clone());
                    },
                    then,
                ),
                Err(error) => then(owner, Err(error)),
            }
        });
    }

    /// The user takes a provider out.
    pub(super) fn unconfirm_provider(
        &mut self,
        id: &str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let was = self.documents.confirmed.file.as_ref().and_then(|file| file.providers.get(id)).cloned();
        if was.is_none() && self.documents.confirmed.pending_providers == 0 {
            return then(self, Ok(()));
        }
        let own = id.to_owned();
        let then = self.count_provider_change(then);
        self.audit_provider(id, was.as_ref(), None, "denied", move |owner, written| match written {
            Ok(()) => owner.change_confirmed(
                move |kept| {
                    kept.providers.remove(&own);
                    kept.default = kept.default.take().filter(|default| default.provider != own);
                },
                then,
            ),
            Err(error) => then(owner, Err(error)),
        });
    }

    /// Counts a change as pending until it goes on with what this returns.
    fn count_provider_change(
        &mut self,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) -> impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static {
        self.documents.confirmed.pending_providers += 1;
        move |owner, changed| {
            owner.documents.confirmed.pending_providers -= 1;
            then(owner, changed);
        }
    }

    /// The user chooses the model that new conversations begin with.
    pub(super) fn confirm_default(
        &mut self,
        model: Option<ModelRef>,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        self.change_confirmed(move |kept| kept.default.clone_from(&model), then);
    }

    fn audit_provider(
        &mut self,
        id: &str,
        was: Option<&Address>,
        now: Option<&Address>,
        decision: &'static str,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let subject = canonical_json(&json!({ "provider": id, "was": was, "now": now }));
        let (hash, by) = (Hash::of_bytes(subject.as_bytes()), self.options.decides);
        let entry =
            Decided { kind: "provider", subject: &subject, decision, by, hash: hash.as_str(), ..Decided::default() };
        self.audit(entry, then);
    }

    /// Writes down that a provider is not used as another program says where it is.
    pub(super) fn note_unconfirmed(&mut self, settings: &ProviderSettings, was: Option<&str>) {
        let subject = canonical_json(&json!({ "provider": settings.id, "was": was, "now": settings.url }));
        let hash = Hash::of_bytes(subject.as_bytes());
        let (kind, by, asker) = ("provider", "another program", "file");
        self.note(Decided {
            kind,
            subject: &subject,
            decision: "denied",
            by,
            asker,
            hash: hash.as_str(),
            ..Decided::default()
        });
    }

    /// The user says what the audit log keeps.
    pub(super) fn confirm_keeping(
        &mut self,
        settings: &AppSettings,
        then: impl FnOnce(&mut Self, Result<(), StoreError>) + Send + 'static,
    ) {
        let keeping = Keeping::of(settings);
        self.change_confirmed(move |kept| kept.keeping = Some(keeping), then);
    }

    /// What the settings say of the audit log is what the user confirmed, whatever the file says.
    pub(super) fn hold_to_confirmed_keeping(&mut self) {
        // Without a word of the user's it is what a new installation keeps: a file that was removed shortens nothing.
        let unchanged = || Keeping::of(&AppSettings::default());
        let confirmed = self.documents.confirmed.file.as_ref().map(|file| file.keeping.unwrap_or_else(unchanged));
        let is_sealed = self.ports.documents.seal() == DocumentSeal::Sealed;
        if let Some(keeping) = confirmed.filter(|keeping| is_sealed && *keeping != Keeping::of(&self.settings.current))
        {
            let Keeping { days, megabytes, contents } = keeping;
            self.settings.current.audit_days = days;
            self.settings.current.audit_megabytes = megabytes;
            self.settings.current.audit_contents = contents;
        }
    }
}
