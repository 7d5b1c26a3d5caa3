//! SVG plot of one series, with data sizes on a logarithmic axis and costs on a linear axis that starts at zero.

/// Width and height of the whole image, in pixels.
const CHART_SIZE: (f64, f64) = (440.0, 220.0);
const CHART_LEFT_MARGIN: f64 = 64.0;
const CHART_RIGHT_MARGIN: f64 = 24.0;
const CHART_TOP_MARGIN: f64 = 24.0;
const CHART_BOTTOM_MARGIN: f64 = 44.0;

/// Returns the SVG plot of these points, which are sorted by size, with labels for the units of both axes.
pub(super) fn growth_chart_svg(points: &[(f64, f64)], sizes: &str, unit: &str) -> String {
    let most = points.iter().map(|(_, cost)| *cost).fold(f64::MIN_POSITIVE, f64::max);
    let (first, last) = (log10_of_size(points.first()), log10_of_size(points.last()));
    let span = if last > first { last - first } else { 1.0 };
    let place = |&(size, cost): &(f64, f64)| {
        let x = CHART_LEFT_MARGIN
            + (log10_of_size(Some(&(size, cost))) - first) / span
                * (CHART_SIZE.0 - CHART_LEFT_MARGIN - CHART_RIGHT_MARGIN);
        let y =
            CHART_SIZE.1 - CHART_BOTTOM_MARGIN - cost / most * (CHART_SIZE.1 - CHART_TOP_MARGIN - CHART_BOTTOM_MARGIN);
        (x, y)
    };
    let line: Vec<String> = points.iter().map(place).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#57606a\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <path d=\"M{CHART_LEFT_MARGIN},{CHART_TOP_MARGIN} V{bottom} H{right}\" fill=\"none\" stroke=\"#d0d7de\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#0969da\" stroke-width=\"2\"/>\n",
        CHART_SIZE.0,
        CHART_SIZE.1,
        line.join(" "),
        bottom = CHART_SIZE.1 - CHART_BOTTOM_MARGIN,
        right = CHART_SIZE.0 - CHART_RIGHT_MARGIN,
    );
    for point in points {
        let (x, y) = place(point);
        text.push_str(&format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"#0969da\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            y - 8.0,
            format_number(point.1),
            CHART_SIZE.1 - CHART_BOTTOM_MARGIN + 16.0,
            point.0,
        ));
    }
    text.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{sizes}</text>\n<text x=\"12\" y=\"14\">{unit}</text>\n</svg>\n",
        f64::midpoint(CHART_LEFT_MARGIN, CHART_SIZE.0 - CHART_RIGHT_MARGIN),
        CHART_SIZE.1 - 8.0,
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
        let text = growth_chart_svg(&[(10.0, 1.0), (100.0, 2.0), (1_000.0, 4.0)], "rules", "ms");
        assert!(
            text.contains("points=\"64.0,138.0 240.0,100.0 416.0,24.0\""),
            "the point should be in the middle of the logarithmic axis at a quarter of the height: {text}"
        );
    }

    #[test]
    fn single_point_and_empty_series_are_drawn() {
        assert!(
            growth_chart_svg(&[(0.0, 0.0)], "entries", "ms").contains("<circle"),
            "a single point should be at the left edge"
        );
        assert!(
            growth_chart_svg(&[], "entries", "ms").ends_with("</svg>\n"),
            "a plot without points should contain only axes"
        );
    }
}
