//! What the user searches for, as the index is asked, and where in a text it stands.

use domain::history::Excerpt;

use super::words::{Word, words};

/// The most terms of a search; more are left out.
const MAX_TERMS: usize = 16;
/// How much of a search is read, in bytes.
const MAX_QUERY: usize = 400;
/// How much of the text stands before the first match, in characters.
const BEFORE: usize = 40;
/// How long an excerpt is, in characters.
const LENGTH: usize = 200;

/// A row of words that must follow each other. Only characters that stand alone come in rows.
#[derive(Debug, PartialEq, Eq)]
struct Term {
    words: Vec<String>,
    /// Whether it may be the beginning of a word.
    begins: bool,
}

/// What is searched for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query(Vec<Term>);

impl Query {
    /// None if there are no words in it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = &text[..text.floor_char_boundary(MAX_QUERY)];
        let mut terms: Vec<Term> = Vec::new();
        let mut end_of_row = None;
        let mut last_end = 0;
        for Word { start, end, folded, alone } in words(text) {
            let goes_on = alone && end_of_row == Some(start);
            match terms.last_mut() {
                Some(term) if goes_on => term.words.push(folded),
                _ => terms.push(Term { words: vec![folded], begins: false }),
            }
            if terms.len() > MAX_TERMS {
                terms.pop();
                break;
            }
            end_of_row = alone.then_some(end);
            last_end = end;
        }
        let is_being_typed = last_end == text.len() && end_of_row.is_none();
        terms.last_mut()?.begins = is_being_typed;
        Some(Self(terms))
    }

    /// As FTS5 is asked. Words are letters only, so nothing in them is a sign of its language.
    pub(super) fn for_index(&self) -> String {
        let terms: Vec<String> = self
            .0
            .iter()
            .map(|term| format!("\"{}\"{}", term.words.join(" "), if term.begins { " *" } else { "" }))
            .collect();
        terms.join(" AND ")
    }

    /// Whether a text fits, of which these are the words with blanks between them.
    pub(super) fn fits(&self, words: &str) -> bool {
        self.0.iter().all(|term| {
            let row = term.words.join(" ");
            words.match_indices(&row).any(|(at, _)| {
                let (before, after) = (&words[..at], &words[at + row.len()..]);
                (before.is_empty() || before.ends_with(' '))
                    && (term.begins || after.is_empty() || after.starts_with(' '))
            })
        })
    }

    /// Where a term begins at this word, the end of its match.
    fn end_at(&self, rest: &[Word]) -> Option<usize> {
        let fits = |term: &Term| {
            let row = rest.get(..term.words.len())?;
            let same = row
                .iter()
                .zip(&term.words)
                .all(|(word, asked)| word.folded == *asked || (term.begins && word.folded.starts_with(asked.as_str())));
            if same { row.last().map(|word| word.end) } else { None }
        };
        self.0.iter().filter_map(fits).max()
    }

    /// Some of a text, around the first match of all.
    pub(super) fn excerpt(&self, text: &str) -> Excerpt {
        let all: Vec<Word> = words(text).collect();
        let mut matches: Vec<(usize, usize)> = Vec::new();
        let mut bounds = None;
        for (at, word) in all.iter().enumerate() {
            let (_, last) = bounds.unwrap_or((0, text.len()));
            if word.start >= last {
                break;
            }
            let Some(end) = self.end_at(&all[at..]) else { continue };
            let (_, last) = *bounds.get_or_insert_with(|| window(text, word.start));
            if matches.last().is_none_or(|&(_, before)| before <= word.start) && end <= last {
                matches.push((word.start, end));
            }
        }
        let (from, to) = bounds.unwrap_or_else(|| window(text, 0));
        let units = |range: &str| u32::try_from(range.encode_utf16().count()).unwrap_or(u32::MAX);
        Excerpt {
            text: text[from..to].replace(['\n', '\t', '\r'], " "),
            cut_before: from > 0,
            cut_after: to < text.len(),
            matches: matches.iter().map(|&(a, b)| (units(&text[from..a]), units(&text[from..b]))).collect(),
        }
    }
}

/// What is shown around a match, in bytes. It begins where a word does, as far as that is near.
fn window(text: &str, found: usize) -> (usize, usize) {
    let before = text[..found].char_indices().rev().take(BEFORE);
    let mut from = before.last().map_or(found, |(at, _)| at);
    if from > 0
        && let Some(blank) = text[from..found].find(char::is_whitespace)
    {
        from += blank;
        from = text[from..].find(|c: char| !c.is_whitespace()).map_or(found, |more| from + more).min(found);
    }
    let to = text[from..].char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| from + at);
    (from, to)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn asked(text: &str) -> String {
        Query::read(text).unwrap().for_index()
    }

    #[test]
    fn a_search_asks_for_all_words_and_rows() {
        assert_eq!(asked("Fjord berg"), r#""fjord" AND "berg" *"#, "the last word may go on");
        assert_eq!(asked("fjord "), r#""fjord""#, "unless it was ended");
        assert_eq!(asked("港口 天气"), r#""港 口" AND "天 气""#, "ideographs come in rows");
        assert_eq!(asked("北京2026 \" OR * NEAR("), r#""北 京" AND "2026" AND "or" AND "near""#, "signs mean nothing");
        assert_eq!(Query::read(" \"*-^ "), None, "without words there is nothing to ask for");
        assert_eq!(asked(&"a ".repeat(300)).matches("AND").count(), MAX_TERMS - 1, "and not without end");
    }

    #[test]
    fn words_fit_as_the_index_would_have_it() {
        let words = crate::history::words::indexed("The ferry to Ålesund, 我们在港口见面");
        let fits = |text: &str| Query::read(text).unwrap().fits(&words);
        for text in ["ferry", "fer", "the ferry", "ALESUND ", "港口", "港", "to 见面", "the"] {
            assert!(fits(text), "{text:?} is in it");
        }
        for text in ["fer ", "erry", "口港", "港口 北京", "lesund"] {
            assert!(!fits(text), "{text:?} is not");
        }
    }

    #[test]
    fn an_excerpt_shows_the_first_match() {
        let query = Query::read("CAFE por").unwrap();
        let long = format!("{}we met at the Café 🛳 of the port.\nThen {}", "before ".repeat(40), "after ".repeat(60));
        let excerpt = query.excerpt(&long);
        assert!(excerpt.cut_before && excerpt.cut_after, "there is more on both sides");
        assert!(excerpt.text.starts_with("before ") && excerpt.text.contains("port. Then"), "{:?}", excerpt.text);
        let units: Vec<u16> = excerpt.text.encode_utf16().collect();
        let marked: Vec<String> =
            excerpt.matches.iter().map(|&(a, b)| String::from_utf16(&units[a as usize..b as usize]).unwrap()).collect();
        assert_eq!(marked, ["Café", "port"], "what was searched for, as it is written, counted as the page counts");
        let chinese = Query::read("港口").unwrap().excerpt("我们在港口见面");
        assert_eq!((chinese.matches, chinese.cut_before), (vec![(3, 5)], false), "a row of ideographs is one match");
        assert_eq!(query.excerpt("").text, "", "no text has no excerpt");
    }
}
