//! URI templates of the server, and parsing of URIs that match them.

use percent_encoding::percent_decode_str;
use url::Url;

/// URI template of the notes.
pub(crate) const NOTE_TEMPLATE: &str = "note:///{name}";
/// URI template of the tide tables.
pub(crate) const TIDE_TEMPLATE: &str = "tide:///{harbour}/{day}";
/// URI template of the ship search.
pub(crate) const SHIPS_TEMPLATE: &str = "ships:///search{?filter*}";

/// A URI that matches one of the server's templates, with the values of the template's variables.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TemplateMatch {
    /// The note with this name.
    Note(String),
    /// The tide table of a harbour on a day of the week.
    Tide { harbour: String, day: String },
    /// A search for ships, as pairs of field and text.
    Ships(Vec<(String, String)>),
}

/// Parses a URI into its template and values, or returns `None` if no template matches.
pub(crate) fn match_resource_template(uri: &str) -> Option<TemplateMatch> {
    let url = Url::parse(uri).ok()?;
    let path = url.path().strip_prefix('/')?;
    match url.scheme() {
        "note" => percent_decode(path).map(TemplateMatch::Note),
        "tide" => {
            let (harbour, day) = path.split_once('/')?;
            Some(TemplateMatch::Tide { harbour: percent_decode(harbour)?, day: percent_decode(day)? })
        }
        "ships" if path == "search" => Some(TemplateMatch::Ships(url.query_pairs().into_owned().collect())),
        _ => None,
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    (!text.is_empty() && !text.contains('/')).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_uris_are_matched_against_the_templates() {
        let note = TemplateMatch::Note("a b+c".to_owned());
        assert_eq!(
            match_resource_template("note:///a%20b+c"),
            Some(note),
            "RFC 6570 encodes a space as %20 and leaves a plus in a path unchanged"
        );
        let tide = TemplateMatch::Tide { harbour: "Bergen".to_owned(), day: "monday".to_owned() };
        assert_eq!(
            match_resource_template("tide:///Bergen/monday"),
            Some(tide),
            "two variables should be two path segments"
        );
        let ships = TemplateMatch::Ships(vec![("kind".to_owned(), "tug".to_owned())]);
        assert_eq!(
            match_resource_template("ships:///search?kind=tug"),
            Some(ships),
            "an exploded map should become a query"
        );
        assert_eq!(
            match_resource_template("ships:///search"),
            Some(TemplateMatch::Ships(vec![])),
            "an empty map should result in no query"
        );
    }

    #[test]
    fn other_uris_match_no_template() {
        for uri in ["", "note:///", "tide:///Bergen", "file:///etc/passwd", "note:///a%2Fb"] {
            assert_eq!(match_resource_template(uri), None, "{uri:?} should match no template");
        }
    }
}
