//! Redaction of secrets from displayed text: by field name, and by value for known secrets.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::metadata_address;

/// Text that replaces a secret in displayed text.
pub(crate) const REDACTED: &str = "[redacted]";

/// Names of fields whose values are secrets, in queries, forms and JSON.
const SECRET_FIELD_NAMES: [&str; 17] = [
    "access_token",
    "actor_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "id_token",
    "nonce",
    "password",
    "refresh_token",
    "registration_access_token",
    "software_statement",
    "state",
    "subject_token",
    "token",
];

/// Maximum number of secrets that are stored, so that they are redacted wherever they occur.
const MAX_REDACTED_SECRETS: usize = 64;
/// Minimum length, in bytes, of a secret that is redacted wherever it occurs. Shorter ones would match other text by
/// chance.
const MIN_REDACTED_SECRET_BYTES: usize = 6;
/// Maximum length, in characters, of the displayed body of a request or response.
const MAX_DISPLAYED_BODY_CHARS: usize = 4000;

/// Collects the secrets of one server's authorization, and redacts them from displayed text.
#[derive(Default)]
pub(crate) struct SecretRedactor {
    /// Secrets in the query of the server's URL, which are never dropped.
    query_secrets: Vec<SecretString>,
    /// Other secrets, which were registered or found in responses, newest last. The oldest are dropped.
    known_secrets: Vec<SecretString>,
}

/// Registers secrets, and formats texts, URLs and bodies without them.
impl SecretRedactor {
    /// Redacts this secret from now on. If too many are stored, the oldest is dropped.
    pub(crate) fn register_secret(&mut self, secret: &str) {
        if secret.len() < MIN_REDACTED_SECRET_BYTES {
            return;
        }
        self.known_secrets.retain(|known| known.expose_secret() != secret);
        if self.known_secrets.len() == MAX_REDACTED_SECRETS {
            self.known_secrets.remove(0);
        }
        self.known_secrets.push(SecretString::from(secret));
    }

    /// Redacts all values in the query of this URL from now on, as written and decoded. These secrets are never
    /// dropped.
    pub(crate) fn register_query_secrets(&mut self, url: &Url) {
        let written = url.query().unwrap_or_default().split('&').map(|pair| {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            value.to_owned()
        });
        let values = written.chain(url.query_pairs().map(|(_, value)| value.into_owned()));
        let values = values.filter(|value| value.len() >= MIN_REDACTED_SECRET_BYTES).take(MAX_REDACTED_SECRETS);
        self.query_secrets.extend(values.map(SecretString::from));
    }

    /// Looks for tokens and other secrets in the body of a response, and redacts them from now on, also in other fields
    /// and messages.
    pub(crate) fn register_body_secrets(&mut self, body: &[u8]) {
        let Ok(Value::Object(members)) = serde_json::from_slice::<Value>(body) else { return };
        for name in ["access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"] {
            if let Some(secret) = members.get(name).and_then(Value::as_str) {
                self.register_secret(secret);
            }
        }
    }

    /// Redacts known secrets in text, in plain and percent-encoded form.
    pub(crate) fn redact_text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        // Longest first, so that no part of a longer secret remains.
        let mut secrets: Vec<&str> =
            self.query_secrets.iter().chain(&self.known_secrets).map(|secret| secret.expose_secret()).collect();
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        for secret in secrets {
            if clean.contains(secret) {
                clean = clean.replace(secret, REDACTED);
            }
            let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            if clean.contains(&encoded) {
                clean = clean.replace(&encoded, REDACTED);
            }
        }
        clean
    }

    /// Formats a URL for display, with the secrets in its query redacted.
    pub(crate) fn redact_url(&self, url: &Url) -> String {
        let Some(query) = url.query() else { return self.redact_text(url.as_str()) };
        let mut shown = url.clone();
        shown.set_query(None);
        self.redact_text(&format!("{shown}?{}", redact_form_body(query)))
    }

    /// Formats the body of a request or response without secrets.
    pub(crate) fn redact_body(&self, content_type: &str, body: &[u8]) -> String {
        if body.is_empty() {
            return String::new();
        }
        let text = String::from_utf8_lossy(body);
        let shown = if content_type.contains("x-www-form-urlencoded") {
            redact_form_body(&text)
        } else if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
            redact_json_values(&mut value);
            serde_json::to_string_pretty(&value).unwrap_or_default()
        } else {
            // Bodies of other types may have secrets in any form, so only their size is shown.
            format!(
                "{} bytes of {}",
                body.len(),
                metadata_address::displayed_text(if content_type.is_empty() { "something" } else { content_type })
            )
        };
        escape_untrusted_lines(&self.redact_text(&shown))
    }
}

/// Escapes and truncates untrusted text for display, and keeps its line breaks.
fn escape_untrusted_lines(text: &str) -> String {
    let text: String = text.chars().take(MAX_DISPLAYED_BODY_CHARS).collect();
    let shown: Vec<_> = text.lines().map(foreign::escape_invisible).collect();
    shown.join("\n")
}

fn is_secret_field(name: &str) -> bool {
    SECRET_FIELD_NAMES.iter().any(|field| name.eq_ignore_ascii_case(field))
}

fn redact_form_body(text: &str) -> String {
    let shown = text.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if is_secret_field(name) { format!("{name}={REDACTED}") } else { format!("{name}={value}") }
    });
    shown.collect::<Vec<_>>().join("&")
}

fn redact_json_values(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let is_code = name == "code" && !member.is_string();
                if is_secret_field(name) && !is_code && !member.is_null() {
                    *member = Value::from(REDACTED);
                } else {
                    redact_json_values(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_json_values),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn secrets_are_redacted_in_every_form() {
        const SECRET: &str = "s3cr3t/+value";
        let mut redactor = SecretRedactor::default();
        let encoded: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
        for field in SECRET_FIELD_NAMES {
            let query = Url::parse(&format!("https://a.example/x?a=1&{field}={encoded}&b=2")).unwrap();
            let shown = redactor.redact_url(&query);
            assert!(!shown.contains("s3cr3t") && shown.contains("b=2"), "[auth-ema-no-log] {field} in a URL: {shown}");
            let body = format!("{field}={encoded}&grant_type=x");
            let shown = redactor.redact_body("application/x-www-form-urlencoded", body.as_bytes());
            assert!(!shown.contains("s3cr3t") && shown.contains("grant_type=x"), "{field} in a form: {shown}");
            let body = serde_json::json!({ "outer": [{ field: SECRET, "scope": "a" }] }).to_string();
            let shown = redactor.redact_body("application/json", body.as_bytes());
            assert!(!shown.contains("s3cr3t") && shown.contains("\"scope\": \"a\""), "{field} in JSON: {shown}");
        }
        redactor.register_secret(SECRET);
        let body = serde_json::json!({ "error_description": format!("bad {SECRET}") }).to_string();
        assert!(
            !redactor.redact_body("application/json", body.as_bytes()).contains("s3cr3t"),
            "a known secret in another field must be redacted"
        );
        assert!(
            !redactor.redact_text(&format!("echo {encoded}")).contains("s3cr3t"),
            "a percent-encoded secret must be redacted"
        );
        assert!(!redactor.redact_body("text/html", b"<b>s3cr3t").contains("s3cr3t"), "other bodies must not be shown");
    }
}
