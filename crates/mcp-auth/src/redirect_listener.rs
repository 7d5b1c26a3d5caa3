//! Redirect listener on the loopback interface: accepts the expected authorization response, refuses all other requests
//! without ending the sign-in, and shows a page with the result of the sign-in in the browser (RFC 8252, 7.3 and 8.3).

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use crate::error::{AuthError, AuthErrorCause, AuthPhase};
use crate::sign_in_result_page::{self, SignInResultPageLanguage, SignInResultPageText};
use crate::stored_secret;

const PHASE: AuthPhase = AuthPhase::Callback;
/// Maximum time for the user to complete the authorization request in the browser, until the redirect arrives.
pub(crate) const AUTHORIZATION_RESPONSE_TIMEOUT: Duration = Duration::from_secs(300);
/// Path of the redirect URI.
pub(crate) const REDIRECT_PATH: &str = "/callback";
/// Maximum size in bytes of a request that the redirect listener reads.
const MAX_REDIRECT_REQUEST_BYTES: usize = 16 * 1024;
/// Timeout of reading a browser's request to the redirect listener, or of writing the result page.
const REDIRECT_REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of concurrent connections to the redirect listener.
const MAX_REDIRECT_CONNECTIONS: usize = 16;

/// HTTP listener on 127.0.0.1 that receives the authorization response.
pub(crate) struct RedirectListener {
    listener: TcpListener,
    port: u16,
}

/// Authorization response whose `state` parameter was found to be valid.
#[derive(Debug)]
pub(crate) struct AuthorizationResponse {
    pub(crate) answer: AuthorizationResult,
    /// Value of the `iss` parameter (RFC 9207).
    pub(crate) iss: Option<String>,
}

/// Authorization code, or OAuth error, in an authorization response.
#[derive(Debug)]
pub(crate) enum AuthorizationResult {
    Code(SecretString),
    /// OAuth error, which must not be displayed before the issuer is verified.
    Error {
        code: String,
        description: Option<String>,
    },
}

/// Connection of the browser that sent the authorization response, over which the result page is sent. `None` if the
/// user pasted the response.
pub(crate) struct BrowserConnection(Option<(TcpStream, SignInResultPageLanguage)>);

impl RedirectListener {
    /// Binds `port` on 127.0.0.1 if it is free, and otherwise any free port. If `only` is set, fails instead of binding
    /// another port than `port`.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Callback`] if no port can be bound.
    pub(crate) async fn bind(port: Option<u16>, only: bool) -> Result<RedirectListener, AuthError> {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let failed = |error: std::io::Error| {
            let cause = match port.filter(|_| only) {
                Some(port) => format!("port {port}, which the redirect URI names, cannot be bound: {error}"),
                None => format!("no port can be bound: {error}"),
            };
            PHASE.error(AuthErrorCause::Callback { cause })
        };
        let requested = match port {
            Some(port) => TcpListener::bind(at(port)).await.map_err(failed),
            None => TcpListener::bind(at(0)).await.map_err(failed),
        };
        let listener = match requested {
            Err(_) if port.is_some() && !only => TcpListener::bind(at(0)).await.map_err(failed)?,
            other => other?,
        };
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(RedirectListener { listener, port })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the redirect URI of this listener.
    ///
    /// # Errors
    /// Returns [`AuthErrorCause::Callback`] if the URI cannot be parsed, which does not happen for a bound port.
    pub(crate) fn redirect_uri(&self) -> Result<Url, AuthError> {
        let text = format!("http://127.0.0.1:{}{REDIRECT_PATH}", self.port);
        Url::parse(&text).map_err(|error| PHASE.error(AuthErrorCause::Callback { cause: error.to_string() }))
    }

    /// Waits for the valid authorization response. Calls `refused` with the reason for every other request. Ends only
    /// with a valid response.
    pub(crate) async fn wait_for_response(
        self,
        redirect_uri: &Url,
        state: &SecretString,
        refused: impl Fn(&str),
    ) -> (AuthorizationResponse, BrowserConnection) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_REDIRECT_CONNECTIONS => {
                    match accepted {
                        Ok((stream, _)) => {
                            let (redirect_uri, state) = (redirect_uri.clone(), state.clone());
                            connections.spawn(async move { handle_redirect(stream, &redirect_uri, &state).await });
                        }
                        // File descriptors are probably exhausted, which may be temporary.
                        Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                    }
                }
                Some(taken) = connections.join_next() => match taken {
                    Ok(Ok(right)) => return right,
                    Ok(Err(why)) => refused(why),
                    Err(_) => {}
                }
            }
        }
    }
}

impl BrowserConnection {
    /// Returns a connection that shows no page, for a response that the user pasted.
    pub(crate) fn without_browser() -> BrowserConnection {
        BrowserConnection(None)
    }

    /// Sends the result page with the outcome of the sign-in to the browser.
    pub(crate) async fn send_sign_in_result_page(self, outcome: Result<(), &str>) {
        let Some((mut stream, language)) = self.0 else { return };
        let page = match outcome {
            Ok(()) => sign_in_result_page::sign_in_result_page_response(200, SignInResultPageText::SignedIn, language),
            Err(cause) => {
                sign_in_result_page::sign_in_result_page_response(400, SignInResultPageText::Failed(cause), language)
            }
        };
        let _ = tokio::time::timeout(REDIRECT_REQUEST_TIMEOUT, write_sign_in_result_page(&mut stream, &page)).await;
    }
}

/// Reads one request to the redirect listener. Responds immediately to any request that is not the expected
/// authorization response. The browser gets the response to that one at the end of the sign-in.
async fn handle_redirect(
    mut stream: TcpStream,
    redirect_uri: &Url,
    state: &SecretString,
) -> Result<(AuthorizationResponse, BrowserConnection), &'static str> {
    let head = tokio::time::timeout(REDIRECT_REQUEST_TIMEOUT, read_request_head(&mut stream)).await;
    let language = head
        .as_ref()
        .ok()
        .and_then(Option::as_deref)
        .map_or(SignInResultPageLanguage::English, preferred_result_page_language);
    let judged = match head {
        Ok(Some(head)) => parse_redirect_request(&head, redirect_uri, state.expose_secret()),
        _ => Err((400, "it is not a complete request")),
    };
    match judged {
        Ok(returned) => Ok((returned, BrowserConnection(Some((stream, language))))),
        Err((status, why)) => {
            let page = sign_in_result_page::sign_in_result_page_response(
                status,
                SignInResultPageText::UnexpectedRequest,
                language,
            );
            let _ = tokio::time::timeout(REDIRECT_REQUEST_TIMEOUT, write_sign_in_result_page(&mut stream, &page)).await;
            Err(why)
        }
    }
}

/// Returns the preferred language of the browser that sent this request.
fn preferred_result_page_language(head: &str) -> SignInResultPageLanguage {
    let mut headers = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let accept = headers.find(|(name, _)| name.eq_ignore_ascii_case("accept-language"));
    accept.map_or(SignInResultPageLanguage::English, |(_, value)| SignInResultPageLanguage::preferred(value))
}

async fn write_sign_in_result_page(stream: &mut TcpStream, page: &str) -> std::io::Result<()> {
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads a request up to the empty line after its headers. Returns `None` if the request is invalid or too long.
async fn read_request_head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut part = [0; 2048];
    loop {
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            return String::from_utf8(bytes[..end].to_vec()).ok();
        }
        if bytes.len() > MAX_REDIRECT_REQUEST_BYTES {
            return None;
        }
    }
}

type RedirectHttpError = (u16, &'static str);

/// Parses a request as the expected authorization response. The error is the HTTP response with which it is refused.
fn parse_redirect_request(
    head: &str,
    redirect_uri: &Url,
    state: &str,
) -> Result<AuthorizationResponse, RedirectHttpError> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers: Vec<_> = lines.filter_map(|line| line.split_once(':')).collect();
    let all = |name: &str| {
        let named = headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.trim()).collect::<Vec<_>>()
    };
    // Another host name indicates DNS rebinding by a foreign web page.
    let host = redirect_uri.host_str().unwrap_or_default();
    let own = format!("{host}:{}", redirect_uri.port().unwrap_or(80));
    if all("host") != [own.as_str()] {
        return Err((421, "it was meant for another host"));
    }
    if method != "GET" {
        return Err((405, "it is not a GET"));
    }
    // Fetch metadata headers: only a top-level navigation is allowed, not a subresource of a page.
    let is_visit = |name: &str, expected: &str| all(name).iter().all(|value| *value == expected);
    if !is_visit("sec-fetch-mode", "navigate") || !is_visit("sec-fetch-dest", "document") {
        return Err((403, "it comes from within a page"));
    }
    let url = redirect_uri.join(target).ok().filter(|_| target.starts_with('/') && !target.starts_with("//"));
    let Some(url) = url.filter(|url| url.path() == redirect_uri.path()) else {
        return Err((404, "it is for another path"));
    };
    parse_authorization_response(&url, state).map_err(|why| (400, why))
}

/// Parses a URL that the user pasted as the expected authorization response.
///
/// # Errors
/// Returns the reason why it is not the expected response.
pub(crate) fn parse_pasted_redirect(
    text: &str,
    redirect_uri: &Url,
    state: &str,
) -> Result<AuthorizationResponse, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "it is not an address")?;
    let is_same = url.origin() == redirect_uri.origin() && url.path() == redirect_uri.path();
    if is_same { parse_authorization_response(&url, state) } else { Err("it is not the address of this sign-in") }
}

fn parse_authorization_response(url: &Url, state: &str) -> Result<AuthorizationResponse, &'static str> {
    let one = |name: &str| {
        let mut values = url.query_pairs().filter(|(known, _)| known == name).map(|(_, value)| value.into_owned());
        let first = values.next();
        // RFC 6749, 3.1: parameters must not be included more than once.
        if values.next().is_some() { Err("it contains a parameter twice") } else { Ok(first) }
    };
    let given = one("state")?.unwrap_or_default();
    if !stored_secret::constant_time_eq(&given, state) {
        return Err("its state does not belong to this sign-in");
    }
    let iss = one("iss")?;
    let answer = match (one("error")?, one("code")?) {
        (Some(code), _) => AuthorizationResult::Error { code, description: one("error_description")? },
        (None, Some(code)) if !code.is_empty() => AuthorizationResult::Code(SecretString::from(code)),
        (None, _) => return Err("it contains neither a code nor an error"),
    };
    Ok(AuthorizationResponse { answer, iss })
}

/// Checks that the issuer of an authorization response is the expected one (RFC 9207, 2.4). Must be called before any
/// other parameter is used.
///
/// # Errors
/// Returns [`AuthErrorCause::IssuerMismatch`] if the issuer differs, and [`AuthErrorCause::IssuerMissing`] if the
/// response has none although the metadata promises it.
pub(crate) fn check_authorization_response_issuer(
    iss: Option<&str>,
    recorded: &str,
    promised: bool,
) -> Result<(), AuthErrorCause> {
    match iss {
        Some(iss) if iss == recorded => Ok(()),
        Some(iss) => Err(AuthErrorCause::IssuerMismatch {
            place: "the authorization response",
            expected: crate::metadata_address::displayed_text(recorded),
            found: crate::metadata_address::displayed_text(iss),
        }),
        None if promised => Err(AuthErrorCause::IssuerMissing),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
