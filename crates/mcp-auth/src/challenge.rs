//! Lenient parser for `WWW-Authenticate`: accepts URLs without quotes, missing commas, several challenges in one or
//! more lines, and schemes with a token68 value (RFC 9110, 11.6.1).

use crate::scopes;

/// Maximum total length of the `WWW-Authenticate` values of a response in bytes.
const MAX_CHALLENGE_HEADER_BYTES: usize = 16 * 1024;
/// Maximum number of challenges that are parsed in a response, and also of parameters in each challenge.
const MAX_PARSED_CHALLENGES: usize = 64;

/// Requirements that a 401 or 403 response states, merged from its Bearer and DPoP challenges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TokenChallenge {
    /// URL of the protected resource metadata (RFC 9728, 5.1).
    pub(crate) resource_metadata: Option<String>,
    /// Scopes that the refused request requires, or `None` if the challenge lists none.
    pub(crate) scope: Option<Vec<String>>,
    /// Error code (RFC 6750, 3.1), such as `insufficient_scope`.
    pub(crate) error: Option<String>,
    /// `true` if the server accepts tokens that are bound to a key (DPoP, RFC 9449).
    pub(crate) dpop: bool,
}

impl TokenChallenge {
    /// Parses the values of all `WWW-Authenticate` headers of a response.
    pub(crate) fn parse(lines: &[String]) -> TokenChallenge {
        let mut bearer = TokenChallenge::default();
        let mut room = MAX_CHALLENGE_HEADER_BYTES;
        for line in lines {
            let end = line.floor_char_boundary(room.min(line.len()));
            room -= end;
            for challenge in parse_challenges(&line[..end]) {
                bearer.add(&challenge);
            }
        }
        bearer
    }

    fn add(&mut self, challenge: &ParsedAuthChallenge) {
        let is_dpop = challenge.scheme.eq_ignore_ascii_case("dpop");
        // Parameters without a scheme are treated as Bearer.
        if !is_dpop && !challenge.scheme.is_empty() && !challenge.scheme.eq_ignore_ascii_case("bearer") {
            return;
        }
        self.dpop |= is_dpop;
        for (name, value) in &challenge.parameters {
            match name.as_str() {
                "resource_metadata" if self.resource_metadata.is_none() => {
                    self.resource_metadata = Some(value.clone());
                }
                "scope" if self.scope.is_none() => {
                    self.scope = Some(scopes::parse_scopes(value)).filter(|scopes| !scopes.is_empty());
                }
                // `use_dpop_nonce` takes precedence, since it must be handled before other errors.
                "error" if self.error.is_none() || value == "use_dpop_nonce" => self.error = Some(value.clone()),
                _ => {}
            }
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct ParsedAuthChallenge {
    scheme: String,
    /// Parameters of the challenge, with names in lower case.
    parameters: Vec<(String, String)>,
}

/// Characters between a word in a `WWW-Authenticate` value and the word before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChallengeSeparator {
    Comma,
    Space,
}

fn parse_challenges(line: &str) -> Vec<ParsedAuthChallenge> {
    let mut found: Vec<ParsedAuthChallenge> = Vec::new();
    let mut rest = line;
    let mut before = ChallengeSeparator::Comma;
    // `true` if the last parameter had no quotes, so that a lone word may still belong to it.
    let mut open_value = false;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', ',']);
        if rest[..rest.len() - trimmed.len()].contains(',') {
            before = ChallengeSeparator::Comma;
        }
        rest = trimmed;
        if rest.is_empty() || found.len() >= MAX_PARSED_CHALLENGES {
            return found;
        }
        let (word, after) = rest.split_at(rest.find([' ', '\t', ',', '=', '"']).unwrap_or(rest.len()));
        if let Some(value) = after.trim_start_matches([' ', '\t']).strip_prefix('=') {
            let (text, quoted, end) = parse_parameter_value(value);
            rest = end;
            if found.is_empty() {
                found.push(ParsedAuthChallenge::default());
            }
            if let Some(challenge) = found.last_mut()
                && challenge.parameters.len() < MAX_PARSED_CHALLENGES
            {
                challenge.parameters.push((word.to_ascii_lowercase(), text));
            }
            open_value = !quoted;
        } else if word.is_empty() {
            // An unexpected quote is skipped.
            rest = rest.get(1..).unwrap_or_default();
            continue;
        } else {
            rest = after;
            let last = found.last_mut().and_then(|challenge| challenge.parameters.last_mut());
            if before == ChallengeSeparator::Comma || is_known_auth_scheme(word) {
                found.push(ParsedAuthChallenge { scheme: word.to_owned(), parameters: Vec::new() });
                open_value = false;
            } else if let Some((_, value)) = last.filter(|_| open_value) {
                value.push(' ');
                value.push_str(word);
            }
        }
        before = ChallengeSeparator::Space;
    }
}

fn is_known_auth_scheme(word: &str) -> bool {
    ["bearer", "dpop", "basic", "digest", "negotiate"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Parses the value of a parameter. Returns the value, `true` if the value was quoted, and the remaining text.
fn parse_parameter_value(text: &str) -> (String, bool, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        // An unquoted value ends at white space or a comma.
        return (text[..end].to_owned(), false, &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, true, &quoted[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, true, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_challenge_lines(lines: &[&str]) -> TokenChallenge {
        TokenChallenge::parse(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn all_forms_of_a_www_authenticate_header_are_parsed() {
        const METADATA_URL: &str = "https://a.example/.well-known/oauth-protected-resource";
        let url = Some(METADATA_URL);
        // Lines -> resource_metadata, scope, error, dpop
        type ChallengeCase<'a> = (&'a [&'a str], Option<&'a str>, Option<&'a str>, Option<&'a str>, bool);
        let table: [ChallengeCase<'_>; 16] = [
            (&[], None, None, None, false),
            (&["Bearer"], None, None, None, false),
            (
                &["Bearer resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\", scope=\"a b\""],
                url,
                Some("a b"),
                None,
                false,
            ),
            (
                &["bearer RESOURCE_METADATA = \"https://a.example/.well-known/oauth-protected-resource\""],
                url,
                None,
                None,
                false,
            ),
            (
                &[
                    "Bearer resource_metadata=https://a.example/.well-known/oauth-protected-resource, error=invalid_token",
                ],
                url,
                None,
                Some("invalid_token"),
                false,
            ),
            (
                &[
                    "Bearer error=\"invalid_token\" resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\"",
                ],
                url,
                None,
                Some("invalid_token"),
                false,
            ),
            (&["Basic realm=\"a, b\", Bearer scope=\"a\""], None, Some("a"), None, false),
            (&["Basic realm=\"x\"", "Bearer scope=\"a\""], None, Some("a"), None, false),
            (&["Negotiate YIIabc==, Bearer scope=\"a\""], None, Some("a"), None, false),
            (
                &["Negotiate YII/+abc, DPoP algs=\"ES256\", error=\"use_dpop_nonce\""],
                None,
                None,
                Some("use_dpop_nonce"),
                true,
            ),
            (&["Basic scope=\"wrong\", realm=\"r\""], None, None, None, false),
            (&["Bearer scope=a b, error=insufficient_scope"], None, Some("a b"), Some("insufficient_scope"), false),
            (&["Bearer error_description=\"say \\\"please\\\", scope=x\", scope=\"a\""], None, Some("a"), None, false),
            (&["resource_metadata=\"https://a.example/.well-known/oauth-protected-resource\""], url, None, None, false),
            (&["Bearer scope=\"unfinished"], None, Some("unfinished"), None, false),
            (&["Bearer scope=\"\""], None, None, None, false),
        ];
        for (lines, metadata, scope, error, dpop) in table {
            let found = parse_challenge_lines(lines);
            assert_eq!(
                found.resource_metadata.as_deref(),
                metadata,
                "[auth-www-authenticate-parse] the URL in {lines:?}"
            );
            assert_eq!(
                found.scope.map(|list| list.join(" ")).as_deref(),
                scope,
                "[auth-www-authenticate-parse] the scopes in {lines:?}"
            );
            assert_eq!(found.error.as_deref(), error, "[auth-www-authenticate-parse] the error in {lines:?}");
            assert_eq!(found.dpop, dpop, "[auth-www-authenticate-parse] DPoP support of {lines:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_challenge_does_not_panic(lines in prop::collection::vec("[ -~\\t\"\\\\,=äü]{0,80}", 0..4)) {
            let _ = TokenChallenge::parse(&lines);
        }

        #[test]
        fn generated_challenge_is_parsed(
            scopes in prop::collection::vec("[!#-\\[\\]-~]{1,12}", 1..5),
            path in "[a-z0-9/._~-]{0,30}",
            other in prop::sample::select(vec!["", "Basic realm=\"x\", ", "Negotiate abc==, ", "Digest qop=\"a,b\", nonce=\"=\", "]),
            quoted in any::<bool>(),
        ) {
            let url = format!("https://a.example/{path}");
            let shown = if quoted { format!("\"{url}\"") } else { url.clone() };
            let line = format!("{other}Bearer resource_metadata={shown}, scope=\"{}\"", scopes.join(" "));
            let found = parse_challenge_lines(&[&line]);
            prop_assert_eq!(found.resource_metadata, Some(url), "[auth-www-authenticate-parse] the URL in {}", line);
            prop_assert_eq!(found.scope, Some(crate::scopes::parse_scopes(&scopes.join(" "))), "the scopes in {}", line);
        }
    }
}
