//! Decoding of links: query parameters, percent-encoding, and base64. Each encoding is decoded only once.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use crate::notes::quoted_text;

/// Maximum number of query parameters in a link.
const MAX_LINK_PARAMETERS: usize = 500;

const BASE64_LENIENT_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASE64_STANDARD_ENGINE: GeneralPurpose = GeneralPurpose::new(&STANDARD, BASE64_LENIENT_PADDING);
const BASE64_URL_SAFE_ENGINE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, BASE64_LENIENT_PADDING);

/// Query parameters of a link, in order. If a parameter occurs twice, apps differ in which value they use, so a
/// parameter that requires a single value must be unique.
pub(super) struct LinkParameters(Vec<(String, String)>);

impl LinkParameters {
    pub(super) fn parse(query: &str) -> Result<Self, String> {
        let query = query.split('#').next().unwrap_or_default();
        let parts: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).take(MAX_LINK_PARAMETERS + 1).collect();
        if parts.len() > MAX_LINK_PARAMETERS {
            return Err(format!("it has more than {MAX_LINK_PARAMETERS} parameters"));
        }
        let pair = |part: &&str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            // In form encoding, a plus is a space. When base64 is decoded, it is converted back to a plus.
            Ok((percent_decode(&name.replace('+', " "))?, percent_decode(&value.replace('+', " "))?))
        };
        Ok(Self(parts.iter().map(pair).collect::<Result<_, String>>()?))
    }

    /// Returns all values of the parameter with this name, in order.
    pub(super) fn get_all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// Returns the value of a parameter, or `None` if the value is missing or empty.
    ///
    /// # Errors
    ///
    /// Returns an error message if the parameter occurs more than once.
    pub(super) fn get_unique(&self, name: &str) -> Result<Option<String>, String> {
        let mut values = self.get_all(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(format!("{} occurs twice in it", quoted_text(name)));
        }
        Ok(first.filter(|value| !value.is_empty()).map(str::to_owned))
    }

    pub(super) fn get_required(&self, name: &str) -> Result<String, String> {
        self.get_unique(name)?.ok_or_else(|| format!("{} is missing in it", quoted_text(name)))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// Decodes percent-encoded text, which must be UTF-8.
pub(super) fn percent_decode(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(std::borrow::Cow::into_owned).map_err(|_| String::from("it is no text in UTF-8"))
}

/// Decodes base64 in either alphabet (RFC 4648, sections 4 and 5), with or without padding.
pub(super) fn decode_base64(text: &str) -> Result<String, String> {
    let text = text.replace(' ', "+");
    let engine = if text.contains(['-', '_']) { BASE64_URL_SAFE_ENGINE } else { BASE64_STANDARD_ENGINE };
    let bytes = engine.decode(text).map_err(|_| String::from("its content is not valid base64"))?;
    String::from_utf8(bytes).map_err(|_| String::from("its base64 does not encode UTF-8 text"))
}
