//! Tests two servers and two authorization servers with events in random order. No credential of one server, issuer or
//! resource reaches another.

use std::sync::atomic::Ordering;
use std::time::Duration;
use testkit::calls::UserCalls as _;

use host::view::ServerState;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Map, json};
use testkit::app::{TestApp, remote_config};
use testkit::authorization::{
    AuthorizationScript, AuthorizationServer, IssParameter, ProtectedScript, ProtectedServer, RefreshBehaviour,
    RefusalBehaviour, find_leaked_credentials,
};
use testkit::time::advance_time;

use crate::pair::allow_starts_and_tools;
use crate::report::seeded_random;

/// Number of random sequences of events. `PROPTEST_RNG_SEED` determines them.
const RANDOM_SEQUENCE_COUNT: u32 = 12;
const SERVER_NAMES: [&str; 2] = ["first", "second"];

/// Event in a random sequence. Numbers are indexes of servers or of authorization servers.
#[derive(Debug, Clone)]
enum RandomSignInEvent {
    /// Starts a sign-in to a server, and does not wait for its end.
    SignIn(usize),
    SignOut(usize),
    ChangeAccount(usize),
    Call(usize),
    Start(usize),
    Stop(usize),
    Cancel(usize),
    /// Makes a server name another authorization server, and accept only tokens of that one. The numbers are the server
    /// and the authorization server.
    Moves(usize, usize),
    /// Makes the metadata of a server name both authorization servers.
    NamesBoth(usize),
    /// Makes a server claim to be the other server, or stops that.
    ClaimsOther(usize, bool),
    WantsScope(usize),
    Refuses(usize, bool),
    EndsAccess(usize),
    EndsAll(usize),
    RefreshFails(usize, bool),
    /// Makes an authorization server claim to be the other one, or stops that.
    Impersonates(usize, bool),
    /// Waits for a short time.
    Waits,
}

fn events_strategy() -> impl Strategy<Value = Vec<RandomSignInEvent>> {
    let one = || 0..2_usize;
    let event = prop_oneof![
        4 => one().prop_map(RandomSignInEvent::SignIn),
        1 => one().prop_map(RandomSignInEvent::SignOut),
        1 => one().prop_map(RandomSignInEvent::ChangeAccount),
        5 => one().prop_map(RandomSignInEvent::Call),
        2 => one().prop_map(RandomSignInEvent::Start),
        1 => one().prop_map(RandomSignInEvent::Stop),
        1 => one().prop_map(RandomSignInEvent::Cancel),
        3 => (one(), one()).prop_map(|(server, issuer)| RandomSignInEvent::Moves(server, issuer)),
        1 => one().prop_map(RandomSignInEvent::NamesBoth),
        1 => (one(), any::<bool>()).prop_map(|(server, does)| RandomSignInEvent::ClaimsOther(server, does)),
        1 => one().prop_map(RandomSignInEvent::WantsScope),
        1 => (one(), any::<bool>()).prop_map(|(server, does)| RandomSignInEvent::Refuses(server, does)),
        3 => one().prop_map(RandomSignInEvent::EndsAccess),
        1 => one().prop_map(RandomSignInEvent::EndsAll),
        1 => (one(), any::<bool>()).prop_map(|(issuer, does)| RandomSignInEvent::RefreshFails(issuer, does)),
        1 => (one(), any::<bool>()).prop_map(|(issuer, does)| RandomSignInEvent::Impersonates(issuer, does)),
        4 => Just(RandomSignInEvent::Waits),
    ];
    proptest::collection::vec(event, 8..24)
}

struct SignInTestWorld {
    app: TestApp,
    issuers: [AuthorizationServer; 2],
    servers: [ProtectedServer; 2],
}

impl SignInTestWorld {
    /// Starts two servers, an authorization server for each, and an app that uses both servers.
    async fn new() -> Self {
        let issuer = || {
            AuthorizationServer::start(AuthorizationScript {
                auth_methods: vec!["client_secret_basic".into()],
                ..AuthorizationScript::default()
            })
        };
        let issuers = [issuer().await, issuer().await];
        let server = |issuer| ProtectedServer::start(ProtectedScript::default(), issuer);
        let servers = [server(&[&issuers[0]]).await, server(&[&issuers[1]]).await];
        let configs = SERVER_NAMES.into_iter().zip(servers.iter().map(|server| remote_config(&server.url()))).collect();
        let app = TestApp::start(configs).await;
        app.platform.browses.store(true, Ordering::Relaxed);
        Self { app, issuers, servers }
    }

    async fn execute(&self, event: &RandomSignInEvent, number: usize) {
        let host = &self.app.host;
        let name = |at: usize| SERVER_NAMES[at].to_owned();
        match *event {
            RandomSignInEvent::SignIn(at) => drop(host.sign_in(name(at)).await),
            RandomSignInEvent::SignOut(at) => drop(host.sign_out(name(at)).await),
            RandomSignInEvent::ChangeAccount(at) => drop(host.change_account(name(at)).await),
            RandomSignInEvent::Call(at) => {
                let (host, name) = (host.clone(), name(at));
                let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
                // Calls may fail, as expected. Only the sent requests are compared.
                tokio::spawn(async move {
                    host.call_tool(format!("call-{number}"), name, "echo".into(), arguments, None).await
                });
            }
            RandomSignInEvent::Start(at) => drop(host.start_server(name(at)).await),
            RandomSignInEvent::Stop(at) => drop(host.stop_server(name(at)).await),
            RandomSignInEvent::Cancel(at) => drop(host.cancel_sign_in(name(at)).await),
            RandomSignInEvent::Moves(at, to) => self.servers[at].set_issuers(&[&self.issuers[to]]),
            RandomSignInEvent::NamesBoth(at) => self.servers[at].set_issuers(&[&self.issuers[1], &self.issuers[0]]),
            RandomSignInEvent::ClaimsOther(at, does) => {
                let other = json!(self.servers[1 - at].url());
                let claim = Map::from_iter(does.then(|| ("resource".to_owned(), other)));
                self.servers[at].set(|script| script.overrides = claim);
            }
            RandomSignInEvent::WantsScope(at) => {
                let scope = format!("scope-{number}");
                self.servers[at].set(|script| script.tool_scopes = [("echo".to_owned(), scope)].into());
            }
            RandomSignInEvent::Refuses(at, does) => self.servers[at].set(|script| {
                script.refusing = if does { RefusalBehaviour::Unauthorized } else { RefusalBehaviour::Nothing }
            }),
            RandomSignInEvent::EndsAccess(at) => self.issuers[at].invalidate_access_tokens(),
            RandomSignInEvent::EndsAll(at) => self.issuers[at].invalidate_all_tokens(),
            RandomSignInEvent::RefreshFails(at, does) => self.issuers[at].set(|script| {
                script.refresh =
                    if does { RefreshBehaviour::Fails("invalid_grant".into()) } else { RefreshBehaviour::Rotating };
            }),
            RandomSignInEvent::Impersonates(at, does) => {
                let other = self.issuers[1 - at].issuer();
                let claim = Map::from_iter(does.then(|| ("issuer".to_owned(), json!(other))));
                let iss = if does { IssParameter::Other(other) } else { IssParameter::Own };
                self.issuers[at].set(|script| (script.overrides, script.iss) = (claim, iss));
            }
            RandomSignInEvent::Waits => advance_time(Duration::from_millis(150)).await,
        }
    }

    fn assert_no_leaks(&self, events: &[RandomSignInEvent]) {
        let [one, other] = &self.issuers;
        let [first, second] = &self.servers;
        let found = find_leaked_credentials(&[one, other], &[first, second]);
        assert!(found.is_empty(), "no credential reaches another server after {events:?}, but found: {found:#?}");
    }
}

async fn run_sign_in_events(events: Vec<RandomSignInEvent>) {
    let world = SignInTestWorld::new().await;
    let user = world.app.decide_automatically(allow_starts_and_tools);
    for name in SERVER_NAMES {
        world.app.host.start_server(name.into()).await.unwrap();
    }
    for name in SERVER_NAMES {
        world.app.until(name, "in use", |s| s.state == ServerState::Ready).await;
    }
    assert_eq!(world.issuers.each_ref().map(|issuer| issuer.valid_token_counts().0), [1, 1], "both sign-ins succeed");
    for (number, event) in events.iter().enumerate() {
        world.execute(event, number).await;
        world.assert_no_leaks(&events[..=number]);
    }
    advance_time(Duration::from_secs(5)).await;
    user.abort();
    world.app.host.close().await;
    world.assert_no_leaks(&events);
}

/// Runs random sequences of events at two servers with two issuers. The host must send no credential to a party that it
/// is not meant for. Covers the MCP requirements [auth-only-own-as-tokens] [auth-credentials-no-reuse]
/// [auth-credentials-per-as].
#[test]
fn x51_no_order_of_actions_sends_credentials_to_another_server() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut config =
        Config { cases: RANDOM_SEQUENCE_COUNT, max_shrink_iters: 60, failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(seeded_random("orders").u64(..));
    }
    let seed = config.rng_seed;
    TestRunner::new(config)
        .run(&events_strategy(), |events| {
            let ran = runtime.block_on(async { tokio::spawn(run_sign_in_events(events)).await });
            ran.map_err(|error| TestCaseError::fail(error.to_string()))
        })
        .unwrap_or_else(|error| panic!("X51, PROPTEST_RNG_SEED={seed}: {error}"));
}
