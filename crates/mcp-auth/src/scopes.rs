//! Selection of scopes, and operations on lists of scopes.

/// Maximum number of scopes in one list. Further scopes are dropped.
const MAX_SCOPES: usize = 200;
/// Maximum length of a scope in characters.
const MAX_SCOPE_CHARS: usize = 500;
/// Scope that requests a refresh token, if the authorization server supports it (OpenID Connect Core, 11).
const OFFLINE_ACCESS: &str = "offline_access";

/// Splits a `scope` value. Invalid scopes (RFC 6749, 3.3) and duplicates are dropped.
pub(crate) fn parse_scopes(text: &str) -> Vec<String> {
    distinct_valid_scopes(text.split_ascii_whitespace())
}

/// Returns the scopes in a list that are valid (RFC 6749, 3.3), without duplicates.
pub(crate) fn distinct_valid_scopes<'a>(scopes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for scope in scopes.filter(|scope| is_valid_scope(scope)) {
        if list.len() < MAX_SCOPES && !list.iter().any(|known| known == scope) {
            list.push(scope.to_owned());
        }
    }
    list
}

fn is_valid_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.len() <= MAX_SCOPE_CHARS && text.bytes().all(is_allowed)
}

/// Returns the scopes that are in at least one of the two lists, those of `first` first.
pub(crate) fn union_of_scopes(first: &[String], second: &[String]) -> Vec<String> {
    distinct_valid_scopes(first.iter().chain(second).map(String::as_str))
}

/// Returns those of the `requested` scopes that are not in `had`.
pub(crate) fn missing_scopes(requested: &[String], had: &[String]) -> Vec<String> {
    requested.iter().filter(|scope| !had.contains(scope)).cloned().collect()
}

/// Lists from which [`select_scopes`] selects the scopes to request.
#[derive(Debug, Default)]
pub(crate) struct ScopeSources<'a> {
    /// Scopes that the server's challenge requires.
    pub(crate) challenge: Option<&'a [String]>,
    /// Scopes that the user configured.
    pub(crate) settings: Option<&'a [String]>,
    /// Value of `scopes_supported` in the protected resource metadata.
    pub(crate) resource: Option<&'a [String]>,
    /// Value of `scopes_supported` in the authorization server metadata.
    pub(crate) server: Option<&'a [String]>,
    /// Scopes to request in addition to those of the selected list: earlier ones for a step-up or a repeated sign-in,
    /// or the allowed ones in a flow without a consent request.
    pub(crate) additional: &'a [String],
    /// `true` if the app can use a refresh token with the configured grant.
    pub(crate) refreshable: bool,
}

/// Returns the scopes to request: those of the first list that is present (challenge, settings, protected resource
/// metadata), together with the additional ones (`basic/authorization`, scope selection strategy and step-up).
pub(crate) fn select_scopes(sources: &ScopeSources<'_>) -> Vec<String> {
    let chosen = sources.challenge.or(sources.settings).or(sources.resource).unwrap_or_default();
    let mut scopes = union_of_scopes(sources.additional, chosen);
    let is_offered = sources.server.is_some_and(has_offline_access);
    // Configured scopes are sent unchanged, as not every authorization server lists all of its scopes.
    let is_set = sources.settings.is_some_and(has_offline_access);
    if is_set || sources.refreshable && is_offered {
        scopes = union_of_scopes(&scopes, &[OFFLINE_ACCESS.to_owned()]);
    } else {
        // A resource must not request this scope, and an authorization server without it refuses it.
        scopes.retain(|scope| scope != OFFLINE_ACCESS);
    }
    scopes
}

/// Returns `true` if the scopes include `offline_access`, which requests a refresh token.
pub(crate) fn has_offline_access(scopes: &[String]) -> bool {
    scopes.iter().any(|scope| scope == OFFLINE_ACCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_scopes(text: &str) -> Vec<String> {
        parse_scopes(text)
    }

    #[test]
    fn scopes_are_taken_from_the_first_source_that_has_some() {
        // Challenge, settings, resource, authorization server, previous scopes -> requested scopes
        type ScopeCase<'a> =
            (Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<&'a str>, &'a str, &'a str, &'a str);
        let table: [ScopeCase<'_>; 13] = [
            (
                Some("a"),
                None,
                Some("x y"),
                None,
                "",
                "a",
                "[auth-scope-challenge-authoritative] [auth-scope-from-challenge]",
            ),
            (
                Some("q"),
                Some("s"),
                Some("x y"),
                None,
                "",
                "q",
                "[auth-scope-no-assumed-relation] q is in no other list",
            ),
            (None, Some("s"), Some("x y"), None, "", "s", "settings must precede the metadata"),
            (None, None, Some("x y"), None, "", "x y", "[auth-scope-from-prm] all listed scopes"),
            (
                None,
                None,
                None,
                Some("p q"),
                "",
                "",
                "[auth-scope-omit] the authorization server's list must not be used",
            ),
            (Some("b"), None, None, None, "a", "a b", "[auth-stepup-union] previous scopes must be included"),
            (Some("a"), None, None, None, "a b", "a b", "[auth-stepup-union] no duplicates"),
            (
                Some("a"),
                None,
                None,
                Some("offline_access"),
                "",
                "a offline_access",
                "[auth-refresh-offline-access] listed scope",
            ),
            (Some("a offline_access"), None, None, Some("p"), "", "a", "offline_access must be listed"),
            (None, Some("s offline_access"), None, None, "", "s offline_access", "configured scopes must be unchanged"),
            (None, Some("offline_access s"), None, Some("s"), "", "offline_access s", "also if not listed"),
            (Some("q"), Some("offline_access"), None, None, "", "q offline_access", "also with a challenge"),
            (
                None,
                None,
                None,
                Some("offline_access"),
                "",
                "offline_access",
                "[auth-refresh-offline-access] as the only scope",
            ),
        ];
        for (challenge, settings, resource, server, before, expected, what) in table {
            let lists = [challenge, settings, resource, server].map(|text| text.map(test_scopes));
            let sources = ScopeSources {
                challenge: lists[0].as_deref(),
                settings: lists[1].as_deref(),
                resource: lists[2].as_deref(),
                server: lists[3].as_deref(),
                additional: &test_scopes(before),
                refreshable: true,
            };
            assert_eq!(select_scopes(&sources).join(" "), expected, "{what}");
        }
    }

    #[test]
    fn invalid_scopes_are_dropped() {
        assert_eq!(parse_scopes("a  b\ta \"c\" d\\e ü f"), ["a", "b", "f"], "invalid scopes must be dropped");
        let many: String = (0..500).map(|number| format!("s{number} ")).collect();
        assert_eq!(parse_scopes(&many).len(), MAX_SCOPES, "the number of scopes must be limited");
    }

    #[test]
    fn newly_requested_scopes_are_listed_separately() {
        assert_eq!(missing_scopes(&test_scopes("a b c"), &test_scopes("c a")), ["b"], "only b is new");
    }
}
