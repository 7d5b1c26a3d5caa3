//! Redaction of the tokens and other secrets that a server has received: `[redacted]` replaces them in the server's
//! activity log, and the entry is marked as redacted.
//!
//! Each secret is registered before it is sent to the server. Only exact occurrences are found: a server that encodes a
//! token in another form could also send it elsewhere.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::REDACTED;
use memchr::memmem;
use secrecy::{ExposeSecret as _, SecretString};

/// Minimum length of a redacted secret, in bytes. Shorter texts would occur in many places that contain no secret.
const MIN_REDACTED_SECRET_BYTES: usize = 8;
/// Maximum number of tokens that are redacted in the log of one server. If there are more, only the latest ones are.
const MAX_REDACTED_TOKENS: usize = 16;
/// Maximum number of secrets from a server's settings that are redacted in its log. If there are more, only the latest
/// ones are.
const MAX_REDACTED_SETTINGS_SECRETS: usize = 64;

/// Secrets that are redacted in the activity log of one server. Clones share the secrets. Their lock is held only to
/// exchange or share the lists, never while a text is redacted.
#[derive(Debug, Clone, Default)]
pub(super) struct RedactedSecrets(Arc<Mutex<Arc<SecretLists>>>);

#[derive(Debug, Clone, Default)]
struct SecretLists {
    /// Secrets to which the server's settings refer by name.
    named: Vec<SecretString>,
    tokens: Vec<SecretString>,
}

impl SecretLists {
    const fn is_empty(&self) -> bool {
        self.named.is_empty() && self.tokens.is_empty()
    }
}

impl RedactedSecrets {
    pub(super) fn add_tokens(&self, tokens: Vec<SecretString>) {
        add_secrets(&mut Arc::make_mut(&mut self.lock()).tokens, tokens, MAX_REDACTED_TOKENS);
    }

    pub(super) fn add_settings_secrets(&self, secrets: Vec<SecretString>) {
        add_secrets(&mut Arc::make_mut(&mut self.lock()).named, secrets, MAX_REDACTED_SETTINGS_SECRETS);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Arc<SecretLists>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes with all secrets redacted. They are borrowed if they contain no secret.
    pub(super) fn redact<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let secrets = Arc::clone(&self.lock());
        let mut redacted = Cow::Borrowed(bytes);
        // Longer secrets first: redacting a secret inside a longer one would leave parts of the longer one.
        let mut tokens: Vec<&[u8]> =
            secrets.named.iter().chain(&secrets.tokens).map(|token| token.expose_secret().as_bytes()).collect();
        tokens.sort_unstable_by_key(|token| std::cmp::Reverse(token.len()));
        for token in tokens {
            if let Some(first) = memmem::find(&redacted, token) {
                redacted = Cow::Owned(redact_token(&redacted, token, first));
            }
        }
        redacted
    }

    /// Returns the text with all secrets redacted.
    pub(super) fn redact_text(&self, text: String) -> String {
        match self.redact(text.as_bytes()) {
            Cow::Borrowed(_) => text,
            Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
}

fn add_secrets(known: &mut Vec<SecretString>, more: Vec<SecretString>, most: usize) {
    for secret in more {
        let text = secret.expose_secret();
        if text.len() >= MIN_REDACTED_SECRET_BYTES && !known.iter().any(|known| known.expose_secret() == text) {
            known.push(secret);
        }
    }
    known.drain(..known.len().saturating_sub(most));
}

fn redact_token(bytes: &[u8], token: &[u8], first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut found = Some(first);
    while let Some(at) = found {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(REDACTED.as_bytes());
        rest = &rest[at + token.len()..];
        found = memmem::find(rest, token);
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_of_every_token_is_replaced() {
        let hidden = RedactedSecrets::default();
        hidden.add_tokens(vec![
            "token-number-one".into(),
            "token-number-two".into(),
            "short".into(),
            "token-number-one".into(),
        ]);
        let text = "a token-number-one, token-number-onetoken-number-two b short token-number-".to_owned();
        let expected = "a [redacted], [redacted][redacted] b short token-number-";
        assert_eq!(hidden.redact_text(text), expected, "tokens must be redacted, and other text must be unchanged");
        let clean = hidden.redact(b"nothing here");
        assert!(matches!(clean, Cow::Borrowed(_)), "bytes without a secret must not be copied");
    }

    #[test]
    fn longer_tokens_are_redacted_first() {
        let hidden = RedactedSecrets::default();
        hidden.add_settings_secrets(vec!["the-first".into()]);
        hidden.add_tokens(vec!["token-of".into(), "the-first-token-of-all".into()]);
        let shown = hidden.redact_text("a the-first-token-of-all b token-of c".to_owned());
        assert_eq!(shown, "a [redacted] b [redacted] c", "the longest secret must be redacted first");
    }

    #[test]
    fn latest_tokens_are_redacted_if_there_are_too_many() {
        let hidden = RedactedSecrets::default();
        hidden.add_settings_secrets(vec!["named-in-settings".into()]);
        for number in 0..MAX_REDACTED_TOKENS + 5 {
            hidden.add_tokens(vec![format!("token-{number:04}").into()]);
        }
        assert_eq!(hidden.lock().tokens.len(), MAX_REDACTED_TOKENS, "the number of tokens must be bounded");
        assert_eq!(
            hidden.redact_text("named-in-settings".into()),
            REDACTED,
            "tokens must not displace secrets of the settings"
        );
        let latest = format!("token-{:04}", MAX_REDACTED_TOKENS + 4);
        assert_eq!(hidden.redact_text(latest), REDACTED, "the latest token must be redacted");
    }
}
