//! Deserializers with bounds for texts, lists and maps, and a limit for the nesting of JSON.

use std::fmt;
use std::marker::PhantomData;

use foreign::escape_invisible;
use indexmap::IndexMap;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Deserializes a text of at most `N` bytes unchanged, since it will be executed, sent or looked up. Numbers and
/// booleans are converted to text.
pub(super) fn deserialize_unchanged<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    deserializer.deserialize_any(BoundedText::<N>)
}

/// Deserializes a text of at most `N` bytes unchanged. Fails if the text is missing.
pub(super) fn deserialize_required_text<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<String, D::Error> {
    deserialize_unchanged::<D, N>(deserializer)?
        .filter(|text| !text.is_empty())
        .ok_or_else(|| D::Error::custom("it is empty"))
}

/// Deserializes a text of at most `N` bytes that is only displayed. Line breaks become spaces, and invisible or
/// direction-changing characters are escaped.
pub(super) fn deserialize_display_text<'de, D: Deserializer<'de>, const N: usize>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    Ok(deserialize_unchanged::<D, N>(deserializer)?.map(|text| one_line(&text)).filter(|text| !text.is_empty()))
}

/// Returns a text with its line breaks replaced by spaces and its invisible characters escaped.
pub(crate) fn one_line(text: &str) -> String {
    escape_invisible(text.replace(['\r', '\n', '\t'], " ").trim()).into_owned()
}

/// Deserializes a list of at most `N` elements. `null` counts as empty.
pub(super) fn deserialize_list<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(BoundedList::<T, N>(PhantomData))
}

/// Deserializes a map of at most `N` entries, whose order is retained. `null` counts as empty.
pub(super) fn deserialize_map<'de, D: Deserializer<'de>, T: Deserialize<'de>, const N: usize>(
    deserializer: D,
) -> Result<IndexMap<String, T>, D::Error> {
    deserializer.deserialize_any(BoundedMap::<T, N>(PhantomData))
}

struct BoundedText<const N: usize>;

impl<const N: usize> BoundedText<N> {
    fn check_length<E: Error>(text: String) -> Result<Option<String>, E> {
        if text.len() > N {
            return Err(E::custom(format_args!("it is longer than {N} bytes")));
        }
        Ok(Some(text))
    }
}

impl<'de, const N: usize> Visitor<'de> for BoundedText<N> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Self::check_length(text.to_owned())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Self::check_length(value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Self::check_length(value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Self::check_length(value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Self::check_length(value.to_string())
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

struct BoundedList<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for BoundedList<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            if list.len() == N {
                return Err(A::Error::custom(format_args!("it has more than {N} elements")));
            }
            list.push(element);
        }
        Ok(list)
    }
}

struct BoundedMap<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for BoundedMap<T, N> {
    type Value = IndexMap<String, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(IndexMap::new())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = IndexMap::new();
        while let Some((name, value)) = entries.next_entry::<String, T>()? {
            if map.len() == N {
                return Err(A::Error::custom(format_args!("it has more than {N} entries")));
            }
            if name.len() > super::MAX_LABEL_BYTES {
                return Err(A::Error::custom(format_args!("a name is longer than {} bytes", super::MAX_LABEL_BYTES)));
            }
            map.insert(name, value);
        }
        Ok(map)
    }
}

/// Returns `true` if lists and objects in a JSON text are nested at most `most` levels deep. Counts the brackets
/// outside of strings, without parsing the JSON.
pub(super) fn is_within_depth(json: &[u8], most: usize) -> bool {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return false;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}
