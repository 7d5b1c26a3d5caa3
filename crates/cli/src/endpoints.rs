//! Describes the sign-in settings and the endpoints that receive credentials.

use api::data::{AuthField, AuthSetting, EndpointUse, SignInEndpoint};

use crate::terminal_escape::escape_line;

/// Formats the sign-in settings of a server, one per line. If `unattended` is set, adds that each sign-in happens
/// without consent.
pub(crate) fn sign_in_settings_text(settings: &[AuthSetting], unattended: bool) -> String {
    let mut text = String::new();
    if settings.is_empty() {
        return text;
    }
    text.push_str("  How it signs in:\n");
    for setting in settings {
        let value = if setting.secret {
            format!("the secret {} from the keychain", escape_line(&setting.value))
        } else {
            escape_line(&setting.value)
        };
        text.push_str(&format!("    {:<24} {value}\n", auth_field_text(setting.field)));
        if setting.is_on_other_domain {
            text.push_str("    WARNING: this endpoint is not at the domain of the identity provider\n");
        }
    }
    if unattended {
        text.push_str("  It signs in automatically: these credentials are sent without consent each time.\n");
    }
    text
}

/// Formats the endpoints to which a sign-in sends credentials, one per line.
pub(crate) fn sign_in_endpoints_text(endpoints: &[SignInEndpoint]) -> String {
    let mut text = String::from("  Credentials and tokens are sent to:\n");
    for endpoint in endpoints {
        text.push_str(&format!("    {:<12} {}\n", endpoint_use_text(endpoint.purpose), escape_line(&endpoint.url.url)));
        if endpoint.is_on_other_domain {
            let (domain, issuer) = (escape_line(&endpoint.url.domain), escape_line(&endpoint.issuer));
            text.push_str(&format!("    WARNING: {domain} is another domain than that of {issuer}\n"));
        }
    }
    text
}

const fn endpoint_use_text(purpose: EndpointUse) -> &'static str {
    match purpose {
        EndpointUse::Token => "for tokens",
        EndpointUse::Provider => "who you are",
        EndpointUse::Registration => "registration",
        EndpointUse::Revocation => "revocation",
    }
}

const fn auth_field_text(field: AuthField) -> &'static str {
    match field {
        AuthField::Grant => "grant",
        AuthField::Issuer => "issuer",
        AuthField::ClientId => "client id",
        AuthField::ClientAuth => "client authentication",
        AuthField::ClientSecret => "client secret",
        AuthField::PrivateKey => "private key",
        AuthField::Algorithm => "algorithm",
        AuthField::ClientMetadataUrl => "client metadata",
        AuthField::RedirectPort => "redirect port",
        AuthField::Scopes => "scopes",
        AuthField::Dpop => "bound to a key (DPoP)",
        AuthField::Assertion => "assertion",
        AuthField::ProviderIssuer => "provider",
        AuthField::ProviderTokenEndpoint => "provider token endpoint",
        AuthField::ProviderClientId => "provider client ID",
        AuthField::ProviderClientAuth => "provider authentication",
        AuthField::ProviderClientSecret => "provider client secret",
        AuthField::ProviderPrivateKey => "provider private key",
        AuthField::ProviderAlgorithm => "provider algorithm",
        AuthField::ProviderIdToken => "provider ID token",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use api::data::{
        AuthField, AuthSetting, ClientIdentity, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin,
        EarlierApproval, EndpointUse, ReviewMarks, SignInEndpoint, SignInReason, UrlParts,
    };

    use crate::consent_request_text;

    fn url_parts(domain: &str, path: &str) -> UrlParts {
        UrlParts {
            url: format!("https://{domain}{path}"),
            before: "https://".into(),
            domain: domain.into(),
            after: path.into(),
            ascii_host: None,
            warnings: Vec::new(),
            openable: true,
        }
    }

    fn connect_request_text(body: ConsentRequestBody) -> String {
        consent_request_text::consent_request_text(&ConsentRequest {
            id: "1".into(),
            hash: "h".into(),
            server: "far".into(),
            transport: "http".into(),
            command_line: String::new(),
            asked_at: 0,
            origin: ConsentRequestOrigin::User { conversation: None },
            round: None,
            body,
            scopes: Vec::new(),
            reason: String::new(),
            stricter_reason: None,
            marks: ReviewMarks {
                review: None,
                outdated: false,
                diff: None,
                look_alikes: Vec::new(),
                flags: Vec::new(),
            },
            call: None,
        })
    }

    fn connect_body(auth: Vec<AuthSetting>, earlier_approval: Option<EarlierApproval>) -> ConsentRequestBody {
        ConsentRequestBody::ConnectServer {
            url: url_parts("mcp.example", "/"),
            headers: Vec::new(),
            transport_kind: None,
            unencrypted: false,
            unattended: earlier_approval.is_none(),
            auth,
            earlier_approval,
        }
    }

    #[test]
    fn s01_connection_is_described_with_all_credential_endpoints() {
        let setting = |field, value: &str, url: Option<UrlParts>| {
            let is_on_other_domain = url.as_ref().is_some_and(|url| url.domain == "evil.example");
            let secret = field == AuthField::ClientSecret;
            AuthSetting { field, value: value.into(), secret, url, is_on_other_domain }
        };
        let settings = vec![
            setting(AuthField::Grant, "enterprise_managed", None),
            setting(AuthField::Issuer, "https://as.example/1", Some(url_parts("as.example", "/1"))),
            setting(AuthField::ProviderTokenEndpoint, "https://evil.example/t", Some(url_parts("evil.example", "/t"))),
            setting(AuthField::ClientSecret, "harbour", None),
            setting(AuthField::Scopes, "read write", None),
        ];
        let text = connect_request_text(connect_body(settings, None));
        for words in [
            "enterprise_managed",
            "https://as.example/1",
            "provider token endpoint  https://evil.example/t",
            "WARNING: this endpoint is not at the domain of the identity provider",
            "the secret harbour from the keychain",
            "read write",
            "without consent each time",
        ] {
            assert!(text.contains(words), "S01: the text should contain {words}: {text}");
        }
    }

    #[test]
    fn earlier_approval_is_described_as_changed_only_where_its_text_differs() {
        let text_with = |before: &str, now: &str| {
            let approval = EarlierApproval { approved: before.into(), requested: now.into() };
            connect_request_text(connect_body(Vec::new(), Some(approval)))
        };
        let (one, other) = ("https://mcp.example/ (with X-Team)", "https://mcp.example/ (with X-Key)");
        let same = text_with(one, one);
        assert!(same.contains("CHANGED: https://mcp.example/ (with X-Team) was approved before, but"), "{same}");
        let changed = text_with(one, other);
        assert!(changed.contains("CHANGED: approved before was  https://mcp.example/ (with X-Team)"), "{changed}");
    }

    #[test]
    fn s07_sign_in_is_described_with_its_endpoints() {
        let sign_in = |authorization_url: Option<UrlParts>| ConsentRequestBody::SignIn {
            url: url_parts("mcp.example", "/"),
            issuer: "https://as.example".into(),
            issuer_url: url_parts("as.example", "/"),
            resource: "https://mcp.example/".into(),
            scopes: vec!["read".into(), "write".into()],
            held_scopes: vec!["read".into()],
            client: ClientIdentity::Configured,
            client_id: "us".into(),
            endpoints: vec![SignInEndpoint {
                purpose: EndpointUse::Token,
                url: url_parts("evil.example", "/token"),
                issuer: "https://as.example".into(),
                is_on_other_domain: true,
            }],
            redirect_uri: None,
            is_page_on_other_domain: authorization_url.is_some(),
            authorization_url,
            reason: SignInReason::StepUp { operation: "tools/call".into() },
        };
        let text = connect_request_text(sign_in(Some(url_parts("login.example", "/authorize"))));
        for words in [
            "for tokens   https://evil.example/token",
            "WARNING: evil.example is another domain than that of https://as.example",
            "WARNING: this page is outside the domain of its issuer https://as.example",
        ] {
            assert!(text.contains(words), "S07: the text should contain {words}: {text}");
        }
        let text = connect_request_text(sign_in(None));
        for words in ["no page opens", "write  (NEW)", "for tokens   https://evil.example/token"] {
            assert!(text.contains(words), "S14: expected {words}: {text}");
        }
        assert!(!text.contains("this page"), "without a browser no page should be mentioned: {text}");
    }
}
