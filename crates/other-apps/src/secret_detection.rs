//! Detects text that looks like a secret. Such text is stored in the keychain instead of a file.

use std::borrow::Cow;

use ports::url_parts::may_be_api_key;

/// Words anywhere in the name of a variable or setting that indicate a secret value.
const SECRET_NAME_PARTS: [&str; 10] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE"];
/// Words that indicate a secret value only at the end of a name, unlike in "BYPASS" and "PASS_THROUGH".
const SECRET_FINAL_NAME_PARTS: [&str; 4] = ["PASS", "JWT", "BEARER", "DSN"];
/// Authentication schemes that are written before the credential in a header, in lower case.
const AUTH_SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];
/// Prefixes of API keys that services issue, each with the minimum number of characters after the prefix.
const API_KEY_PREFIXES: [(&str, usize); 29] = [
    ("sk-", 8),
    ("sk_", 8),
    ("rk_live_", 4),
    ("pk_live_", 4),
    ("ghp_", 4),
    ("gho_", 4),
    ("ghu_", 4),
    ("ghs_", 4),
    ("ghr_", 4),
    ("github_pat_", 4),
    ("glpat-", 4),
    ("xoxa-", 4),
    ("xoxb-", 4),
    ("xoxc-", 4),
    ("xoxd-", 4),
    ("xoxp-", 4),
    ("xoxr-", 4),
    ("xoxs-", 4),
    ("xapp-", 4),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 16),
    ("ya29.", 8),
    ("hf_", 12),
    ("npm_", 16),
    ("ntn_", 8),
    ("lin_api_", 4),
    ("whsec_", 4),
    ("eyJ", 20),
];

/// Returns `true` if the name of a variable, header, parameter or option indicates that its value is a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    if is_client_id(name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let bare = without_word_author(&upper);
    SECRET_NAME_PARTS.iter().any(|part| bare.contains(part))
        || upper.ends_with("_PAT")
        || upper.ends_with("_PWD")
        || SECRET_FINAL_NAME_PARTS.contains(&last_name_part(name).to_ascii_uppercase().as_str())
}

/// Returns `true` if a name indicates an OAuth client identifier, which is public, since the authorization URL contains
/// it.
#[must_use]
pub fn is_client_id(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.to_ascii_uppercase().ends_with("CLIENTID")
}

/// Returns `true` if a value is a secret according to its name or its content.
#[must_use]
pub fn is_secret_value(name: &str, value: &str) -> bool {
    match is_client_id(name) {
        true => has_credential(value),
        false => (is_secret_name(name) && !is_empty_or_boolean(value.trim())) || has_secret(value),
    }
}

/// Returns the last word of a variable's name. A word begins after a separator, or with an upper-case letter that
/// follows a lower-case letter.
fn last_name_part(name: &str) -> &str {
    let word = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let word = word.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let bytes = word.as_bytes();
    let rise = |at: &usize| bytes[at - 1].is_ascii_lowercase() && bytes[*at].is_ascii_uppercase();
    (1..bytes.len()).rev().find(rise).and_then(|at| word.get(at..)).unwrap_or(word)
}

/// Returns an upper-case name without the word "AUTHOR", since its first letters "AUTH" would indicate a secret.
fn without_word_author(upper: &str) -> String {
    let mut remaining = String::with_capacity(upper.len());
    let mut rest = upper;
    while let Some(at) = rest.find("AUTHOR") {
        let after = &rest[at + "AUTHOR".len()..];
        remaining.push_str(&rest[..at]);
        // "AUTHORIZATION" and "AUTHORISE" are related to it, so "AUTH" is retained.
        remaining.push_str(if after.starts_with('I') { "AUTH" } else { "_" });
        rest = after;
    }
    remaining + rest
}

/// Returns `true` if a value is empty or a boolean such as `true` or `off`, and therefore not a secret, whatever its
/// name is.
#[must_use]
pub fn is_empty_or_boolean(value: &str) -> bool {
    ["", "true", "false", "yes", "no", "on", "off", "0", "1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns `true` if a value can't be a secret, whatever its name is: an empty value, a boolean such as `true` or
/// `off`, a number of at most six digits, or a variable reference such as `${NAME}` without a default value.
#[must_use]
pub fn cannot_be_secret(value: &str) -> bool {
    let is_number = || value.len() <= 6 && value.bytes().all(|b| b.is_ascii_digit());
    is_empty_or_boolean(value) || is_number() || is_reference(value)
}

fn is_reference(value: &str) -> bool {
    let value = match value.split_once(' ') {
        Some((scheme, rest)) if is_auth_scheme(scheme) => rest.trim_start(),
        _ => value,
    };
    let in_braces = ["${", "{env:", "{file:"].iter().any(|open| value.starts_with(open)) && value.ends_with('}');
    in_braces
        && value.matches('}').count() == value.matches('{').count()
        && !has_secret_format(value)
        && !value.contains(":-")
}

/// Returns `true` for the name of an authentication scheme, such as `Bearer`.
pub(crate) fn is_auth_scheme(word: &str) -> bool {
    AUTH_SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Returns `true` if a text contains something that looks like a secret, even without a name that indicates one: a key
/// with a known prefix, a password in a URL, a private key, long random text, or a value that the text itself names as
/// a secret, as in `Server=x;Password=y`.
#[must_use]
pub fn has_secret(text: &str) -> bool {
    has_secret_format(text) || has_named_secret(text)
}

/// Returns `true` if a text contains a secret with its name: `name=value`, `name: value` or `"name":"value"`.
fn has_named_secret(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.match_indices(['=', ':']).any(|(at, sign)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        // A colon is also used before an image's tag, a port, and the default value of a reference.
        let is_default = sign == ":" && after.starts_with('-');
        if sign == ":" && !is_default && !after.starts_with(|c: char| c.is_whitespace() || matches!(c, '"' | '\'')) {
            return false;
        }
        let before = before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        let start = before.char_indices().rev().take_while(|(_, c)| is_part(*c)).last();
        let Some((start, _)) = start else { return false };
        let (before, name) = before.split_at(start);
        if is_default && !before.ends_with("${") {
            return false;
        }
        let is_pin = sign == "=" && after.starts_with('=') && after[1..].starts_with(|c: char| c.is_ascii_digit());
        is_secret_name(name)
            && !is_pin
            && !cannot_be_secret(leading_value(if is_default { &after[1..] } else { after }))
    })
}

/// Returns the value at the beginning of a text, such as `abc` in `Bearer abc, other text`. Returns an empty text for a
/// placeholder such as `<key>`.
fn leading_value(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    if text.starts_with('<') && text.contains('>') {
        return "";
    }
    let word = |text: &'_ str| {
        let end = match text.starts_with("${") || text.starts_with('{') {
            true => text.rfind('}').map_or(text.len(), |end| end + 1),
            false => text.len(),
        };
        text[..end]
            .find(|c: char| c.is_whitespace() || ";&,\"'}".contains(c) && !text.starts_with(['$', '{']))
            .unwrap_or(end)
    };
    let end = word(text);
    if is_auth_scheme(&text[..end]) && text[end..].starts_with(char::is_whitespace) {
        return leading_value(&text[end..]);
    }
    &text[..end]
}

/// Returns `true` if the format of a text alone shows that the text contains a secret.
fn has_secret_format(text: &str) -> bool {
    has_credential(text) || split_words(text).any(has_random_part)
}

/// Returns `true` if a text contains a private key, a password in a URL, or a key with a known prefix.
pub(crate) fn has_credential(text: &str) -> bool {
    let has_key = |word: &str| word.split(['=', ':', '&', '?', '#', '/', '\\', '@', '$']).any(has_known_prefix);
    text.contains("-----BEGIN ") || has_password(text) || split_words(text).any(has_key)
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`,;<>()[]{}|".contains(c))
}

/// Returns `true` if a text contains a URL with a password, `scheme://name:password@host`.
fn has_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let end = rest.find(['/', '?', '#', ' ']).unwrap_or(rest.len());
        rest[..end]
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, word)| !word.is_empty()))
    })
}

fn has_known_prefix(part: &str) -> bool {
    API_KEY_PREFIXES.iter().any(|(prefix, least)| {
        part.strip_prefix(prefix).is_some_and(|rest| {
            let is_odd = || rest.contains(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
            // Ordinary names such as "sk-learn-server" have this prefix, too.
            rest.len() >= *least && (!prefix.starts_with("sk") || is_odd())
        })
    })
}

/// Returns `true` if a word contains long random text, other than a hash that pins a package or an image, or an OAuth
/// client identifier.
fn has_random_part(word: &str) -> bool {
    let pinned = word.find("@sha256:").or_else(|| word.find("@sha512")).map_or(word, |at| &word[..at]);
    let commit = |part: &str| part.len() == 40 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let pinned = match pinned.rsplit_once('@') {
        Some((before, after)) if commit(after) => before,
        _ => pinned,
    };
    let pinned = without_nix_store_hashes(pinned);
    let mut name = "";
    pinned.split(['/', '\\', '=', ':', '&', '?', '#', '@', '$', '%']).any(|part| {
        let is_key = may_be_api_key(part) && !is_client_id(name);
        name = part;
        is_key
    })
}

/// Returns a word without the hashes in paths of the Nix store, `/nix/store/HASH-NAME`, which are not secret.
fn without_nix_store_hashes(word: &str) -> Cow<'_, str> {
    const NIX_STORE_PREFIX: &str = "/nix/store/";
    const NIX_HASH_CHARS: usize = 32;
    // Nix's base 32 alphabet lacks the letters e, o, t and u.
    let is_digit = |b: u8| b.is_ascii_digit() || (b.is_ascii_lowercase() && !b"eotu".contains(&b));
    if !word.contains(NIX_STORE_PREFIX) {
        return Cow::Borrowed(word);
    }
    let mut parts = word.split(NIX_STORE_PREFIX);
    let mut shortened = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_named = part.len() > NIX_HASH_CHARS
            && part.as_bytes()[NIX_HASH_CHARS] == b'-'
            && part.bytes().take(NIX_HASH_CHARS).all(is_digit);
        shortened.push_str(NIX_STORE_PREFIX);
        shortened.push_str(if is_named { &part[NIX_HASH_CHARS..] } else { part });
    }
    Cow::Owned(shortened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognized() {
        for name in [
            "OPENAI_API_KEY",
            "github_token",
            "Authorization",
            "X-API-Key",
            "DB_PASSWORD",
            "--api-key",
            "GITHUB_PAT",
            "AUTH",
            "MYSQL_PASS",
            "DB_PASS",
            "smtpPass",
            "--pass",
            "SESSION_JWT",
            "BEARER",
            "SENTRY_DSN",
        ] {
            assert!(is_secret_name(name), "{name} indicates a secret");
        }
        for name in [
            "PATH",
            "GIT_AUTHOR_NAME",
            "NODE_ENV",
            "--author",
            "REGION",
            "Accept",
            "BYPASS",
            "PASS_THROUGH",
            "AUTH0_CLIENT_ID",
        ] {
            assert!(!is_secret_name(name), "{name} doesn't indicate a secret");
        }
    }

    #[test]
    fn secrets_are_recognized_in_text() {
        for text in [
            "sk-proj-4eC39HqLyjWDarjtT1zdp7dc",
            "Bearer ghp_abcd1234",
            "xoxb-1234-abcd",
            "AKIAIOSFODNN7EXAMPLE",
            "postgres://ann:hunter2@db.example/app",
            "-----BEGIN PRIVATE KEY-----",
            "9f86d081884c7d659a2feaa0c55ad015",
            "https://mcp.example.com/s/9f86d081884c7d659a2feaa0c55ad015/mcp",
            "--key=TmV2ZXJHb25uYUdpdmVZb3VVcA",
            "Server=x;Password=hunter2",
            "https://x/?api_key=hunter2",
            "https://x/?a=b&token=hunter2",
            "Authorization: Basic dXNlcjpwYXNzMQ==",
            "X-Api-Key: abc=def",
            "{\"password\":\"hunter2\"}",
            "${API_KEY:-hunter2}",
            "/nix/store/9f86d081884c7d659a2feaa0c55ad015",
            "--client-id=ghp_abcd1234",
            "https://mcp.example.com/mcp?client_id=a&key=9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert!(has_secret(text), "{text} contains a secret");
        }
        for text in [
            "@modelcontextprotocol/server-filesystem@2025.7.29",
            "/Users/ann/Library/Application Support/notes",
            "C:\\Users\\ann\\Documents",
            "ghcr.io/github/github-mcp-server@sha256:9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015",
            "git+https://github.com/ann/server@0123456789abcdef0123456789abcdef01234567",
            "sk-learn-server",
            "https://mcp.example.com/v1/mcp?team=red",
            "Bearer ${TOKEN}",
            "production",
            "--api-key=<api-key>",
            "Authorization: Bearer ${TOKEN}",
            "password=${secret:x};server=y",
            "${secret:x}",
            "${API_KEY:-}",
            "ghcr.io/example/auth-server:1.2.3",
            "mcp-auth==1.2.3",
            "--token-limit=4000",
            "/nix/store/0c5b8r9wx3kq7zv1m4ybhdl2pgsjafni-mcp-server-1.2.0/bin/mcp-server",
            "PATH=/nix/store/0c5b8r9wx3kq7zv1m4ybhdl2pgsjafni-node-20/bin:/nix/store/1c5b8r9wx3kq7zv1m4ybhdl2pgsjafni-git/bin",
            "--client-id=9f86d081884c7d659a2feaa0c55ad015",
            "https://mcp.example.com/mcp?client_id=9f86d081884c7d659a2feaa0c55ad015&a=b",
        ] {
            assert!(!has_secret(text), "{text} contains no secret");
        }
    }
}
