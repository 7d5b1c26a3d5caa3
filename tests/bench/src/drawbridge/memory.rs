//! In-memory implementations of the host's external dependencies.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::{StoreError, history};
use ports::secrets::SecretsInMemory;
use ports::server_config::{ConfigProblem, PastedServer, ServerConfig, ServerEntry};
use ports::{
    AuditAppendStatus, AuditEntry, AuditLog, AuditQuery, AuditReceipts, AuditRetention, AuditVerdict, Document,
    Documents, History, ManagedPolicy, Platform, Ports, ServerSettings, WrittenAuditEntry,
};
use serde_json::Value;
use tokio::sync::mpsc;

/// Returns implementations of the host's external dependencies that store data only in memory and discard audit
/// entries.
pub(super) fn in_memory_ports() -> Ports {
    let memory = Arc::new(InMemoryPorts::default());
    Ports {
        servers: memory.clone(),
        documents: memory.clone(),
        managed: memory.clone(),
        audit: memory.clone(),
        history: memory.clone(),
        secrets: Arc::new(SecretsInMemory::default()),
        platform: memory,
        clock: Arc::new(ports::time::SystemClock),
    }
}

#[derive(Default)]
struct InMemoryPorts {
    servers: Mutex<Vec<ServerEntry>>,
    documents: Mutex<HashMap<Document, Value>>,
    audited: AtomicU64,
}

impl ServerSettings for InMemoryPorts {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn load(&self) -> Result<Vec<ServerEntry>, ConfigProblem> {
        Ok(self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn put(&self, entry: &ServerEntry, former_name: Option<&str>) -> Result<(), ConfigProblem> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|other| other.name != entry.name && Some(other.name.as_str()) != former_name);
        servers.push(entry.clone());
        Ok(())
    }

    fn put_if_unchanged(&self, entry: &ServerEntry, before: Option<&ServerConfig>) -> Result<bool, ConfigProblem> {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let same = servers.iter().position(|other| other.name == entry.name);
        if same.map(|index| &servers[index].config) != before {
            return Ok(false);
        }
        match same {
            Some(index) => servers[index] = entry.clone(),
            None => servers.push(entry.clone()),
        }
        Ok(true)
    }

    fn remove(&self, name: &str) -> Result<(), ConfigProblem> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).retain(|entry| entry.name != name);
        Ok(())
    }

    fn parse_pasted(&self, _: &str, _: &[String]) -> Result<Vec<PastedServer>, ConfigProblem> {
        Ok(Vec::new())
    }

    fn watch(&self, _: mpsc::Sender<()>) {}
}

impl Documents for InMemoryPorts {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn read(&self, name: Document) -> Result<Option<Value>, StoreError> {
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(documents.get(&name).filter(|document| !document.is_null()).cloned())
    }

    fn set_aside(&self, name: Document) -> Result<PathBuf, StoreError> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
        Ok(PathBuf::new())
    }

    fn write(&self, name: Document, value: &Value) -> Result<(), StoreError> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner).insert(name, value.clone());
        Ok(())
    }
}

impl ManagedPolicy for InMemoryPorts {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn read(&self) -> Result<Option<Value>, StoreError> {
        Ok(None)
    }

    fn watch(&self, _: mpsc::Sender<()>) {}
}

impl AuditLog for InMemoryPorts {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn set_receipts(&self, _: Arc<AuditReceipts>) {}

    fn append(&self, _: AuditEntry) -> Result<WrittenAuditEntry, StoreError> {
        Ok(WrittenAuditEntry { number: self.audited.fetch_add(1, Ordering::Relaxed) + 1, position: 0 })
    }

    fn append_later(&self, entry: AuditEntry, _: u64) -> Result<AuditAppendStatus, StoreError> {
        self.append(entry).map(AuditAppendStatus::Written)
    }

    fn durable_position(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn read(&self, _: &AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        Ok(Vec::new())
    }

    fn verify(&self) -> Result<AuditVerdict, StoreError> {
        Err(not_stored_error())
    }

    fn verify_export(&self, _: &Path) -> Result<AuditVerdict, StoreError> {
        Err(not_stored_error())
    }

    fn export(&self, _: &mut dyn std::io::Write) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn set_retention(&self, _: AuditRetention) {}
}

fn not_stored_error() -> StoreError {
    StoreError { path: String::new(), cause: "nothing is retained here".to_owned() }
}

impl History for InMemoryPorts {
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }

    fn list(&self) -> Result<Vec<(String, String, u64)>, StoreError> {
        Ok(Vec::new())
    }

    fn create(&self, _: &history::Conversation) -> Result<(), StoreError> {
        Err(not_stored_error())
    }

    fn conversation(&self, _: &str) -> Result<Option<history::Conversation>, StoreError> {
        Ok(None)
    }

    fn change(&self, _: &str, _: &history::ConversationChange) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn delete(&self, _: &str) -> Result<(), StoreError> {
        Ok(())
    }

    fn write(&self, _: &str, _: &[history::NewHistoryItem]) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn items(&self, _: &history::ItemRange) -> Result<Option<history::ItemPage>, StoreError> {
        Ok(None)
    }

    fn all_items(&self, _: &str, _: Option<&str>, _: usize) -> Result<Option<history::ItemPage>, StoreError> {
        Ok(None)
    }

    fn item(&self, _: &str, _: &str) -> Result<Option<history::StoredHistoryItem>, StoreError> {
        Ok(None)
    }

    fn item_outline(&self, _: &str, _: &str) -> Result<Option<history::StoredHistoryItem>, StoreError> {
        Ok(None)
    }

    fn usage(&self, _: &str) -> Result<Option<history::ConversationUsage>, StoreError> {
        Ok(None)
    }

    fn show_branch(&self, _: &str, _: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn search(&self, _: &history::HistorySearch) -> Result<Vec<history::FoundItem>, StoreError> {
        Ok(Vec::new())
    }

    fn blob(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

#[async_trait::async_trait]
impl Platform for InMemoryPorts {
    async fn open_url(&self, _: &str) -> Result<(), String> {
        Err("there is no browser here".to_owned())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    async fn pick_save_file(&self, _: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn announce(&self, _: &str, _: &str, _: Option<domain::consent_request::ConsentRequestId>) {}
}
