//! Tests of TLS: a server without a valid certificate receives no data, and the cause is reported. A server with a
//! certificate of a trusted authority can be used. The system defines the trusted authorities. On Linux, an environment
//! variable can name a file with them.

use testkit::http::{HttpServer, ordinary};
use testkit::tls::{CertificateAuthority, TlsIdentity, TlsTerminator};

use super::opening::assert_start_fails;
use super::{LEGACY_REVISION, remote_server};
use crate::own_process;
use crate::pair::GoodAndBadServers;

async fn start_unencrypted_server() -> HttpServer {
    HttpServer::start(|request, answer| async move { ordinary::respond(LEGACY_REVISION, &request, answer).await }).await
}

/// Writes the certificate of an authority to a file. Returns the folder, and the path of the file for the environment
/// variable `SSL_CERT_FILE`.
pub(super) fn write_trust_file(authority: &CertificateAuthority) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trusted.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let path = file.to_str().unwrap().to_owned();
    (folder, path)
}

/// Environment variable that tells the separate test process which words the error message must contain.
const EXPECTED_ERROR_WORDS_VARIABLE: &str = "EXPECTED_WORDS";

#[tokio::test]
async fn server_with_an_invalid_certificate_is_rejected() {
    if let Some(url) = own_process::inherited_server_url() {
        let words = std::env::var(EXPECTED_ERROR_WORDS_VARIABLE).expect("what is expected is given along");
        assert_start_fails(url, "TLS", &["certificate", &words]).await;
        return;
    }
    let authority = CertificateAuthority::new();
    let (_folder, trusted) = write_trust_file(&authority);
    for (about, identity, words) in [
        ("a self-signed certificate", TlsIdentity::self_signed("127.0.0.1"), "trusts"),
        ("a certificate of an unknown authority", CertificateAuthority::new().identity("127.0.0.1"), "trusts"),
        ("another's certificate", authority.identity("harbour.test"), "another name"),
        ("a certificate of the last century", authority.expired_identity("127.0.0.1"), "expired"),
    ] {
        let server = start_unencrypted_server().await;
        let front = TlsTerminator::in_front_of(server.address, &identity).await;
        let test = "server_with_an_invalid_certificate_is_rejected";
        let environment = [("SSL_CERT_FILE", trusted.as_str()), (EXPECTED_ERROR_WORDS_VARIABLE, words)];
        own_process::run_test_in_process(module_path!(), test, &front.url("/mcp"), &environment).await;
        assert!(
            server.received_requests().is_empty(),
            "TLS, {about}: no request was sent: {:?}",
            server.received_requests()
        );
    }
}

#[tokio::test]
async fn server_with_a_trusted_certificate_is_used() {
    let what = "TLS, a trusted certificate";
    if let Some(url) = own_process::inherited_server_url() {
        let pair = GoodAndBadServers::ready(remote_server(url)).await;
        let call = pair.call_bad_server(what).await;
        pair.assert_call_ended(what, &call, &[]);
        pair.close(what).await;
        return;
    }
    let (authority, server) = (CertificateAuthority::new(), start_unencrypted_server().await);
    let (_folder, trusted) = write_trust_file(&authority);
    let front = TlsTerminator::in_front_of(server.address, &authority.identity("127.0.0.1")).await;
    let test = "server_with_a_trusted_certificate_is_used";
    own_process::run_test_in_process(module_path!(), test, &front.url("/mcp"), &[("SSL_CERT_FILE", &trusted)]).await;
    assert!(front.handshake_count() >= 1, "{what}: the connection uses TLS");
    assert_eq!(server.count("tools/call"), 1, "{what}: the server receives the call");
}
