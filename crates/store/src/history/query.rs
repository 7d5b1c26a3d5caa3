//! Search queries: their form for the index, and excerpts around matches.

use domain::history::Excerpt;

use super::index_words::{IndexedWord, index_words};

/// Maximum number of terms in a search text. Further terms are ignored.
const MAX_SEARCH_TERMS: usize = 16;
/// Number of bytes at the beginning of a search text that are parsed.
const MAX_SEARCH_TEXT_BYTES: usize = 400;
/// Number of characters of the text that an excerpt shows before the first match.
const EXCERPT_LEADING_CHARS: usize = 40;
/// Maximum length of the excerpt of a found text, in characters.
const MAX_EXCERPT_CHARS: usize = 200;

/// A search term: a word, or a sequence of single-character words that must be adjacent.
#[derive(Debug, PartialEq, Eq)]
struct QueryTerm {
    words: Vec<String>,
    /// Set if words that begin with the term's last word match as well, because the user may still be typing it.
    is_prefix: bool,
}

/// A full-text search query for the history. An item matches if it contains all of these terms.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SearchQuery(Vec<QueryTerm>);

impl SearchQuery {
    /// Parses the text of a search. Returns `None` if the text contains no words.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_SEARCH_TEXT_BYTES)];
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut end_of_row = None;
        let mut last_end = 0;
        for IndexedWord { start, end, folded, is_single_character } in index_words(text) {
            let goes_on = is_single_character && end_of_row == Some(start);
            match terms.last_mut() {
                Some(term) if goes_on => term.words.push(folded),
                _ => terms.push(QueryTerm { words: vec![folded], is_prefix: false }),
            }
            if terms.len() > MAX_SEARCH_TERMS {
                terms.pop();
                break;
            }
            end_of_row = is_single_character.then_some(end);
            last_end = end;
        }
        let is_being_typed = last_end == text.len() && end_of_row.is_none();
        terms.last_mut()?.is_prefix = is_being_typed;
        Some(Self(terms))
    }

    /// Returns the query in FTS5 syntax. Words contain only letters, digits and accents, so they contain no FTS5
    /// operators.
    pub(super) fn to_fts_query(&self) -> String {
        let terms: Vec<String> = self
            .0
            .iter()
            .map(|term| format!("\"{}\"{}", term.words.join(" "), if term.is_prefix { " *" } else { "" }))
            .collect();
        terms.join(" AND ")
    }

    /// Returns `true` if the query matches a text. `words` are the words of that text, separated by blanks.
    pub(super) fn matches(&self, words: &str) -> bool {
        self.0.iter().all(|term| {
            let row = term.words.join(" ");
            words.match_indices(&row).any(|(at, _)| {
                let (before, after) = (&words[..at], &words[at + row.len()..]);
                (before.is_empty() || before.ends_with(' '))
                    && (term.is_prefix || after.is_empty() || after.starts_with(' '))
            })
        })
    }

    /// Returns the byte offset of the end of the longest match of a term that begins at the first of the words `rest`,
    /// or `None` if no term matches there.
    fn match_end(&self, rest: &[IndexedWord]) -> Option<usize> {
        let fits = |term: &QueryTerm| {
            let row = rest.get(..term.words.len())?;
            let same = row.iter().zip(&term.words).all(|(word, term_word)| {
                word.folded == *term_word || (term.is_prefix && word.folded.starts_with(term_word.as_str()))
            });
            if same { row.last().map(|word| word.end) } else { None }
        };
        self.0.iter().filter_map(fits).max()
    }

    /// Returns an excerpt of the text around the first match.
    pub(super) fn excerpt(&self, text: &str) -> Excerpt {
        let all: Vec<IndexedWord> = index_words(text).collect();
        let mut matches: Vec<(usize, usize)> = Vec::new();
        let mut bounds = None;
        for (at, word) in all.iter().enumerate() {
            let (_, last) = bounds.unwrap_or((0, text.len()));
            if word.start >= last {
                break;
            }
            let Some(end) = self.match_end(&all[at..]) else { continue };
            let (_, last) = *bounds.get_or_insert_with(|| excerpt_range(text, word.start));
            if matches.last().is_none_or(|&(_, before)| before <= word.start) && end <= last {
                matches.push((word.start, end));
            }
        }
        let (from, to) = bounds.unwrap_or_else(|| excerpt_range(text, 0));
        let units = |range: &str| u32::try_from(range.encode_utf16().count()).unwrap_or(u32::MAX);
        Excerpt {
            text: text[from..to].replace(['\n', '\t', '\r'], " "),
            cut_before: from > 0,
            cut_after: to < text.len(),
            matches: matches.iter().map(|&(a, b)| (units(&text[from..a]), units(&text[from..b]))).collect(),
        }
    }
}

/// Returns the byte range of a text that an excerpt shows around a match. It begins at a word boundary if one is near.
fn excerpt_range(text: &str, found: usize) -> (usize, usize) {
    let before = text[..found].char_indices().rev().take(EXCERPT_LEADING_CHARS);
    let mut from = before.last().map_or(found, |(at, _)| at);
    if from > 0
        && let Some(blank) = text[from..found].find(char::is_whitespace)
    {
        from += blank;
        from = text[from..].find(|c: char| !c.is_whitespace()).map_or(found, |more| from + more).min(found);
    }
    let to = text[from..].char_indices().nth(MAX_EXCERPT_CHARS).map_or(text.len(), |(at, _)| from + at);
    (from, to)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fts_query(text: &str) -> String {
        SearchQuery::parse(text).unwrap().to_fts_query()
    }

    #[test]
    fn search_query_matches_only_texts_with_all_words() {
        assert_eq!(fts_query("Fjord berg"), r#""fjord" AND "berg" *"#, "the last word must match as a prefix");
        assert_eq!(fts_query("fjord "), r#""fjord""#, "a completed word must match exactly");
        assert_eq!(fts_query("港口 天气"), r#""港 口" AND "天 气""#, "adjacent ideographs must form a phrase");
        assert_eq!(
            fts_query("北京2026 \" OR * NEAR("),
            r#""北 京" AND "2026" AND "or" AND "near""#,
            "operators must be ignored"
        );
        assert_eq!(SearchQuery::parse(" \"*-^ "), None, "a search without words must be empty");
        assert_eq!(
            fts_query(&"a ".repeat(300)).matches("AND").count(),
            MAX_SEARCH_TERMS - 1,
            "the number of terms must be bounded"
        );
    }

    #[test]
    fn matching_is_consistent_with_the_index() {
        let words = crate::history::index_words::folded_words_for_index("The ferry to Ålesund, 我们在港口见面");
        let fits = |text: &str| SearchQuery::parse(text).unwrap().matches(&words);
        for text in ["ferry", "fer", "the ferry", "ALESUND ", "港口", "港", "to 见面", "the"] {
            assert!(fits(text), "{text:?} must match");
        }
        for text in ["fer ", "erry", "口港", "港口 北京", "lesund"] {
            assert!(!fits(text), "{text:?} must not match");
        }
    }

    #[test]
    fn excerpt_shows_the_first_match() {
        let query = SearchQuery::parse("CAFE por").unwrap();
        let long = format!("{}we met at the Café 🛳 of the port.\nThen {}", "before ".repeat(40), "after ".repeat(60));
        let excerpt = query.excerpt(&long);
        assert!(excerpt.cut_before && excerpt.cut_after, "the excerpt must be truncated at both ends");
        assert!(excerpt.text.starts_with("before ") && excerpt.text.contains("port. Then"), "{:?}", excerpt.text);
        let units: Vec<u16> = excerpt.text.encode_utf16().collect();
        let marked: Vec<String> =
            excerpt.matches.iter().map(|&(a, b)| String::from_utf16(&units[a as usize..b as usize]).unwrap()).collect();
        assert_eq!(marked, ["Café", "port"], "matches must be returned as written, in UTF-16 units");
        let chinese = SearchQuery::parse("港口").unwrap().excerpt("我们在港口见面");
        assert_eq!(
            (chinese.matches, chinese.cut_before),
            (vec![(3, 5)], false),
            "a phrase of ideographs must be one match"
        );
        assert_eq!(query.excerpt("").text, "", "an empty text must have an empty excerpt");
    }
}
