//! Tests of the selection of the registry, and of the storage of its header's value.

use std::fs;
use std::sync::Arc;

use installer::{InstallError, Installer, NewRegistryHeader, RegistryChoice, open_registry_catalog};
use ports::secrets::SecretsInMemory;
use ports::{Documents, Secrets};
use registry::{CachePolicy, RegistryError, SearchQuery};
use store::CacheFolder;
use testkit::app::TestApp;
use testkit::registry::{TestRegistry, active_registry_metadata, notes_registry_entry};

const HEADER_VALUE: &str = "Bearer t0ken-of-the-team";

/// Creates an installer that uses the registry in the settings of an app.
fn installer_from_settings(app: &TestApp, secrets: &Arc<SecretsInMemory>) -> Installer {
    let secrets: Arc<dyn Secrets> = secrets.clone();
    let documents: Arc<dyn Documents> = Arc::clone(&app.host.ports().documents);
    let cache_folder = app.folder.path().join("kept");
    let choice = RegistryChoice::Settings { documents, secrets };
    Installer::new(app.folder.path().join("data"), choice, move |address, header| {
        open_registry_catalog(address, header, Arc::new(CacheFolder::open(&cache_folder)?))
    })
}

fn authorization_header(value: Option<&str>) -> Option<NewRegistryHeader> {
    Some(NewRegistryHeader { name: "Authorization".to_owned(), value: value.map(|value| value.to_owned().into()) })
}

async fn count_search_results(installer: &Installer) -> Result<usize, InstallError> {
    let search = SearchQuery { text: "notes".to_owned(), cursor: None, limit: None };
    Ok(installer.catalog().await?.search(&search, CachePolicy::Now).await?.value.entries.len())
}

#[tokio::test]
async fn configured_registry_is_requested_with_its_header() {
    let (app, secrets) = (TestApp::start(Vec::new()).await, Arc::new(SecretsInMemory::default()));
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let (installer, other) = (installer_from_settings(&app, &secrets), installer_from_settings(&app, &secrets));
    assert!(
        installer.read_active_registry().await.unwrap().address.is_official(),
        "the official registry must be the default"
    );
    let address = registry.server.url("");
    installer.set_registry(Some(address.clone()), authorization_header(Some(HEADER_VALUE))).await.unwrap();
    for (installer, who) in [(&installer, "the one that set it"), (&other, "another program")] {
        let in_use = installer.read_active_registry().await.unwrap();
        assert_eq!((in_use.address.as_str(), in_use.is_named), (address.as_str(), false), "{who}");
        assert_eq!(in_use.header.as_deref(), Some("Authorization"), "{who}");
        assert_eq!(count_search_results(installer).await.unwrap(), 1, "{who}");
    }
    let sent = registry.server.received_requests();
    assert!(
        !sent.is_empty() && sent.iter().all(|request| request.header("authorization") == Some(HEADER_VALUE)),
        "{sent:?}"
    );
    let data = fs::read_dir(app.folder.path().join("data")).unwrap().map(|entry| entry.unwrap().path());
    for file in data.filter(|path| path.is_file()) {
        let content = fs::read(&file).unwrap();
        assert!(
            !String::from_utf8_lossy(&content).contains("t0ken"),
            "{} must not contain the value of the header",
            file.display()
        );
    }

    // A program that can write the settings file must not be able to redirect the header's value to another address.
    let elsewhere = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let setting = app.folder.path().join("data/registry.json");
    let changed = fs::read_to_string(&setting).unwrap().replace(&address, &elsewhere.server.url(""));
    fs::write(&setting, changed).unwrap();
    let refused = count_search_results(&installer).await.unwrap_err();
    assert!(matches!(refused, InstallError::NoHeaderValue { .. }), "{refused}");
    assert!(refused.to_string().contains("enter it in Settings"), "the error must name the next step: {refused}");
    assert!(elsewhere.server.received_requests().is_empty(), "no request must be sent to the other address");
}

#[tokio::test]
async fn registry_header_keeps_its_value_and_is_removed_with_its_registry() {
    let (app, secrets) = (TestApp::start(Vec::new()).await, Arc::new(SecretsInMemory::default()));
    let registry = TestRegistry::start(vec![notes_registry_entry(active_registry_metadata())]).await;
    let installer = installer_from_settings(&app, &secrets);
    let address = registry.server.url("");
    let stored_count = || secrets.keys("registry/").unwrap().len();
    let missing = installer.set_registry(Some(address.clone()), authorization_header(None)).await.unwrap_err();
    assert!(matches!(missing, InstallError::NoHeaderValue { .. }), "{missing}");
    installer.set_registry(Some(address.clone()), authorization_header(Some(HEADER_VALUE))).await.unwrap();
    installer.set_registry(Some(address.clone()), authorization_header(None)).await.unwrap();
    assert_eq!(count_search_results(&installer).await.unwrap(), 1);
    assert_eq!(
        registry.server.received_requests().last().unwrap().header("authorization"),
        Some(HEADER_VALUE),
        "the header must remain set"
    );
    let other = "Bearer an0ther";
    installer.set_registry(Some(address.clone()), authorization_header(Some(other))).await.unwrap();
    count_search_results(&installer).await.unwrap();
    assert_eq!(
        registry.server.received_requests().last().unwrap().header("authorization"),
        Some(other),
        "the new value must be used immediately"
    );
    assert_eq!(stored_count(), 1);
    installer.set_registry(None, None).await.unwrap();
    assert!(installer.read_active_registry().await.unwrap().address.is_official());
    assert_eq!(stored_count(), 0, "the value must be removed from the keychain");
}

#[tokio::test]
async fn invalid_registry_setting_is_rejected() {
    let (app, secrets) = (TestApp::start(Vec::new()).await, Arc::new(SecretsInMemory::default()));
    let installer = installer_from_settings(&app, &secrets);
    for address in ["http://registry.example", "registry.example", "https://ann:pass@registry.example", ""] {
        let refused = installer.set_registry(Some(address.to_owned()), None).await.unwrap_err();
        assert!(matches!(refused, InstallError::Registry(RegistryError::Address { .. })), "{address:?}: {refused}");
    }
    let address = || Some("https://registry.example".to_owned());
    let refused = installer.set_registry(address(), authorization_header(Some("two\nlines"))).await.unwrap_err();
    assert!(matches!(refused, InstallError::Registry(RegistryError::Header { .. })), "{refused}");
    let refused = installer.set_registry(None, authorization_header(Some(HEADER_VALUE))).await.unwrap_err();
    assert!(matches!(refused, InstallError::OfficialHeader), "{refused}");
    assert!(installer.read_active_registry().await.unwrap().address.is_official(), "the setting must not change");
    assert_eq!(secrets.keys("registry/").unwrap(), [""; 0]);
    let registry = TestRegistry::start(Vec::new()).await;
    let named = crate::test_installer(&app, &registry);
    let refused = named.set_registry(address(), None).await.unwrap_err();
    assert!(
        matches!(refused, InstallError::RegistryNamed),
        "a registry named by the environment must not be replaced: {refused}"
    );
    assert!(named.read_active_registry().await.unwrap().is_named);
}
