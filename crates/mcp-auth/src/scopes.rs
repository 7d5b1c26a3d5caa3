//! Which scopes are asked for, and lists of scopes in general.

/// The most scopes that are taken from one place.
const MOST: usize = 200;
/// The most characters of a scope.
const LONGEST: usize = 500;
/// Asks for a refresh token, where the authorization server knows it (OpenID Connect Core, 11).
const OFFLINE_ACCESS: &str = "offline_access";

/// Splits a `scope` value. What cannot be a scope (RFC 6749, 3.3) is left out, so is what was there before.
pub(crate) fn parse(text: &str) -> Vec<String> {
    distinct(text.split_ascii_whitespace())
}

/// The scopes of a list, without repetitions and without what cannot be one.
pub(crate) fn distinct<'a>(scopes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for scope in scopes.filter(|scope| is_scope(scope)) {
        if list.len() < MOST && !list.iter().any(|known| known == scope) {
            list.push(scope.to_owned());
        }
    }
    list
}

fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !text.is_empty() && text.len() <= LONGEST && text.bytes().all(is_allowed)
}

/// All of both, those of `first` in front.
pub(crate) fn union(first: &[String], second: &[String]) -> Vec<String> {
    distinct(first.iter().chain(second).map(String::as_str))
}

/// Those of `wanted` that are not in `had`.
pub(crate) fn missing(wanted: &[String], had: &[String]) -> Vec<String> {
    wanted.iter().filter(|scope| !had.contains(scope)).cloned().collect()
}

/// What scopes are chosen from.
#[derive(Debug, Default)]
pub(crate) struct Sources<'a> {
    /// Of the server's challenge.
    pub(crate) challenge: Option<&'a [String]>,
    /// Of the user's settings.
    pub(crate) settings: Option<&'a [String]>,
    /// `scopes_supported` of the protected resource metadata.
    pub(crate) resource: Option<&'a [String]>,
    /// `scopes_supported` of the authorization server's metadata.
    pub(crate) server: Option<&'a [String]>,
    /// What was asked for before, when more is wanted now.
    pub(crate) before: &'a [String],
    /// Whether a refresh token is of use.
    pub(crate) refreshable: bool,
}

/// The scopes to ask for: those of the challenge, else of the settings, else all that the resource lists, else none;
/// with all that was asked for before (`basic/authorization`, scope selection strategy and step-up).
pub(crate) fn select(sources: &Sources<'_>) -> Vec<String> {
    let chosen = sources.challenge.or(sources.settings).or(sources.resource).unwrap_or_default();
    let mut scopes = union(sources.before, chosen);
    let is_offered = sources.server.is_some_and(has_offline_access);
    // What the user set is sent as it is: not every authorization server lists what it knows.
    let is_set = sources.settings.is_some_and(has_offline_access);
    if is_set || sources.refreshable && is_offered {
        scopes = union(&scopes, &[OFFLINE_ACCESS.to_owned()]);
    } else {
        // A resource must not ask for it, and an authorization server that does not know it refuses.
        scopes.retain(|scope| scope != OFFLINE_ACCESS);
    }
    scopes
}

/// Whether a refresh token is asked for by scope.
pub(crate) fn has_offline_access(scopes: &[String]) -> bool {
    scopes.iter().any(|scope| scope == OFFLINE_ACCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        parse(text)
    }

    #[test]
    fn scopes_come_from_the_first_place_that_has_some() {
        // challenge, settings, resource, authorization server, before -> asked for
        type Row<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<&'a str>, &'a str, &'a str, &'a str);
        let table: [Row<'_>; 13] = [
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
                "[auth-scope-no-assumed-relation] q stands in no other list",
            ),
            (None, Some("s"), Some("x y"), None, "", "s", "what the user set counts before what is listed"),
            (None, None, Some("x y"), None, "", "x y", "[auth-scope-from-prm] all that is listed"),
            (None, None, None, Some("p q"), "", "", "[auth-scope-omit] the authorization server's list is no choice"),
            (Some("b"), None, None, None, "a", "a b", "[auth-stepup-union] with what was asked for before"),
            (Some("a"), None, None, None, "a b", "a b", "[auth-stepup-union] nothing twice"),
            (
                Some("a"),
                None,
                None,
                Some("offline_access"),
                "",
                "a offline_access",
                "[auth-refresh-offline-access] it is listed",
            ),
            (Some("a offline_access"), None, None, Some("p"), "", "a", "offline_access only where it is listed"),
            (None, Some("s offline_access"), None, None, "", "s offline_access", "what the user set is sent as it is"),
            (None, Some("offline_access s"), None, Some("s"), "", "offline_access s", "also where it is not listed"),
            (Some("q"), Some("offline_access"), None, None, "", "q offline_access", "and no challenge speaks of it"),
            (
                None,
                None,
                None,
                Some("offline_access"),
                "",
                "offline_access",
                "[auth-refresh-offline-access] alone as well",
            ),
        ];
        for (challenge, settings, resource, server, before, wanted, what) in table {
            let lists = [challenge, settings, resource, server].map(|text| text.map(list));
            let sources = Sources {
                challenge: lists[0].as_deref(),
                settings: lists[1].as_deref(),
                resource: lists[2].as_deref(),
                server: lists[3].as_deref(),
                before: &list(before),
                refreshable: true,
            };
            assert_eq!(select(&sources).join(" "), wanted, "{what}");
        }
    }

    #[test]
    fn what_is_no_scope_is_left_out() {
        assert_eq!(
            parse("a  b\ta \"c\" d\\e ü f"),
            ["a", "b", "f"],
            "quotes, backslashes and other alphabets are none"
        );
        let many: String = (0..500).map(|number| format!("s{number} ")).collect();
        assert_eq!(parse(&many).len(), MOST, "no more than the bound are kept");
    }

    #[test]
    fn new_scopes_are_told_apart() {
        assert_eq!(missing(&list("a b c"), &list("c a")), ["b"], "only b was not there before");
    }
}
