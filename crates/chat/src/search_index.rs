//! Finds tools by words, for a model that can't receive all of them. Ranks them by BM25, which gives rare words more
//! weight. Equal queries have equal results, since ties are broken by position.

use std::collections::HashMap;

/// BM25 parameter that limits the weight of repeated words.
const BM25_K1: f32 = 1.2;
/// BM25 parameter for the lower weight of words in long texts.
const BM25_B: f32 = 0.5;
/// Factor for the weight of a word in a tool's name, compared with one in the description.
const NAME_MATCH_WEIGHT: f32 = 4.0;
/// Factor for the weight of a query's word that is only a prefix of a word in the text.
const PREFIX_MATCH_WEIGHT: f32 = 0.6;
/// Maximum number of words of a text or query that are considered. Further words are ignored.
const MAX_INDEXED_WORDS: usize = 400;

/// BM25 index of named texts, such as tools with their descriptions.
#[derive(Debug, Default)]
pub struct SearchIndex {
    texts: Vec<TermWeights>,
    /// Number of texts that contain each word.
    document_frequency: HashMap<String, u32>,
    average: f32,
}

/// Weight of each word in one text of the index.
#[derive(Debug)]
struct TermWeights {
    weights: HashMap<String, f32>,
    length: f32,
}

impl SearchIndex {
    /// Creates an index of these texts, each a pair of name and description.
    pub fn new<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut index = Self::default();
        for (name, description) in texts {
            let mut weights: HashMap<String, f32> = HashMap::new();
            let mut length = 0.0;
            let named = split_words(name).into_iter().map(|word| (word, NAME_MATCH_WEIGHT));
            for (word, weight) in named.chain(split_words(description).into_iter().map(|word| (word, 1.0))) {
                *weights.entry(word).or_default() += weight;
                length += weight;
            }
            for word in weights.keys() {
                *index.document_frequency.entry(word.clone()).or_default() += 1;
            }
            index.average += length;
            index.texts.push(TermWeights { weights, length });
        }
        index.average /= to_f32(index.texts.len()).max(1.0);
        index
    }

    /// Returns the indexes of the best matching texts, at most `limit`, the best first. Texts that contain no word of
    /// the query don't match.
    #[must_use]
    pub fn find(&self, query: &str, limit: usize) -> Vec<usize> {
        let mut words = split_words(query);
        words.sort_unstable();
        words.dedup();
        let mut found: Vec<(f32, usize)> = Vec::new();
        for (at, text) in self.texts.iter().enumerate() {
            let score: f32 = words.iter().map(|word| self.score(word, text)).sum();
            if score > 0.0 {
                found.push((score, at));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().take(limit).map(|(_, at)| at).collect()
    }

    fn score(&self, word: &str, text: &TermWeights) -> f32 {
        let (weight, document_frequency) = match text.weights.get(word) {
            Some(weight) => (*weight, self.document_frequency.get(word).copied().unwrap_or(1)),
            // Prefixes such as "calc" match; shorter ones would match too much.
            None if word.chars().count() >= 3 => {
                let begun =
                    text.weights.iter().filter(|(other, _)| other.starts_with(word) || is_inflection(word, other));
                let Some((other, weight)) = begun.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0))) else {
                    return 0.0;
                };
                (*weight * PREFIX_MATCH_WEIGHT, self.document_frequency.get(other).copied().unwrap_or(1))
            }
            None => return 0.0,
        };
        #[allow(clippy::cast_precision_loss, reason = "there are thousands of tools at most")]
        let (all, document_frequency) = (self.texts.len() as f32, document_frequency as f32);
        let rarity = (1.0 + (all - document_frequency + 0.5) / (document_frequency + 0.5)).ln();
        let held_back = BM25_K1 * (1.0 - BM25_B + BM25_B * text.length / self.average.max(1.0));
        rarity * weight * (BM25_K1 + 1.0) / (weight + held_back)
    }
}

#[allow(clippy::cast_precision_loss, reason = "there are thousands of tools at most")]
const fn to_f32(number: usize) -> f32 {
    number as f32
}

/// Returns `true` if `word` is `other` with a suffix, such as "files" for "file".
fn is_inflection(word: &str, other: &str) -> bool {
    other.chars().count() >= 3 && word.strip_prefix(other).is_some_and(|rest| rest.len() <= 3)
}

/// Returns the words of a text in lower case: also the parts of `camelCase`, and pairs of adjacent characters in
/// scripts without spaces.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    let mut pairs = Vec::new();
    for c in text.chars() {
        if is_cjk(c) {
            end(&mut word);
            if is_cjk(before) {
                pairs.push(format!("{before}{c}"));
            } else {
                pairs.push(c.to_string());
            }
        } else if c.is_alphanumeric() {
            if c.is_uppercase() && before.is_lowercase() {
                end(&mut word);
            }
            word.extend(c.to_lowercase());
        } else {
            end(&mut word);
        }
        before = c;
    }
    end(&mut word);
    words.extend(pairs);
    words.truncate(MAX_INDEXED_WORDS);
    words
}

/// Returns `true` for Chinese, Japanese and Korean characters, where spaces don't reliably separate words.
const fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index_of_tools() -> SearchIndex {
        SearchIndex::new([
            ("files read_file", "Reads a file from the disk"),
            ("files write_file", "Writes text into a file"),
            ("mail sendMessage", "Sends an e-mail message to a recipient"),
            ("calendar create_event", "Adds an appointment to the calendar"),
            ("天气 查询", "查询城市的天气预报"),
        ])
    }

    #[test]
    fn match_in_the_tool_name_ranks_before_one_in_the_description() {
        let index = index_of_tools();
        assert_eq!(index.find("read", 5).first(), Some(&0), "a match in the name is first");
        assert_eq!(index.find("send a message", 5).first(), Some(&2), "parts of a camelCase name match");
        assert_eq!(index.find("appointments", 5), [3], "a word with a suffix matches");
        assert_eq!(index.find("calen", 5), [3], "a prefix matches");
        assert_eq!(index.find("天气预报", 5), [4], "text without spaces is matched by pairs of characters");
    }

    #[test]
    fn unmatched_query_finds_nothing_and_results_are_deterministic() {
        let index = index_of_tools();
        assert!(index.find("quantum", 5).is_empty(), "an unknown word matches nothing");
        assert!(index.find("", 5).is_empty(), "an empty query matches nothing");
        assert_eq!(index.find("file", 5), index.find("file", 5), "equal queries have equal results");
        assert_eq!(index.find("file", 1).len(), 1, "the number of results is limited");
    }
}
