//! Translates certificate errors of the TLS library into messages for the user, with advice.

/// Prefix of the TLS library's error messages about invalid certificates.
const CERTIFICATE_ERROR_PREFIX: &str = "invalid peer certificate: ";

/// Returns a message for the user about the certificate error `cause`, or `None` if `cause` is not a known message of
/// the TLS library.
pub(super) fn certificate_problem_text(cause: &str) -> Option<&'static str> {
    let message = cause.strip_prefix(CERTIFICATE_ERROR_PREFIX)?;
    let is = |words: &[&str]| words.iter().any(|word| message.contains(word));
    Some(if is(&["UnknownIssuer"]) {
        "its certificate is signed by nobody whom this system trusts; if the server is yours, add the authority that signed it to the system's certificates"
    } else if is(&["certificate expired", "Expired"]) && !is(&["RevocationList", "revocation list"]) {
        "its certificate has expired; the operator of the server must renew it, unless this computer's clock is wrong"
    } else if is(&["not valid yet", "NotValidYet"]) {
        "its certificate is not valid yet; look whether this computer's clock is right"
    } else if is(&["not valid for name", "NotValidForName"]) {
        "its certificate is for another name; look whether the address is right"
    } else if is(&["Revoked"]) {
        "its certificate was revoked; do not connect before the operator of the server has replaced it"
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_errors_are_described_plainly() {
        for (message, expected) in [
            ("UnknownIssuer", "trusts"),
            (
                "certificate expired: verification time 2 (UNIX), but certificate is not valid after 1 (1 seconds ago)",
                "expired",
            ),
            ("certificate not valid yet: verification time 1 (UNIX), but certificate is not valid before 2", "clock"),
            ("certificate not valid for name \"a.example\"; certificate is only valid for b.example", "another name"),
            ("Revoked", "revoked"),
        ] {
            let found = certificate_problem_text(&format!("{CERTIFICATE_ERROR_PREFIX}{message}"));
            assert!(found.is_some_and(|words| words.contains(expected)), "{message} becomes {found:?}");
        }
        for other in ["connection refused", "invalid peer certificate: BadEncoding", "UnknownIssuer"] {
            assert_eq!(certificate_problem_text(other), None, "{other} must not be translated");
        }
    }
}
