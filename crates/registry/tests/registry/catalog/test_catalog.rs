//! A registry with stored entries, and a catalog for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ports::time::Clock;
use registry::{
    CacheLimits, RegistryAddress, RegistryCache, RegistryCatalog, RegistryClient, RegistryHeader, RegistryLimits,
};
use serde_json::{Value, json};
use store::CacheFolder;
use tempfile::TempDir;
use testkit::http::{HttpRequest, HttpResponder, HttpServer};

/// Start time of the tests: 2026-03-01, in milliseconds since 1970.
pub(crate) const START_TIME: u64 = 1_772_323_200_000;
pub(crate) const HOUR_MILLIS: u64 = 60 * 60 * 1000;

/// Clock whose time is set by the test.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn advance(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn time(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// A catalog of a test registry, with its cache folder and clock.
pub(crate) struct TestCatalog {
    pub(crate) catalog: RegistryCatalog,
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) limits: RegistryLimits,
}

impl TestCatalog {
    pub(crate) fn at_server(server: &HttpServer) -> Self {
        Self::with_address(&server.url(""), RegistryLimits::default(), CacheLimits::default(), None)
    }

    pub(crate) fn with_limits(server: &HttpServer, limits: RegistryLimits) -> Self {
        Self::with_address(&server.url(""), limits, CacheLimits::default(), None)
    }

    pub(crate) fn with_address(
        address: &str,
        limits: RegistryLimits,
        cache_limits: CacheLimits,
        header: Option<RegistryHeader>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock(AtomicU64::new(START_TIME)));
        let registry = RegistryClient::new(RegistryAddress::parse(address).unwrap(), header, limits).unwrap();
        let catalog = RegistryCatalog::new(registry, open_cache(&folder, cache_limits), clock.clone());
        Self { catalog, folder, clock, limits }
    }

    /// Returns another catalog with the same cache folder, as after a restart.
    pub(crate) fn reopened(&self) -> RegistryCatalog {
        let registry = RegistryClient::new(self.catalog.address().clone(), None, self.limits).unwrap();
        RegistryCatalog::new(registry, open_cache(&self.folder, CacheLimits::default()), self.clock.clone())
    }

    /// Returns the number of files in the cache folder, except for the lock file.
    pub(crate) fn count_files(&self) -> usize {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name != ".lock").count()
    }
}

fn open_cache(folder: &TempDir, limits: CacheLimits) -> Arc<RegistryCache> {
    let files = CacheFolder::open(folder.path()).unwrap();
    Arc::new(RegistryCache::open(Arc::new(files), limits).unwrap())
}

/// Returns a registry entry whose official metadata is `official`.
pub(crate) fn registry_entry(name: &str, version: &str, official: Value) -> Value {
    json!({
        "server": {
            "name": name, "version": version, "description": format!("About {name}"), "newMember": 1,
            "packages": [{ "registryType": "npm", "identifier": "notes", "version": version, "transport": { "type": "stdio" } }],
        },
        "_meta": { "io.modelcontextprotocol.registry/official": official },
    })
}

/// Returns a registry entry of an active version.
pub(crate) fn active_entry(name: &str, version: &str, is_latest: bool) -> Value {
    registry_entry(
        name,
        version,
        json!({ "status": "active", "updatedAt": "2026-02-01T00:00:00Z", "isLatest": is_latest }),
    )
}

/// A registry that serves these entries. A cursor is the position of the next entry.
#[derive(Clone, Default)]
pub(crate) struct FakeRegistry(Arc<Mutex<Vec<Value>>>);

impl FakeRegistry {
    pub(crate) fn of(entries: Vec<Value>) -> Self {
        Self(Arc::new(Mutex::new(entries)))
    }

    pub(crate) fn set(&self, entries: Vec<Value>) {
        *self.0.lock().unwrap() = entries;
    }

    pub(crate) async fn serve(&self) -> HttpServer {
        let stored = self.clone();
        HttpServer::start(move |request, answer| {
            let stored = stored.clone();
            async move { stored.answer(&request, answer).await }
        })
        .await
    }

    pub(crate) async fn answer(&self, request: &HttpRequest, mut answer: HttpResponder) -> std::io::Result<()> {
        let parts: Vec<&str> = request.path_without_query().split('/').collect();
        let body = match parts.as_slice() {
            ["", "v0.1", "servers"] => Some(self.list(request)),
            ["", "v0.1", "servers", name, "versions"] => self.versions(&name.replace("%2F", "/")),
            ["", "v0.1", "servers", name, "versions", version] => {
                self.version(&name.replace("%2F", "/"), &version.replace("%2B", "+"))
            }
            _ => None,
        };
        match body {
            Some(body) => answer.json(&body).await,
            None => answer.respond(404, "content-type: application/json\r\n", br#"{"error":"Server not found"}"#).await,
        }
    }

    fn list(&self, request: &HttpRequest) -> Value {
        let query = request.query();
        let of = |name: &str| query.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
        let text = of("search").unwrap_or_default();
        let since = of("updated_since");
        let found: Vec<Value> = self
            .0
            .lock()
            .unwrap()
            .iter()
            .filter(|entry| entry["server"]["name"].as_str().unwrap_or_default().contains(&text))
            .filter(|entry| of("version").is_none() || official_metadata(entry)["isLatest"] == true)
            .filter(|entry| since.is_some() || official_metadata(entry)["status"] != "deleted")
            .filter(|entry| {
                since.as_deref().is_none_or(|since| official_metadata(entry)["updatedAt"].as_str().unwrap() >= since)
            })
            .cloned()
            .collect();
        let from: usize = of("cursor").map_or(0, |cursor| cursor.strip_prefix("at ").unwrap().parse().unwrap());
        let limit: usize = of("limit").unwrap().parse().unwrap();
        let page: Vec<Value> = found.iter().skip(from).take(limit).cloned().collect();
        let next = (from + limit < found.len()).then(|| format!("at {}", from + limit));
        json!({ "servers": page, "metadata": { "count": page.len(), "nextCursor": next } })
    }

    fn versions(&self, name: &str) -> Option<Value> {
        let entries = self.0.lock().unwrap();
        let found: Vec<&Value> = entries.iter().filter(|entry| entry["server"]["name"] == name).collect();
        (!found.is_empty()).then(|| json!({ "servers": found, "metadata": { "count": found.len() } }))
    }

    fn version(&self, name: &str, version: &str) -> Option<Value> {
        let entries = self.0.lock().unwrap();
        let mut of_name = entries.iter().filter(|entry| entry["server"]["name"] == name);
        let is_version = |entry: &&Value| {
            entry["server"]["version"] == version || version == "latest" && official_metadata(entry)["isLatest"] == true
        };
        of_name.find(is_version).cloned()
    }
}

fn official_metadata(entry: &Value) -> &Value {
    &entry["_meta"]["io.modelcontextprotocol.registry/official"]
}
