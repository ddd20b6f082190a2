//! Plots as SVG.

use std::path::Path;

use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;

use super::RenderError;

/// A curve: its name, and its points in ascending order.
#[derive(Clone, Debug)]
pub struct Line {
    /// In the legend.
    pub name: String,
    /// (x, y)
    pub points: Vec<(f64, f64)>,
}

/// What a plot shows besides its curves.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// Above.
    pub title: &'a str,
    /// Below.
    pub x: &'a str,
    /// Beside; its scale is logarithmic.
    pub y: &'a str,
}

/// Told apart by people who see red and green alike, too (Okabe and Ito's palette).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];

const SIZE: (u32, u32) = (720, 440);

/// Draws the curves; the scale of x is logarithmic where that makes it readable.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(path: &Path, labels: Labels<'_>, lines: &[Line]) -> Result<(), RenderError> {
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    if all().next().is_none() {
        return Ok(());
    }
    let bounds = |of: fn((f64, f64)) -> f64| {
        let values = all().map(of);
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    let ((left, right), (low, high)) = (bounds(|(x, _)| x), bounds(|(_, y)| y));
    let y = (low.max(1e-12) / 2.0..high.max(1e-12) * 2.0).log_scale();
    let is_logarithmic = left >= 1.0 && right / left >= 8.0;
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root);
    chart.caption(labels.title, ("sans-serif", 18)).margin(12);
    chart.x_label_area_size(40).y_label_area_size(72);
    let drawn = match is_logarithmic {
        true => {
            let x = (left / 1.2..right * 1.2).log_scale();
            chart.build_cartesian_2d(x, y).and_then(|chart| fill(chart, labels, lines))
        }
        false => {
            let margin = ((right - left) / 20.0).max(0.01);
            let x = left - margin..right + margin;
            chart.build_cartesian_2d(x, y).and_then(|chart| fill(chart, labels, lines))
        }
    };
    let failed = |message: String| RenderError::Plot { path: path.to_owned(), message };
    drawn.and_then(|()| root.present()).map_err(|error| failed(error.to_string()))
}

/// A chart on a canvas B.
type Chart<'a, B, X, Y> = ChartContext<'a, B, Cartesian2d<X, Y>>;

fn fill<'a, B, X, Y>(
    mut chart: Chart<'a, B, X, Y>,
    labels: Labels<'_>,
    lines: &[Line],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>>
where
    B: DrawingBackend + 'a,
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let number = |value: &f64| match value.abs() {
        v if v == 0.0 || (0.01..1e5).contains(&v) => format!("{value}"),
        _ => format!("{value:.0e}"),
    };
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(labels.x).y_desc(labels.y).light_line_style(TRANSPARENT);
    mesh.x_label_formatter(&number).y_label_formatter(&number).draw()?;
    for (line, &colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let curve = LineSeries::new(line.points.iter().copied(), colour.stroke_width(2));
        let key = move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2));
        chart.draw_series(curve.point_size(3))?.label(&line.name).legend(key);
    }
    let mut legend = chart.configure_series_labels();
    legend.position(SeriesLabelPosition::UpperLeft).background_style(WHITE.mix(0.8));
    legend.border_style(BLACK.mix(0.3)).draw()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_plot_has_its_curves_and_labels() {
        let directory = tempfile::tempdir().unwrap();
        let labels = Labels { title: "Title", x: "events", y: "seconds" };
        let line = |name: &str, points: &[(f64, f64)]| Line {
            name: name.to_owned(),
            points: points.to_vec(),
        };
        for (name, points) in [
            ("logarithmic", [(1e2, 1e-6), (1e4, 1e-4), (1e8, 1.0)]),
            ("linear", [(0.0, 1e-6), (0.5, 1e-4), (1.0, 1.0)]),
        ] {
            let path = directory.path().join(name).with_extension("svg");
            draw(&path, labels, &[line("ours", &points), line("theirs", &points[..1])]).unwrap();
            let svg = fs::read_to_string(&path).unwrap();
            let texts = ["Title", "events", "seconds", "ours", "theirs", "<polyline", "<circle"];
            assert!(texts.iter().all(|text| svg.contains(text)), "{name}: {svg}");
        }
    }

    #[test]
    fn there_is_no_plot_of_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.svg");
        let labels = Labels { title: "", x: "", y: "" };
        draw(&path, labels, &[]).unwrap();
        assert!(!path.exists());
    }
}
