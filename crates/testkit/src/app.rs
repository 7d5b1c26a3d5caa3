//! The whole host over a temporary folder, with everything that it tells recorded, and a user who answers as told.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::time::SetClock;
use domain::question::QuestionId;
use host::view::{HostEvent, QuestionBody, QuestionView, ServerState, ServerView, UserAnswer};
use host::{Host, HostOptions};
use ports::Platform;
use ports::server_config::{HttpConfig, ServerConfig, ServerEntry, StdioConfig};

/// How long anything that should happen may take, on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The file of system-wide rules, in the folder.
pub const MANAGED: &str = "managed.json";

/// A platform whose user picks what the test says.
#[derive(Debug, Default)]
pub struct TestPlatform {
    /// How long the browser takes to open.
    pub slow: Mutex<Duration>,
    /// How many URLs it was given to open.
    pub begun: AtomicUsize,
    /// The URLs that were opened.
    pub opened: Mutex<Vec<String>>,
    /// Whether the browser goes there, as that of a user who is signed in already. Else it shows the page, and that is all.
    pub browses: AtomicBool,
    /// The folder that the user picks.
    pub folder: Mutex<Option<PathBuf>>,
    /// The file that the user picks to read.
    pub file: Mutex<Option<PathBuf>>,
    /// The file that the user picks to write.
    pub save_file: Mutex<Option<PathBuf>>,
    /// The names that were proposed for it.
    pub proposed: Mutex<Vec<String>>,
    /// The questions that were announced.
    pub announced: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Platform for TestPlatform {
    async fn open_url(&self, url: &str) -> Result<(), String> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let slow = *self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        tokio::time::sleep(slow).await;
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).push(url.to_owned());
        if self.browses.load(Ordering::Relaxed) {
            let url = url.to_owned();
            // Where it can't go, the sign-in that waits for it says so.
            tokio::spawn(async move { crate::browser::sign_in(&url).await });
        }
        Ok(())
    }

    async fn pick_folder(&self) -> Result<Option<PathBuf>, String> {
        Ok(self.folder.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<PathBuf>, String> {
        Ok(self.file.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    async fn pick_save_file(&self, proposed: &str) -> Result<Option<PathBuf>, String> {
        self.proposed.lock().unwrap_or_else(PoisonError::into_inner).push(proposed.to_owned());
        Ok(self.save_file.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn announce(&self, server: &str, kind: &str, _: Option<QuestionId>) {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{server}: {kind}"));
    }
}

/// A host over a temporary folder.
pub struct App {
    /// The folder; `mcp.json` and the data lie in it.
    pub folder: tempfile::TempDir,
    /// The host.
    pub host: Host,
    /// Its platform.
    pub platform: Arc<TestPlatform>,
}

/// A server's command.
pub fn command(program: PathBuf, args: &[&str]) -> ServerConfig {
    StdioConfig {
        command: program.display().to_string(),
        args: args.iter().map(|&a| a.to_owned()).collect(),
        ..StdioConfig::default()
    }
    .into()
}

/// A remote server at this URL, whatever transport and revision it speaks.
pub fn remote(url: &str) -> ServerConfig {
    HttpConfig { url: url.to_owned(), ..HttpConfig::default() }.into()
}

/// The hostile server with these arguments.
pub fn scripted(args: &[&str]) -> ServerConfig {
    command(crate::binaries::scripted_server(), args)
}

/// The demo server with these arguments.
pub fn demo(args: &[&str]) -> ServerConfig {
    command(crate::binaries::demo_server(), args)
}

/// Turns sampling on for these servers, unless it was set: what is asked for is asked about.
fn let_sample(ports: &ports::Ports, servers: &[&str]) {
    let turn_on = |kept: Option<serde_json::Value>| {
        let mut kept = kept.unwrap_or_else(|| serde_json::json!({}));
        for server in servers {
            if kept[*server].is_null() {
                kept[*server] = serde_json::json!({ "on": true });
            }
        }
        kept
    };
    let written = ports.documents.update(ports::Document::Sampling, &mut { turn_on });
    // Behind a keychain that is locked on purpose nothing can be sealed; what an earlier start set stays.
    let is_locked = matches!(ports.documents.seal(), ports::DocumentSeal::Unavailable { .. });
    if let Err(error) = written
        && !is_locked
    {
        panic!("the folder can't be written to: {error}");
    }
}

impl App {
    /// Starts a host with these servers in its settings; none of them runs yet.
    ///
    /// # Panics
    /// If the folder can't be made or a server not be added.
    pub async fn start(servers: Vec<(&str, ServerConfig)>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("no temporary folder: {e}"));
        Self::start_in(folder, servers, HostOptions::default()).await
    }

    /// The same with a time of day that the test sets.
    ///
    /// # Panics
    /// If the folder can't be made or a server not be added.
    pub async fn start_at(clock: Arc<SetClock>, servers: Vec<(&str, ServerConfig)>) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|e| panic!("no temporary folder: {e}"));
        let secrets = Arc::new(ports::secrets::SecretsInMemory::default());
        Self::start_over(folder, servers, HostOptions::default(), secrets, |ports| ports::Ports { clock, ..ports })
            .await
    }

    /// Starts a host over this folder.
    ///
    /// # Panics
    /// If the folder can't be used or a server not be added.
    pub async fn start_in(folder: tempfile::TempDir, servers: Vec<(&str, ServerConfig)>, options: HostOptions) -> Self {
        // The keychain of whoever runs the tests is no place for them.
        Self::start_with(folder, servers, options, Arc::new(ports::secrets::SecretsInMemory::default())).await
    }

    /// Starts a host over this folder and this keychain.
    ///
    /// # Panics
    /// If the folder can't be used or a server not be added.
    pub async fn start_with(
        folder: tempfile::TempDir,
        servers: Vec<(&str, ServerConfig)>,
        options: HostOptions,
        secrets: Arc<dyn ports::Secrets>,
    ) -> Self {
        Self::start_over(folder, servers, options, secrets, |ports| ports).await
    }

    /// Starts a host over this folder and this keychain, with some port in place of another.
    ///
    /// # Panics
    /// If the folder can't be used or a server not be added.
    pub async fn start_over(
        folder: tempfile::TempDir,
        servers: Vec<(&str, ServerConfig)>,
        options: HostOptions,
        secrets: Arc<dyn ports::Secrets>,
        change: impl FnOnce(ports::Ports) -> ports::Ports,
    ) -> Self {
        let platform = Arc::new(TestPlatform::default());
        let (config, data) = (folder.path().join("mcp.json"), folder.path().join("data"));
        let ports = store::open_with(&config, &data, platform.clone(), secrets)
            .unwrap_or_else(|e| panic!("the folder can't be used: {e}"));
        // The rules of whoever runs the tests are none of theirs.
        let managed = Arc::new(store::ManagedFile::at(folder.path().join(MANAGED)));
        let ports = change(ports::Ports { managed, ..ports });
        let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
        let_sample(&ports, &names);
        let host = Host::start(ports, options).await;
        for (name, config) in servers {
            let entry = ServerEntry { name: name.to_owned(), config };
            host.add_server(entry).await.unwrap_or_else(|e| panic!("server {name} was not added: {e}"));
        }
        Self { folder, host, platform }
    }

    /// A server as it is.
    ///
    /// # Panics
    /// If there is none.
    pub async fn server(&self, name: &str) -> ServerView {
        let snapshot = self.host.snapshot().await.unwrap_or_else(|e| panic!("{e}"));
        snapshot.servers.into_iter().find(|s| s.name == name).unwrap_or_else(|| panic!("there is no server {name}"))
    }

    /// Waits until this holds of a server.
    ///
    /// # Panics
    /// If it does not in time; says how the server is instead.
    pub async fn until(&self, name: &str, what: &str, holds: impl Fn(&ServerView) -> bool) -> ServerView {
        let mut events = self.host.events();
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let view = self.server(name).await;
            if holds(&view) {
                return view;
            }
            if tokio::time::timeout_at(deadline, events.next()).await.is_err() {
                panic!("{name} should be {what}, but is {:?}", view.state);
            }
        }
    }

    /// Starts a server, approves its command or address for once, and waits until it is ready with its lists read.
    ///
    /// # Panics
    /// If it does not become ready.
    pub async fn ready(&self, name: &str) -> ServerView {
        self.ready_for(name, policy::Scope::Once).await
    }

    /// The same with an approval that stands, so that it is brought back when it ends.
    ///
    /// # Panics
    /// If it does not become ready.
    pub async fn ready_always(&self, name: &str) -> ServerView {
        self.ready_for(name, policy::Scope::Always).await
    }

    async fn ready_for(&self, name: &str, scope: policy::Scope) -> ServerView {
        self.approve_start_for(name, scope).await;
        self.until(name, "ready", |s| s.state == ServerState::Ready).await;
        self.until(name, "known", |s| s.counts.iter().any(|&n| n > 0)).await
    }

    /// Starts a server and approves its command or address for once.
    ///
    /// # Panics
    /// If it does not ask.
    pub async fn approve_start(&self, name: &str) {
        self.approve_start_for(name, policy::Scope::Once).await;
    }

    async fn approve_start_for(&self, name: &str, scope: policy::Scope) {
        let started = self.host.start_server(name.to_owned()).await;
        assert!(matches!(started, Ok(())), "{name} can be started: {started:?}");
        let is_start =
            |q: &QuestionView| matches!(q.body, QuestionBody::StartServer { .. } | QuestionBody::ConnectServer { .. });
        let question = self.question(name, "its start", is_start).await;
        self.answer(&question, UserAnswer::Allow(scope)).await;
    }

    /// Waits for a question of a server.
    ///
    /// # Panics
    /// If it does not come.
    pub async fn question(&self, name: &str, what: &str, fits: impl Fn(&QuestionView) -> bool) -> QuestionView {
        let mut events = self.host.events();
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let questions = self.questions().await;
            if let Some(found) = questions.iter().find(|q| q.server == name && fits(q)) {
                return found.clone();
            }
            if tokio::time::timeout_at(deadline, events.next()).await.is_err() {
                let state = self.server(name).await.state;
                panic!("{name} should ask about {what}; it is {state:?} and the queue is {questions:?}");
            }
        }
    }

    /// The queue.
    ///
    /// # Panics
    /// If the host has ended.
    pub async fn questions(&self) -> Vec<QuestionView> {
        self.host.snapshot().await.unwrap_or_else(|e| panic!("{e}")).questions
    }

    /// Answers a question as it was shown.
    ///
    /// # Panics
    /// If the answer is not taken.
    pub async fn answer(&self, question: &QuestionView, answer: UserAnswer) {
        let taken = self.host.answer(question.id, question.hash.to_string(), answer.clone()).await;
        assert!(matches!(taken, Ok(())), "the answer {answer:?} is taken: {taken:?}");
    }

    /// Answers every question of a kind as it comes, until the returned task is aborted.
    pub fn always(
        &self,
        answer: impl Fn(&QuestionView) -> Option<UserAnswer> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let host = self.host.clone();
        let mut events = host.events();
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let HostEvent::QuestionChanged(question) = &event.event else { continue };
                if let Some(answer) = answer(question) {
                    // A question may be gone already, taken back by its server.
                    let _ = host.answer(question.id, question.hash.to_string(), answer).await;
                }
            }
        })
    }

    /// What is in the audit log, the oldest first: kind, decision, who decided.
    ///
    /// # Panics
    /// If the log can't be read.
    pub fn decisions(&self) -> Vec<(String, String, String)> {
        let entries = self
            .host
            .ports()
            .audit
            .read(&ports::AuditQuery::latest(1_000))
            .unwrap_or_else(|e| panic!("the audit log: {e}"));
        entries.into_iter().rev().map(|e| (e.kind.into_owned(), e.decision.into_owned(), e.by.into_owned())).collect()
    }

    /// Everything in a server's activity, as text.
    ///
    /// # Panics
    /// If there is no such server.
    pub async fn activity(&self, name: &str) -> String {
        let activity = self.host.activity(name.to_owned()).await.unwrap_or_else(|e| panic!("{e}"));
        let activity = activity.lock().unwrap_or_else(PoisonError::into_inner);
        let lines =
            activity.after(0, usize::MAX).map(|e| format!("{} {}", e.note.as_deref().unwrap_or(""), e.preview()));
        lines.collect::<Vec<_>>().join("\n")
    }
}
