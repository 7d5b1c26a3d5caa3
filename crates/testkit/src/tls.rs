//! Valid and invalid TLS certificates, and a TLS terminator in front of a scripted server. Each test creates its own
//! certificate authority.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Certificate authority that a test creates. Clients trust it only if the test configures that.
pub struct CertificateAuthority(CertifiedIssuer<'static, KeyPair>);

/// Certificate of a server with its private key.
#[derive(Debug)]
pub struct TlsIdentity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
}

impl CertificateAuthority {
    /// Creates a certificate authority that no client trusts by default.
    ///
    /// # Panics
    /// Panics if the system provides no randomness.
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, generate_key()).unwrap_or_else(|e| panic!("an authority: {e}")))
    }

    /// Returns the certificate of the authority in PEM, to be added to the trusted certificates of a client.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for this host name or IP address.
    ///
    /// # Panics
    /// Panics if the host is neither a name nor an address.
    pub fn identity(&self, host: &str) -> TlsIdentity {
        self.sign_identity(certificate_params(host))
    }

    /// Issues a certificate that expired in 2001, for this host name or IP address.
    ///
    /// # Panics
    /// Panics if the host is neither a name nor an address.
    pub fn expired_identity(&self, host: &str) -> TlsIdentity {
        let mut params = certificate_params(host);
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
        self.sign_identity(params)
    }

    fn sign_identity(&self, params: CertificateParams) -> TlsIdentity {
        let key = generate_key();
        let certificate = params.signed_by(&key, &self.0).unwrap_or_else(|e| panic!("a certificate: {e}"));
        TlsIdentity::new(certificate.der(), &key)
    }
}

impl Default for CertificateAuthority {
    fn default() -> Self {
        Self::new()
    }
}

impl TlsIdentity {
    /// Creates a self-signed certificate for this host name or IP address.
    ///
    /// # Panics
    /// Panics if the host is neither a name nor an address.
    pub fn self_signed(host: &str) -> Self {
        let key = generate_key();
        let certificate = certificate_params(host).self_signed(&key).unwrap_or_else(|e| panic!("a certificate: {e}"));
        Self::new(certificate.der(), &key)
    }

    fn new(certificate: &CertificateDer<'static>, key: &KeyPair) -> Self {
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        Self { certificate: certificate.clone(), key }
    }

    /// Returns an acceptor for TLS connections with this certificate that negotiates these protocols (ALPN).
    pub(crate) fn acceptor(&self, protocols: &[&[u8]]) -> TlsAcceptor {
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![self.certificate.clone()], self.key.clone_key())
            });
        let mut config = config.unwrap_or_else(|e| panic!("TLS with a made-up certificate: {e}"));
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

fn generate_key() -> KeyPair {
    KeyPair::generate().unwrap_or_else(|e| panic!("a key: {e}"))
}

fn certificate_params(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).unwrap_or_else(|e| panic!("{host}: {e}"))
}

/// TLS terminator in front of a plain HTTP/1.1 server. The terminator stops when this value is dropped.
#[derive(Debug)]
pub struct TlsTerminator {
    /// Address on which the terminator listens.
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl TlsTerminator {
    /// Starts a TLS terminator that forwards connections to `server`.
    ///
    /// # Panics
    /// Panics if there is no free port.
    pub async fn in_front_of(server: SocketAddr, identity: &TlsIdentity) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap_or_else(|e| panic!("no free port: {e}"));
        let address = listener.local_addr().unwrap_or_else(|e| panic!("a listener has no address: {e}"));
        let (acceptor, accepted) = (identity.acceptor(&[b"http/1.1"]), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&accepted);
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                connections.spawn(relay_connection(client, acceptor.clone(), server, Arc::clone(&count)));
            }
        });
        Self { address, accepted, accepting }
    }

    /// Returns the `https` URL of a path on the server behind this terminator.
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    /// Returns the number of connections that completed the TLS handshake.
    pub fn handshake_count(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }
}

impl Drop for TlsTerminator {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn relay_connection(
    client: TcpStream,
    acceptor: TlsAcceptor,
    server: SocketAddr,
    count: Arc<AtomicUsize>,
) -> io::Result<()> {
    let mut client = acceptor.accept(client).await?;
    count.fetch_add(1, Ordering::Relaxed);
    let mut server = TcpStream::connect(server).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await.map(|_| ())
}
