//! A small SVG of one series: sizes on a logarithmic axis, costs on a linear one that begins at zero.

/// Width and height, and the space around the plot for words, in pixels.
const SIZE: (f64, f64) = (440.0, 220.0);
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 44.0;

/// The points, in order of their sizes, with the words for both axes.
pub(super) fn svg(points: &[(f64, f64)], sizes: &str, unit: &str) -> String {
    let most = points.iter().map(|(_, cost)| *cost).fold(f64::MIN_POSITIVE, f64::max);
    let (first, last) = (log(points.first()), log(points.last()));
    let span = if last > first { last - first } else { 1.0 };
    let place = |&(size, cost): &(f64, f64)| {
        let x = LEFT + (log(Some(&(size, cost))) - first) / span * (SIZE.0 - LEFT - RIGHT);
        let y = SIZE.1 - BOTTOM - cost / most * (SIZE.1 - TOP - BOTTOM);
        (x, y)
    };
    let line: Vec<String> = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#57606a\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <path d=\"M{LEFT},{TOP} V{bottom} H{right}\" fill=\"none\" stroke=\"#d0d7de\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#0969da\" stroke-width=\"2\"/>\n",
        SIZE.0,
        SIZE.1,
        line.join(" "),
        bottom = SIZE.1 - BOTTOM,
        right = SIZE.0 - RIGHT,
    );
    for point in points {
        let (x, y) = place(point);
        text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#0969da\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y - 8.0,
            number(point.1),
            SIZE.1 - BOTTOM + 16.0,
            point.0,
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{sizes}</text>\n<text x=\"12\" y=\"14\">{unit}</text>\n</svg>\n",
        f64::midpoint(LEFT, SIZE.0 - RIGHT),
        SIZE.1 - 8.0,
    ));
    text
}

/// Returns the logarithm of a point's size.
fn log(point: Option<&(f64, f64)>) -> f64 {
    point.map_or(0.0, |(size, _)| size.max(1.0).log10())
}

/// Formats a number with three significant digits.
pub(super) fn number(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ if value >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_begin_at_zero_and_sizes_are_logarithmic() {
        let text = svg(&[(10.0, 1.0), (100.0, 2.0), (1_000.0, 4.0)], "rules", "ms");
        assert!(
            text.contains("points=\"64.0,138.0 240.0,100.0 416.0,24.0\""),
            "halfway by power, a quarter of the height: {text}"
        );
    }

    #[test]
    fn single_point_and_empty_series_are_drawn() {
        assert!(svg(&[(0.0, 0.0)], "entries", "ms").contains("<circle"), "at the left edge");
        assert!(svg(&[], "entries", "ms").ends_with("</svg>\n"), "only axes");
    }
}
