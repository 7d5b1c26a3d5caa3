//! SVG plot of one series, with data sizes on a logarithmic axis and costs on a linear axis that starts at zero.

/// Width and height of the whole image, in pixels.
const IMAGE_SIZE: (f64, f64) = (440.0, 220.0);
const LEFT_MARGIN: f64 = 64.0;
const RIGHT_MARGIN: f64 = 24.0;
const TOP_MARGIN: f64 = 24.0;
const BOTTOM_MARGIN: f64 = 44.0;

/// Returns the SVG plot of these points, which are sorted by size, with labels for the units of both axes.
pub(super) fn svg(points: &[(f64, f64)], sizes: &str, unit: &str) -> String {
    let most = points.iter().map(|(_, cost)| *cost).fold(f64::MIN_POSITIVE, f64::max);
    let (first, last) = (log10_of_size(points.first()), log10_of_size(points.last()));
    let span = if last > first { last - first } else { 1.0 };
    let place = |&(size, cost): &(f64, f64)| {
        let x = LEFT_MARGIN
            + (log10_of_size(Some(&(size, cost))) - first) / span * (IMAGE_SIZE.0 - LEFT_MARGIN - RIGHT_MARGIN);
        let y = IMAGE_SIZE.1 - BOTTOM_MARGIN - cost / most * (IMAGE_SIZE.1 - TOP_MARGIN - BOTTOM_MARGIN);
        (x, y)
    };
    let line: Vec<String> = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#57606a\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <path d=\"M{LEFT_MARGIN},{TOP_MARGIN} V{bottom} H{right}\" fill=\"none\" stroke=\"#d0d7de\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#0969da\" stroke-width=\"2\"/>\n",
        IMAGE_SIZE.0,
        IMAGE_SIZE.1,
        line.join(" "),
        bottom = IMAGE_SIZE.1 - BOTTOM_MARGIN,
        right = IMAGE_SIZE.0 - RIGHT_MARGIN,
    );
    for point in points {
        let (x, y) = place(point);
        text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#0969da\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y - 8.0,
            format_number(point.1),
            IMAGE_SIZE.1 - BOTTOM_MARGIN + 16.0,
            point.0,
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{sizes}</text>\n<text x=\"12\" y=\"14\">{unit}</text>\n</svg>\n",
        f64::midpoint(LEFT_MARGIN, IMAGE_SIZE.0 - RIGHT_MARGIN),
        IMAGE_SIZE.1 - 8.0,
    ));
    text
}

/// Returns the decimal logarithm of a point's data size, which is its horizontal position.
fn log10_of_size(point: Option<&(f64, f64)>) -> f64 {
    point.map_or(0.0, |(size, _)| size.max(1.0).log10())
}

/// Formats a number with three significant digits.
pub(super) fn format_number(value: f64) -> String {
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
    fn cost_axis_begins_at_zero_and_size_axis_is_logarithmic() {
        let text = svg(&[(10.0, 1.0), (100.0, 2.0), (1_000.0, 4.0)], "rules", "ms");
        assert!(
            text.contains("points=\"64.0,138.0 240.0,100.0 416.0,24.0\""),
            "the point should be in the middle of the logarithmic axis at a quarter of the height: {text}"
        );
    }

    #[test]
    fn single_point_and_empty_series_are_drawn() {
        assert!(svg(&[(0.0, 0.0)], "entries", "ms").contains("<circle"), "a single point should be at the left edge");
        assert!(svg(&[], "entries", "ms").ends_with("</svg>\n"), "a plot without points should contain only axes");
    }
}
