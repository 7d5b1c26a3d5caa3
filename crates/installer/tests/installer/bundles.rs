//! Tests of bundles: unpacked on installation, pinned by their hash, and removed with their last server.

use std::fs;
use std::path::Path;

use bundles::BundleError;
use host::HostOptions;
use installer::{InstallError, InstallOrigin, InstallSource};
use ports::server_config::{BundleFiles, SandboxConfig, ServerConfig, ServerEntry, ServerOrigin, ServerTransport};
use registry::CachePolicy;
use testkit::app::TestApp;
use testkit::bundle_file::Bundle;
use testkit::registry::TestRegistry;

use crate::{bundle_folders, install_draft, preview_and_install, server_names, test_installer};

fn bundle_source(path: &str) -> InstallSource {
    InstallSource::Bundle { path: path.into(), sha256: None }
}

#[tokio::test]
async fn bundle_is_unpacked_only_during_installation() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::with_inputs().write(&app.folder.path().join("demo.mcpb"));
    let offer = installer.offer(&bundle_source(&path), CachePolicy::Now).await.unwrap();
    let InstallOrigin::Bundle(file) = &offer.origin else { panic!("the offer must be a bundle") };
    let sandbox = offer.proposed_sandbox(offer.plan.as_ref().unwrap());
    assert_eq!(sandbox.folders[0].path, file.folder, "the proposed sandbox must include the bundle's folder");
    let draft = install_draft(offer.source.clone(), "demo", &[("level", "high"), ("key", "s3cret")]);
    let preview = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap();
    assert!(bundle_folders(&app).is_empty(), "a preview must not unpack the bundle");
    installer.install(&app.host, &draft, preview.hash.as_str()).await.unwrap();
    let ServerTransport::Stdio(stdio) = app.server("demo").await.config.transport else {
        panic!("the server must be local")
    };
    assert!(Path::new(&stdio.command).starts_with(&file.folder), "{}", stdio.command);
    assert!(Path::new(&stdio.command).is_file(), "the program must be unpacked");
    assert_eq!(bundle_folders(&app).len(), 1);
}

#[tokio::test]
async fn bundle_that_changed_after_its_preview_is_not_installed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let offered =
        install_draft(installer.offer(&bundle_source(&path), CachePolicy::Now).await.unwrap().source, "demo", &[]);
    let unpinned = install_draft(bundle_source(&path), "demo", &[]);
    let shown = installer.preview(&app.host, &unpinned, CachePolicy::Usual).await.unwrap().hash;
    assert_eq!(
        installer.preview(&app.host, &offered, CachePolicy::Usual).await.unwrap().hash,
        shown,
        "the expected hash in the source must not change the preview"
    );
    let mut other = Bundle::small();
    other.manifest["description"] = "Adds other numbers".into();
    other.write(Path::new(&path));
    let refused = installer.install(&app.host, &offered, shown.as_str()).await.unwrap_err();
    assert!(matches!(refused, InstallError::OtherBundle { .. }), "{refused}");
    let refused = installer.install(&app.host, &unpinned, shown.as_str()).await.unwrap_err();
    assert!(
        matches!(refused, InstallError::Stale),
        "a changed file must be refused even without an expected hash: {refused}"
    );
    assert!(bundle_folders(&app).is_empty() && server_names(&app).await.is_empty());
}

#[tokio::test]
async fn failed_installation_leaves_no_files() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let draft = install_draft(bundle_source(&path), "demo", &[]);
    let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap().hash;
    let settings = app.folder.path().join("mcp.json");
    // A folder in place of the settings file lets the write fail after all checks have passed.
    drop(fs::remove_file(&settings));
    fs::create_dir_all(settings.join("in-the-way")).unwrap();
    let failed = installer.install(&app.host, &draft, shown.as_str()).await.unwrap_err();
    assert!(matches!(failed, InstallError::Setup(_)), "{failed}");
    assert!(bundle_folders(&app).is_empty(), "no files must remain: {:?}", bundle_folders(&app));
    fs::remove_dir_all(&settings).unwrap();
    installer.install(&app.host, &draft, shown.as_str()).await.unwrap();
    assert_eq!(bundle_folders(&app).len(), 1, "the next attempt must succeed");
}

#[tokio::test]
async fn origin_is_kept_and_bundle_removed_with_its_last_server() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    for name in ["one", "two"] {
        let draft = install_draft(bundle_source(&path), name, &[]);
        let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap().hash;
        installer.install(&app.host, &draft, shown.as_str()).await.unwrap();
    }
    let server = app.server("one").await;
    let installed = server.installed.unwrap();
    let ServerOrigin::Bundle { name, version, files: BundleFiles { folder, author, .. } } = &installed.origin else {
        panic!("{installed:?}")
    };
    assert_eq!((name.as_str(), version.as_str(), installed.changed), ("demo", "1.2.3", false));
    assert_eq!(bundle_folders(&app), std::slice::from_ref(folder), "both servers must use the same folder");
    assert_eq!(author.as_deref(), Some("Ann"), "the values must be stored for an upgrade");

    let mut config = server.config;
    config.as_stdio_mut().unwrap().sandbox = Some(SandboxConfig::default());
    let entry = |name: &str, config: &ServerConfig| ServerEntry { name: name.to_owned(), config: config.clone() };
    app.host.update_server("one".to_owned(), entry("renamed", &config)).await.unwrap();
    let renamed = app.server("renamed").await.installed;
    assert_eq!(
        renamed.as_ref(),
        Some(&installed),
        "a rename and a new sandbox must not change the installation record"
    );
    config.as_stdio_mut().unwrap().args = vec!["--verbose".to_owned()];
    app.host.update_server("renamed".to_owned(), entry("renamed", &config)).await.unwrap();
    let changed = app.server("renamed").await.installed.unwrap();
    assert_eq!((changed.changed, &changed.origin), (true, &installed.origin), "a changed command must be marked");
    let origins = || fs::read_to_string(app.folder.path().join("data/origins.json")).unwrap_or_default();

    installer.remove(&app.host, "two").await.unwrap();
    assert_eq!(bundle_folders(&app).len(), 1, "the files must remain while another server uses them");
    assert!(origins().contains("renamed") && !origins().contains("two"), "{}", origins());
    installer.remove(&app.host, "renamed").await.unwrap();
    assert!(bundle_folders(&app).is_empty(), "the files must be removed with the last server");
    assert!(!origins().contains("renamed"), "{}", origins());
    assert!(server_names(&app).await.is_empty());
}

#[tokio::test]
async fn folder_with_added_files_is_not_accepted_as_the_bundle() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let install = async |name: &str| {
        let draft = install_draft(bundle_source(&path), name, &[]);
        let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap().hash;
        installer.install(&app.host, &draft, shown.as_str()).await
    };
    install("one").await.unwrap();
    let planted = app.folder.path().join("data/bundles").join(&bundle_folders(&app)[0]).join("planted.js");
    fs::write(&planted, "").unwrap();
    let refused = install("two").await.unwrap_err();
    assert!(
        matches!(refused, InstallError::Unpack(BundleError::FolderDiffers(_))),
        "a changed bundle must be refused while a server uses it: {refused}"
    );
    assert!(planted.exists());
    // Removes the server's settings but not the files of the bundle, as a user who edits the settings does.
    app.host.remove_server("one".to_owned()).await.unwrap();
    install("two").await.unwrap();
    assert!(!planted.exists(), "a changed bundle without servers must be unpacked again");
    assert_eq!(bundle_folders(&app).len(), 1);
}

#[tokio::test]
async fn unused_bundle_folders_are_removed() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let installer = test_installer(&app, &registry);
    let mut all = Vec::new();
    for name in ["used", "named", "taken-out", "left"] {
        let mut bundle = Bundle::small();
        bundle.manifest["name"] = name.into();
        let path = bundle.write(&app.folder.path().join("demo.mcpb"));
        preview_and_install(&app, &installer, &install_draft(bundle_source(&path), name, &[])).await.unwrap();
        let origin = app.server(name).await.installed.unwrap().origin;
        all.push(origin.files().unwrap().folder.clone());
    }
    // The installation record of the server `named` is removed, but another server's settings refer to its bundle
    // folder.
    let config = app.server("named").await.config;
    app.host.remove_server("named".to_owned()).await.unwrap();
    app.host.add_server(ServerEntry { name: "by-hand".to_owned(), config }).await.unwrap();
    app.host.remove_server("left".to_owned()).await.unwrap();
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let settings = folder.path().join("mcp.json");
    let whole = fs::read_to_string(&settings).unwrap();
    let mut without: serde_json::Value = serde_json::from_str(&whole).unwrap();
    without["mcpServers"].as_object_mut().unwrap().remove("taken-out").expect("it was there");
    let own = folder.path().join("data/bundles/a-users-own");
    fs::create_dir(&own).unwrap();

    fs::write(&settings, "not to be read").unwrap();
    let app = TestApp::start_in_folder(folder, Vec::new(), HostOptions::default()).await;
    installer.clean_up_after_killed_process(&app.host).await;
    assert_eq!(bundle_folders(&app).len(), all.len() + 1, "no files must be removed while the records are unreadable");
    app.host.close().await;
    let TestApp { folder, .. } = app;
    fs::write(&settings, without.to_string()).unwrap();
    let app = TestApp::start_in_folder(folder, Vec::new(), HostOptions::default()).await;
    installer.clean_up_after_killed_process(&app.host).await;
    let mut left = bundle_folders(&app);
    left.sort();
    let mut expected = vec!["a-users-own".to_owned(), all[1].clone(), all[2].clone(), all[0].clone()];
    expected.sort();
    assert_eq!(left, expected, "a bundle must remain although its server was removed from the file by hand");
}

#[tokio::test]
async fn unrelated_server_of_the_same_name_has_no_origin() {
    let app = TestApp::start(Vec::new()).await;
    let registry = TestRegistry::start(Vec::new()).await;
    let path = Bundle::small().write(&app.folder.path().join("demo.mcpb"));
    let draft = install_draft(bundle_source(&path), "one", &[]);
    let installer = test_installer(&app, &registry);
    let shown = installer.preview(&app.host, &draft, CachePolicy::Usual).await.unwrap().hash;
    installer.install(&app.host, &draft, shown.as_str()).await.unwrap();
    app.host.close().await;
    let TestApp { folder, .. } = app;
    let origins = folder.path().join("data/origins.json");
    assert!(fs::read_to_string(&origins).unwrap().contains("one"), "the record must remain");
    fs::remove_file(folder.path().join("mcp.json")).unwrap();

    let app =
        TestApp::start_in_folder(folder, vec![("one", testkit::app::demo_config(&[]))], HostOptions::default()).await;
    assert_eq!(app.server("one").await.installed, None, "the record must not apply to another server of the same name");
    app.host.close().await;
    assert!(!fs::read_to_string(&origins).unwrap().contains("one"), "the record must be removed");
}

#[cfg(unix)]
#[tokio::test]
async fn granted_folders_are_canonicalized_when_checked() {
    use ports::server_config::{AccessMode, AllowedFolder};

    let app = TestApp::start(Vec::new()).await;
    let (real, link) = (app.folder.path().join("real"), app.folder.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut config = testkit::app::demo_config(&[]);
    let folders = vec![AllowedFolder { path: link, access: AccessMode::Read }];
    config.as_stdio_mut().unwrap().sandbox = Some(SandboxConfig { folders, ..SandboxConfig::default() });
    let checked = app.host.check_new_server(ServerEntry { name: "one".to_owned(), config }).await.unwrap();
    let sandbox = checked.config.as_stdio().unwrap().sandbox.clone().unwrap();
    assert_eq!(
        sandbox.folders[0].path,
        real.canonicalize().unwrap(),
        "the sandbox must contain the folder that the link refers to"
    );
}
