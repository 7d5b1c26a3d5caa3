//! Tests of TLS: a server without a valid certificate receives no data, and the cause is reported. A server with a
//! certificate of a trusted authority can be used. The system defines the trusted authorities. On Linux, an environment
//! variable can name a file with them.

use testkit::http::{HttpServer, ordinary};
use testkit::tls::{CertificateAuthority, TlsFront, TlsIdentity};

use super::opening::fails;
use super::{LEGACY, remote};
use crate::own_process;
use crate::pair::ServerPair;

async fn plain() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond(LEGACY, &request, answer).await }).await
}

/// Writes a file with the certificate of an authority. Returns its folder and path, for the variable `SSL_CERT_FILE`.
pub(super) fn trusting(authority: &CertificateAuthority) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trusted.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (folder, path)
}

/// Environment variable with the words that the error message must contain.
const WORDS: &str = "EXPECTED_WORDS";

#[tokio::test]
async fn server_with_an_invalid_certificate_is_rejected() {
    if let Some(url) = own_process::server() {
        let words = std::env::var(WORDS).expect("what is expected is given along");
        fails(url, "TLS", &["certificate", &words]).await;
        return;
    }
    let authority = CertificateAuthority::new();
    let (_folder, trusted) = trusting(&authority);
    for (about, identity, words) in [
        ("a self-signed certificate", TlsIdentity::self_signed("127.0.0.1"), "trusts"),
        ("a certificate of an unknown authority", CertificateAuthority::new().identity("127.0.0.1"), "trusts"),
        ("another's certificate", authority.identity("harbour.test"), "another name"),
        ("a certificate of the last century", authority.expired("127.0.0.1"), "expired"),
    ] {
        let server = plain().await;
        let front = TlsFront::in_front_of(server.address, &identity).await;
        let test = "server_with_an_invalid_certificate_is_rejected";
        let environment = [("SSL_CERT_FILE", trusted.as_str()), (WORDS, words)];
        own_process::run(module_path!(), test, &front.url("/mcp"), &environment).await;
        assert!(server.seen().is_empty(), "TLS, {about}: no request was sent: {:?}", server.seen());
    }
}

#[tokio::test]
async fn server_with_a_trusted_certificate_is_used() {
    let what = "TLS, a trusted certificate";
    if let Some(url) = own_process::server() {
        let pair = ServerPair::ready(remote(url)).await;
        let call = pair.bad_call(what).await;
        pair.ended(what, &call, &[]);
        pair.close(what).await;
        return;
    }
    let (authority, server) = (CertificateAuthority::new(), plain().await);
    let (_folder, trusted) = trusting(&authority);
    let front = TlsFront::in_front_of(server.address, &authority.identity("127.0.0.1")).await;
    let test = "server_with_a_trusted_certificate_is_used";
    own_process::run(module_path!(), test, &front.url("/mcp"), &[("SSL_CERT_FILE", &trusted)]).await;
    assert!(front.handshake_count() >= 1, "{what}: the connection uses TLS");
    assert_eq!(server.count("tools/call"), 1, "{what}: the server receives the call");
}
