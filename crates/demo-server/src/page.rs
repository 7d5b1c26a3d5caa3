//! Pagination of the server's lists.

use rmcp::model::{ErrorData, PaginatedRequestParams};

/// Number of items on a page of a list, small enough that the list of tools needs several pages.
const ITEMS_PER_PAGE: usize = 10;
const CURSOR_PREFIX: &str = "from-";

/// Returns the requested page of items, and the cursor of the next page or `None` after the last one.
pub(crate) fn paginate<T>(
    items: Vec<T>,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor.as_deref()) {
        None => 0,
        Some(cursor) => parse_cursor(cursor, items.len())?,
    };
    let next = start.saturating_add(ITEMS_PER_PAGE);
    let next_cursor = (next < items.len()).then(|| format!("{CURSOR_PREFIX}{next}"));
    let items = items.into_iter().skip(start).take(ITEMS_PER_PAGE).collect();
    Ok((items, next_cursor))
}

fn parse_cursor(cursor: &str, length: usize) -> Result<usize, ErrorData> {
    cursor
        .strip_prefix(CURSOR_PREFIX)
        .and_then(|number| number.parse().ok())
        .filter(|start| *start <= length)
        .ok_or_else(|| ErrorData::invalid_params("this cursor is not one of ours", None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn request_at_cursor(cursor: &str) -> PaginatedRequestParams {
        PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned()))
    }

    #[test]
    fn pages_add_up_to_the_whole_list() {
        let all: Vec<usize> = (0..23).collect();
        let (mut received, mut cursor) = paginate(all.clone(), None).unwrap();
        while let Some(next) = cursor {
            let (items, after) = paginate(all.clone(), Some(&request_at_cursor(&next))).unwrap();
            received.extend(items);
            cursor = after;
        }
        assert_eq!(received, all, "no item should be lost or repeated between pages");
    }

    #[test]
    fn full_last_page_has_no_cursor() {
        let (items, next) = paginate(vec![0; ITEMS_PER_PAGE], None).unwrap();
        assert_eq!(items.len(), ITEMS_PER_PAGE, "the page should be full");
        assert_eq!(next, None, "the last page should have no cursor");
    }

    #[test]
    fn unknown_cursor_is_an_invalid_parameter() {
        for cursor in ["", "10", "from-", "from--1", "from-9999"] {
            let error = paginate(vec![1, 2, 3], Some(&request_at_cursor(cursor))).unwrap_err();
            assert_eq!(error.code.0, -32602, "cursor {cursor:?} should be rejected as the specification requires");
        }
    }
}
