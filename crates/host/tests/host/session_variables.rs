//! Certificates and proxies of the user's session: shown with a start, part of its approval, and there when the server runs.

use std::sync::Arc;

use host::view::{QuestionBody, ServerState};
use host::{HostOptions, SessionVariables};
use ports::secrets::SecretsInMemory;
use testkit::app::{App, demo};

const FILE: (&str, &str) = ("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt");
const PROXY: (&str, &str) = ("NO_PROXY", "localhost");

fn session(variables: &[(&str, &str)]) -> HostOptions {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    HostOptions { session: SessionVariables::of(variables), ..HostOptions::default() }
}

/// The variables that the only open question shows with a start.
async fn shown(app: &App) -> Vec<(String, String)> {
    app.host.start_server("one".to_owned()).await.unwrap();
    app.until("one", "asked about", |server| server.state == ServerState::AwaitingApproval).await;
    match &app.questions().await[..] {
        [question] => match &question.body {
            QuestionBody::StartServer { config, .. } => config.env.clone().into_iter().collect(),
            other => panic!("{other:?}"),
        },
        others => panic!("{others:?}"),
    }
}

#[tokio::test]
async fn they_are_shown_with_a_start_and_passed_on() {
    let (folder, secrets) = (tempfile::tempdir().unwrap(), Arc::new(SecretsInMemory::default()));
    let app = App::start_with(folder, vec![("one", demo(&[]))], session(&[FILE]), secrets.clone()).await;
    assert_eq!(shown(&app).await, [(FILE.0.to_owned(), FILE.1.to_owned())], "what is shown");
    let server = app.ready_always("one").await;
    #[cfg(target_os = "linux")]
    {
        let environment = std::fs::read(format!("/proc/{}/environ", server.pid.unwrap())).unwrap();
        let expected = format!("{}={}", FILE.0, FILE.1);
        assert!(environment.split(|byte| *byte == 0).any(|one| one == expected.as_bytes()), "is what it gets");
    }
    assert!(server.config.as_stdio().unwrap().env.is_empty(), "the settings stay as they are");

    app.host.close().await;
    let App { folder, .. } = app;
    let app = App::start_with(folder, Vec::new(), session(&[FILE]), secrets.clone()).await;
    assert!(app.server("one").await.approved, "the approval stands");
    app.host.close().await;
    let App { folder, .. } = app;
    let app = App::start_with(folder, Vec::new(), session(&[FILE, PROXY]), secrets).await;
    assert!(!app.server("one").await.approved, "with another one it asks again");
    let names: Vec<String> = shown(&app).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [PROXY.0, FILE.0], "with all that is passed on");
}
