//! Formats tables and points in time.

/// Formats rows as a table with aligned columns. The last column is not padded.
pub(crate) fn format_table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0).min(40)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut shown = String::new();
        for (column, cell) in row.iter().enumerate() {
            shown.push_str(cell);
            if column + 1 < row.len() {
                let missing = widths[column].saturating_sub(cell.chars().count());
                shown.extend(std::iter::repeat_n(' ', missing + 2));
            }
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// Formats a time, in milliseconds since 1970, as date and time in UTC.
pub(crate) fn format_time(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(chrono::DateTime::from_timestamp_millis);
    // Times beyond the range of the calendar are printed as a number.
    time.map_or_else(|| format!("{millis} ms after 1970"), |time| time.format("%Y-%m-%d %H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_dates() {
        let cases = [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400_000, "2000-02-29 00:00:00Z"),
            (1_709_251_199_999, "2024-02-29 23:59:59Z"),
            (1_798_761_600_000, "2027-01-01 00:00:00Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00Z"),
            (u64::MAX, "18446744073709551615 ms after 1970"),
        ];
        for (millis, expected) in cases {
            assert_eq!(format_time(millis), expected, "the time {millis}");
        }
    }

    #[test]
    fn table_columns_are_aligned() {
        let rows = [vec!["a".into(), "bb".into(), "c".into()], vec!["aaa".into(), String::new(), "c".into()]];
        assert_eq!(format_table(&rows), "a    bb  c\naaa      c\n", "each column should be as wide as its widest cell");
    }
}
