//! A sign-in from end to end: whom to ask, as whom, with the user's consent, through the browser, to the tokens.

use crate::account::Account;
use crate::address;
use crate::authorization::Shared;
use crate::callback::Callback;
use crate::challenge::Asked;
use crate::client::{self, Client, Registration, Way};
use crate::dpop::{DpopKey, seconds};
use crate::error::{AuthError, Cause, Phase};
use crate::record::{Record, Tokens};
use crate::resource::{self, Resource};
use crate::scopes::{self, Sources};
use crate::secret::Kept;
use crate::server::{self, Server};
use crate::settings::{DpopUse, GrantKind};
use crate::token::{Granted, TokenEndpoint};
use crate::user::Reason;
use crate::visit::Visit;

/// Whom to ask for a token, and for what.
pub(crate) struct Found {
    pub(crate) server: Server,
    /// What goes into `resource`, byte for byte.
    pub(crate) resource: String,
    /// `scopes_supported` of the protected resource.
    pub(crate) scopes: Option<Vec<String>>,
    /// Whether the server itself takes bound tokens.
    dpop: bool,
}

impl Shared {
    /// Runs the flow of this authorization's grant.
    pub(crate) async fn flow(&self, why: Reason, asked: Option<Asked>) -> Result<Account, AuthError> {
        match &self.settings.grant {
            GrantKind::AuthorizationCode => self.by_browser(why, asked).await,
            GrantKind::EnterpriseManaged(provider) if provider.id_token.is_none() => {
                let id_token = self.sign_in_at_provider(provider, why).await?;
                self.by_itself(asked, Some(id_token)).await
            }
            _ => self.by_itself(asked, None).await,
        }
    }

    /// Finds the authorization server. If it is another than before, all that the old one gave is dropped.
    pub(crate) async fn discover(&self, asked: &Asked) -> Result<Found, AuthError> {
        let url = &self.settings.server;
        let resource = resource::discover(&self.web, url, asked.resource_metadata.as_deref()).await?;
        self.progress(Phase::ServerMetadata, None);
        let named = self.settings.issuer.as_deref();
        let server = match &resource {
            Some(resource) if !resource.authorization_servers.is_empty() => {
                let issuer = self.choose_issuer(resource)?;
                server::discover(&self.web, &issuer).await?
            }
            _ => match named {
                Some(issuer) => server::discover(&self.web, issuer).await?,
                None => {
                    self.web.note(
                        Phase::ServerMetadata,
                        "the server names no authorization server; its own origin is asked",
                    );
                    server::discover_at_origin(&self.web, url).await?
                }
            },
        };
        let old = self.state().record.as_ref().map(|record| record.issuer.clone());
        if old.is_some_and(|old| old != server.issuer) {
            self.web.note(
                Phase::ServerMetadata,
                "the server now has another authorization server; all that the old one gave is dropped",
            );
            self.forget(false).await?;
        }
        let dpop = asked.dpop || resource.as_ref().is_some_and(|resource| resource.dpop);
        let (resource, scopes) = match resource {
            Some(resource) => (resource.identifier, resource.scopes),
            None => (crate::resource::canonical(url), None),
        };
        Ok(Found { server, resource, scopes, dpop })
    }

    /// What the server asks for. If it has not said so before, it is asked: by a request without a token, whose answer
    /// has no body.
    async fn known(&self, asked: Option<Asked>) -> Result<Asked, AuthError> {
        let server = crate::resource::canonical(&self.settings.server);
        // A token must not travel in the open.
        let checked = address::endpoint("the server", &server, self.web.named());
        checked.map_err(|cause| Phase::ResourceMetadata.error(cause))?;
        if let Some(asked) = asked {
            return Ok(asked);
        }
        let request =
            http::Request::head(&server).header("accept", "application/json, text/event-stream").body(Vec::new());
        let Ok(request) = request else { return Ok(Asked::default()) };
        let answer = self.web.send(Phase::ResourceMetadata, request).await?;
        let lines = answer.headers().get_all("www-authenticate").iter();
        let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect();
        let is_challenge = answer.status().as_u16() == 401;
        self.web.conclude(if is_challenge {
            "the server wants a sign-in"
        } else {
            "the server does not say what it wants"
        });
        let asked = if is_challenge { Asked::parse(&lines) } else { Asked::default() };
        self.state().asked = Some(asked.clone());
        Ok(asked)
    }

    /// Of several authorization servers, the one that the user named, else the one of the client id that is set up,
    /// else the one that was used before, else the first (RFC 9728, 7.6).
    fn choose_issuer(&self, resource: &Resource) -> Result<String, AuthError> {
        let listed = &resource.authorization_servers;
        let first = listed.first().cloned().unwrap_or_default();
        if let Some(named) = &self.settings.issuer {
            if listed.contains(named) {
                return Ok(named.clone());
            }
            return Err(Phase::ResourceMetadata.error(Cause::OtherIssuer {
                what: "the issuer in the settings",
                expected: address::shown(named),
                found: address::shown(&first),
            }));
        }
        let preregistered = self.settings.client.preregistered.as_ref().and_then(|client| client.issuer.clone());
        let before = self.state().record.as_ref().map(|record| record.issuer.clone());
        let preferred = [preregistered, before].into_iter().flatten().find(|issuer| listed.contains(issuer));
        Ok(preferred.unwrap_or(first))
    }

    /// All scopes to ask for.
    fn scopes(&self, why: Option<&Reason>, asked: &Asked, found: &Found, refreshable: bool) -> Vec<String> {
        let before = match why {
            Some(Reason::SignIn | Reason::AnotherAccount) => Vec::new(),
            Some(Reason::StepUp { .. } | Reason::Again { .. }) | None => {
                let state = self.state();
                let record = state.record.as_ref();
                record.map_or_else(Vec::new, |record| scopes::union(&record.requested, &record.granted))
            }
        };
        scopes::select(&Sources {
            challenge: asked.scope.as_deref(),
            settings: self.settings.scopes.as_deref(),
            resource: found.scopes.as_deref(),
            server: found.server.scopes.as_deref(),
            before: &before,
            refreshable,
        })
    }

    /// The key to bind tokens to, where that is understood.
    fn binding_key(&self, found: &Found) -> Result<Option<DpopKey>, AuthError> {
        let is_used = match self.settings.dpop {
            DpopUse::Never => false,
            DpopUse::Always => true,
            DpopUse::Auto => found.server.dpop && found.dpop,
        };
        if !is_used {
            return Ok(None);
        }
        let before = self.state().record.as_ref().and_then(Record::key);
        let key = before.map_or_else(DpopKey::generate, Ok).map_err(|cause| Phase::Token.error(cause))?;
        self.web.learn(&key.kept().0);
        Ok(Some(key))
    }

    async fn by_browser(&self, why: Reason, asked: Option<Asked>) -> Result<Account, AuthError> {
        let asked = self.known(asked).await?;
        let found = self.discover(&asked).await?;
        let server = &found.server;
        if !server.s256 {
            let issuer = address::shown(&server.issuer);
            return Err(Phase::ServerMetadata.error(Cause::NoPkce { issuer }));
        }
        let key = self.binding_key(&found)?;
        let scopes = self.scopes(Some(&why), &asked, &found, true);
        self.progress(Phase::ClientId, None);
        let (client, callback, redirect_uri, reused) = self.identify(server, key.is_some()).await?;
        let visit = Visit {
            server,
            client: &client,
            redirect_uri: &redirect_uri,
            scopes: &scopes,
            resource: Some(&found.resource),
            openid_nonce: None,
            reason: why,
        };
        let visited = self.visit(visit, callback).await;
        let (code, verifier, waiting) = match visited {
            Ok(visited) => visited,
            Err(error) => {
                // The browser shows an unknown client to the user alone, so a kept one is not trusted after a failure.
                if reused && matches!(error.cause, Cause::TimedOut | Cause::Cancelled | Cause::Refused { .. }) {
                    self.forget_client(&server.issuer).await?;
                }
                return Err(error);
            }
        };
        self.progress(Phase::Token, None);
        let endpoint = self.endpoint(server, &client, key.as_ref(), Phase::Token);
        let granted = endpoint.code(&code, verifier, &redirect_uri, Some(&found.resource)).await;
        match granted {
            Ok(granted) => {
                self.progress(Phase::Storage, None);
                let account = self.keep(&found, client, key.as_ref(), scopes, &granted, None).await;
                waiting.finish(Ok(())).await;
                Ok(account)
            }
            Err(error) => {
                if matches!(&error.cause, Cause::Refused { code, .. } if is_client_error(code)) {
                    self.forget_client(&server.issuer).await?;
                }
                waiting.finish(Err(&error.to_string())).await;
                Err(error)
            }
        }
    }

    /// A token that needs no user: client credentials, a workload's statement, the organization's grant.
    pub(crate) async fn by_itself(&self, asked: Option<Asked>, id_token: Option<Kept>) -> Result<Account, AuthError> {
        let asked = self.known(asked).await?;
        let found = self.discover(&asked).await?;
        let server = &found.server;
        let key = self.binding_key(&found)?;
        let mut scopes = self.scopes(None, &asked, &found, false);
        let client = self.known_client(server).await?;
        let resource = Some(found.resource.as_str());
        let endpoint = self.endpoint(server, &client, key.as_ref(), Phase::Token);
        let granted = match &self.settings.grant {
            GrantKind::WorkloadIdentity { assertion } => {
                self.web.learn(assertion);
                endpoint.jwt_bearer(assertion, &scopes, resource).await?
            }
            GrantKind::EnterpriseManaged(provider) => {
                let kept = id_token.as_ref();
                let (grant, reduced) = self.provider_grant(provider, kept, server, &found.resource, &scopes).await?;
                // To ask for more than the organization allows would be refused.
                scopes = reduced.unwrap_or(scopes);
                endpoint.jwt_bearer(&grant, &scopes, resource).await?
            }
            GrantKind::AuthorizationCode | GrantKind::ClientCredentials => {
                endpoint.client_credentials(&scopes, resource).await?
            }
        };
        Ok(self.keep(&found, client, key.as_ref(), scopes, &granted, id_token).await)
    }

    pub(crate) fn endpoint<'a>(
        &'a self,
        server: &'a Server,
        client: &'a Client,
        dpop: Option<&'a DpopKey>,
        phase: Phase,
    ) -> TokenEndpoint<'a> {
        TokenEndpoint {
            web: &self.web,
            phase,
            url: &server.token_endpoint,
            issuer: &server.issuer,
            client,
            dpop,
            nonce: &self.server_nonce,
            now: self.now(),
        }
    }

    async fn keep(
        &self,
        found: &Found,
        client: Client,
        key: Option<&DpopKey>,
        requested: Vec<String>,
        granted: &Granted,
        id_token: Option<Kept>,
    ) -> Account {
        let now = self.now();
        let renewed = self.state().record.as_ref().filter(|_| !self.is_interactive()).map(|record| record.signed_in_at);
        let record = Record {
            server: self.server().to_owned(),
            issuer: found.server.issuer.clone(),
            resource: found.resource.clone(),
            token_endpoint: found.server.token_endpoint.clone(),
            revocation_endpoint: found.server.revocation_endpoint.clone(),
            auth_methods: found.server.auth_methods.clone(),
            client: without_settings(client),
            tokens: Some(Tokens::new(granted, None, now)),
            granted: granted.scopes.clone().unwrap_or_else(|| requested.clone()),
            requested,
            signed_in_at: renewed.unwrap_or_else(|| seconds(now)),
            refreshed_at: renewed.map(|_| seconds(now)),
            ended: None,
            dpop_key: key.map(|key| key.kept().clone()),
            id_token,
        };
        let account = record.account(!self.is_interactive());
        self.install(record).await;
        account
    }

    /// The client id to use, and where the browser may come back to with it. Whether it was registered earlier.
    async fn identify(&self, server: &Server, dpop: bool) -> Result<(Client, Callback, url::Url, bool), AuthError> {
        let source = &self.settings.client;
        let first = match &source.preregistered {
            Some(preregistered) => self.first_issuer(&preregistered.client_id).await?,
            None => None,
        };
        let kept = self.registration(&server.issuer).await?;
        let methods = server.auth_methods.as_deref();
        match client::way(source, server, kept, first.as_deref())? {
            Way::Preregistered(preregistered) => {
                let callback = Callback::bind(preregistered.redirect_port, true).await?;
                if preregistered.issuer.is_none() && first.is_none() {
                    self.keep_first_issuer(&preregistered.client_id, &server.issuer).await;
                }
                let client = client::preregistered(&preregistered, methods);
                self.ready(client, callback, false)
            }
            Way::Document(url) => {
                let callback = Callback::bind(None, false).await?;
                self.ready(client::document_client(&url), callback, false)
            }
            Way::Registered(kept) => {
                self.learn_client(&kept.client);
                let port = kept.redirect_uri.as_ref().and_then(url::Url::port);
                let callback = Callback::bind(port, false).await?;
                match (&server.registration_endpoint, kept.redirect_uri) {
                    // The port is taken, and only what is registered may be used.
                    (Some(endpoint), Some(_)) if port != Some(callback.port()) => {
                        self.register(server, endpoint, callback, dpop).await
                    }
                    (_, Some(redirect_uri)) if port == Some(callback.port()) => {
                        Ok((kept.client, callback, redirect_uri, true))
                    }
                    _ => self.ready(kept.client, callback, true),
                }
            }
            Way::Register(endpoint) => {
                let callback = Callback::bind(None, false).await?;
                self.register(server, &endpoint, callback, dpop).await
            }
            Way::Ask => {
                let typed = self.settings.user.client_id(&server.issuer).await;
                let Some(typed) = typed.filter(|typed| !typed.client_id.is_empty()) else {
                    let issuer = address::shown(&server.issuer);
                    return Err(Phase::ClientId.error(Cause::NoClientId { issuer }));
                };
                let callback = Callback::bind(typed.redirect_port, typed.redirect_port.is_some()).await?;
                let client = client::typed(&typed, methods);
                let redirect_uri = match typed.redirect_port {
                    Some(_) => Some(callback.redirect_uri()?),
                    None => None,
                };
                let registration = Registration {
                    issuer: server.issuer.clone(),
                    client: client.clone(),
                    redirect_uri,
                    expires_at: None,
                };
                self.keep_registration(&registration).await;
                self.ready(client, callback, false)
            }
        }
    }

    fn ready(
        &self,
        client: Client,
        callback: Callback,
        reused: bool,
    ) -> Result<(Client, Callback, url::Url, bool), AuthError> {
        self.learn_client(&client);
        let redirect_uri = callback.redirect_uri()?;
        Ok((client, callback, redirect_uri, reused))
    }

    async fn register(
        &self,
        server: &Server,
        endpoint: &url::Url,
        callback: Callback,
        dpop: bool,
    ) -> Result<(Client, Callback, url::Url, bool), AuthError> {
        let redirect_uri = callback.redirect_uri()?;
        let registration =
            client::register(&self.web, &self.settings.client, server, endpoint, &redirect_uri, dpop).await?;
        self.keep_registration(&registration).await;
        let redirect_uri = registration.redirect_uri.unwrap_or(redirect_uri);
        Ok((registration.client, callback, redirect_uri, false))
    }

    fn learn_client(&self, client: &Client) {
        use crate::client::Authentication;

        match &client.authentication {
            Authentication::Basic(secret) | Authentication::Post(secret) => self.web.learn(&secret.0),
            Authentication::PrivateKeyJwt { key_pem, .. } => self.web.learn(&key_pem.0),
            Authentication::None => {}
        }
    }

    /// The client of the settings; for a grant without a user there is no other way (but a document's URL, where the
    /// organization's grant may go with it).
    async fn known_client(&self, server: &Server) -> Result<Client, AuthError> {
        let source = &self.settings.client;
        let first = match &source.preregistered {
            Some(preregistered) => self.first_issuer(&preregistered.client_id).await?,
            None => None,
        };
        let is_enterprise = matches!(self.settings.grant, GrantKind::EnterpriseManaged(_));
        match client::way(source, server, None, first.as_deref())? {
            Way::Preregistered(preregistered) => {
                if preregistered.issuer.is_none() && first.is_none() {
                    self.keep_first_issuer(&preregistered.client_id, &server.issuer).await;
                }
                let client = client::preregistered(&preregistered, server.auth_methods.as_deref());
                self.learn_client(&client);
                Ok(client)
            }
            Way::Document(url) if is_enterprise => Ok(client::document_client(&url)),
            _ => Err(Phase::ClientId.error(Cause::NoClientId { issuer: address::shown(&server.issuer) })),
        }
    }

    /// The client of a record, with what the settings say at present.
    pub(crate) fn current_client(&self, record: &Record) -> Client {
        let preregistered = self.settings.client.preregistered.as_ref();
        match preregistered.filter(|preregistered| preregistered.client_id == record.client.id) {
            Some(preregistered) if record.client.kind == crate::account::ClientKind::Preregistered => {
                let client = client::preregistered(preregistered, record.auth_methods.as_deref());
                self.learn_client(&client);
                client
            }
            _ => {
                self.learn_client(&record.client);
                record.client.clone()
            }
        }
    }
}

/// A client of the settings keeps its secrets there.
fn without_settings(client: Client) -> Client {
    match client.kind {
        crate::account::ClientKind::Preregistered => {
            Client { authentication: crate::client::Authentication::None, ..client }
        }
        _ => client,
    }
}

/// Whether an error code says that the client is not known (any more).
pub(crate) fn is_client_error(code: &str) -> bool {
    matches!(code, "invalid_client" | "unauthorized_client")
}
