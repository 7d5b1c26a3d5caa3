//! Describes the sign-in settings and the endpoints that receive credentials.

use api::data::{AuthField, AuthSetting, EndpointUse, SignInEndpoint};

use crate::terminal_escape::escape_line;

/// Formats the sign-in settings of a server, one per line. `unattended` adds that no further consent is requested.
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

/// Formats the endpoints that a sign-in sends credentials to, one per line.
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

    use api::data::{ConsentRequest, ConsentRequestBody};
    use serde_json::{Value, json};

    use crate::consent_request_text;

    fn url(domain: &str, path: &str) -> Value {
        let (before, url) = ("https://", format!("https://{domain}{path}"));
        json!({ "url": url, "before": before, "domain": domain, "after": path, "asciiHost": null, "warnings": [],
            "openable": true })
    }

    fn connect_request_text(body: &Value) -> String {
        let body: ConsentRequestBody = serde_json::from_value(body.clone()).unwrap();
        let mut request = json!({ "id": "1", "hash": "h", "server": "far", "transport": "http", "commandLine": "",
            "askedAt": 0, "origin": { "by": "user", "conversation": null }, "round": null, "body": null,
            "scopes": ["once"], "reason": "", "call": null,
            "marks": { "review": null, "outdated": false, "diff": null, "lookAlikes": [], "flags": [] } });
        request["body"] = json!(body);
        let request: ConsentRequest = serde_json::from_value(request).unwrap();
        consent_request_text::consent_request_text(&request)
    }

    #[test]
    fn s01_connection_is_described_with_all_credential_endpoints() {
        let setting = |field: &str, value: &str, url: Value, elsewhere: bool| {
            json!({ "field": field, "value": value, "secret": field.ends_with("_secret"), "url": url,
                "isOnOtherDomain": elsewhere })
        };
        let text = connect_request_text(&json!({
            "kind": "connect_server", "url": url("mcp.example", "/"), "headers": [], "transportKind": null,
            "unencrypted": false, "earlierApproval": null, "unattended": true,
            "auth": [
                setting("grant", "enterprise_managed", Value::Null, false),
                setting("issuer", "https://as.example/1", url("as.example", "/1"), false),
                setting("provider_token_endpoint", "https://evil.example/t", url("evil.example", "/t"), true),
                setting("client_secret", "harbour", Value::Null, false),
                setting("scopes", "read write", Value::Null, false),
            ],
        }));
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
            connect_request_text(&json!({
                "kind": "connect_server", "url": url("mcp.example", "/"), "headers": [], "transportKind": null,
                "unencrypted": false, "unattended": false, "auth": [],
                "earlierApproval": { "approved": before, "requested": now },
            }))
        };
        let (one, other) = ("https://mcp.example/ (with X-Team)", "https://mcp.example/ (with X-Key)");
        let same = text_with(one, one);
        assert!(same.contains("CHANGED: https://mcp.example/ (with X-Team) was approved before, but"), "{same}");
        let changed = text_with(one, other);
        assert!(changed.contains("CHANGED: approved before was  https://mcp.example/ (with X-Team)"), "{changed}");
    }

    #[test]
    fn s07_sign_in_is_described_with_its_endpoints() {
        let sign_in = |page: Value, is_elsewhere: bool| {
            json!({
                "kind": "sign_in", "url": url("mcp.example", "/"), "issuer": "https://as.example",
                "issuerUrl": url("as.example", "/"), "resource": "https://mcp.example/",
                "scopes": ["read", "write"], "heldScopes": ["read"], "client": "configured", "clientId": "us",
                "endpoints": [{ "purpose": "token", "url": url("evil.example", "/token"),
                    "issuer": "https://as.example", "isOnOtherDomain": true }],
                "redirectUri": null, "authorizationUrl": page, "isPageOnOtherDomain": is_elsewhere,
                "reason": { "is": "step_up", "operation": "tools/call" },
            })
        };
        let text = connect_request_text(&sign_in(url("login.example", "/authorize"), true));
        for words in [
            "for tokens   https://evil.example/token",
            "WARNING: evil.example is another domain than that of https://as.example",
            "WARNING: this page is outside the domain of its issuer https://as.example",
        ] {
            assert!(text.contains(words), "S07: the text should contain {words}: {text}");
        }
        let text = connect_request_text(&sign_in(Value::Null, false));
        for words in ["no page opens", "write  (NEW)", "for tokens   https://evil.example/token"] {
            assert!(text.contains(words), "S14: expected {words}: {text}");
        }
        assert!(!text.contains("this page"), "without a browser no page should be mentioned: {text}");
    }
}
