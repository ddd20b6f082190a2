//! Plots as SVG.

use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
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

/// Distinct in colour blindness, too (Okabe and Ito's palette).
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

/// Curves with fewer points than this are read in the table as well.
const LEAST_POINTS: usize = 3;

/// Draws the curves, if any has enough points to be one, and tells whether it did. The
/// scale of x is logarithmic where that makes it readable.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(path: &Path, labels: Labels<'_>, lines: &[Line]) -> Result<bool, RenderError> {
    if lines.iter().all(|line| line.points.len() < LEAST_POINTS) {
        return Ok(false);
    }
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (xs, ys): (Vec<f64>, Vec<f64>) = all().unzip();
    let (x, y) = (Axis::of_values(xs), Axis::of_measurements(&ys));
    let places: Vec<(f64, f64)> = all().map(|(at, of)| (x.share(at), y.share(of))).collect();
    let legend = emptiest(&places);

    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&root);
    chart.caption(labels.title, ("sans-serif", 18)).margin(12);
    chart.x_label_area_size(40).y_label_area_size(72);
    let drawn = chart.build_cartesian_2d(x, y).and_then(|chart| fill(chart, labels, legend, lines));
    let failed = |message: String| RenderError::Plot { path: path.to_owned(), message };
    drawn.and_then(|()| root.present()).map_err(|error| failed(error.to_string()))?;
    Ok(true)
}

/// An axis, and where it is labelled.
struct Axis {
    range: Range<f64>,
    is_logarithmic: bool,
    ticks: Vec<f64>,
}

impl Axis {
    /// Of what was varied: logarithmic where that makes it readable, labelled by the
    /// values themselves.
    fn of_values(values: Vec<f64>) -> Self {
        let (left, right) = bounds(&values);
        let is_logarithmic = left >= 1.0 && right / left >= 8.0;
        let range = match is_logarithmic {
            true => left / 1.2..right * 1.2,
            false => {
                let margin = ((right - left) / 20.0).max(0.01);
                left - margin..right + margin
            }
        };
        let mut axis = Self { range, is_logarithmic, ticks: Vec::new() };
        axis.ticks = apart(values, |value| axis.share(value));
        axis
    }

    /// Of what was measured: logarithmic, labelled by round numbers.
    fn of_measurements(values: &[f64]) -> Self {
        let (low, high) = bounds(values);
        let (low, high) = (low.max(1e-12) / 2.0, high.max(1e-12) * 2.0);
        Self { range: low..high, is_logarithmic: true, ticks: steps(low, high) }
    }

    /// How far along the axis a value is: 0 at its beginning, 1 at its end.
    fn share(&self, value: f64) -> f64 {
        let Range { start, end } = self.range;
        match self.is_logarithmic {
            true => (value.max(start) / start).ln() / (end / start).ln(),
            false => (value - start) / (end - start),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (begin, end): (i32, i32)) -> i32 {
        begin + (self.share(*value) * f64::from(end - begin)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

fn bounds(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, 0.0), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// The share of an axis between two labels.
const APART: f64 = 0.07;

/// The values that points have, ascending, without those too near to the one before.
fn apart(mut values: Vec<f64>, along: impl Fn(f64) -> f64) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let mut kept: Vec<f64> = Vec::new();
    for value in values {
        if kept.last().is_none_or(|last| along(value) - along(*last) >= APART) {
            kept.push(value);
        }
    }
    kept
}

/// Powers of ten from `low` to `high`; if these are few, twice and five times as well.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let within = |factors: &[f64]| -> Vec<f64> {
        let all = exponents
            .clone()
            .flat_map(|exponent| factors.iter().map(move |factor| factor * 10_f64.powi(exponent)));
        all.filter(|step| (low..=high).contains(step)).collect()
    };
    let powers = within(&[1.0]);
    if powers.len() >= 3 { powers } else { within(&[1.0, 2.0, 5.0]) }
}

/// Where a legend covers the fewest points, whose places are given as shares of the
/// axes.
fn emptiest(places: &[(f64, f64)]) -> SeriesLabelPosition {
    /// About as much as a legend takes.
    const LEGEND: (f64, f64) = (0.3, 0.4);
    let covered = |is_right: bool, is_low: bool| {
        let under = |(x, y): &&(f64, f64)| {
            let (x, y) = (if is_right { 1.0 - x } else { *x }, if is_low { *y } else { 1.0 - y });
            x < LEGEND.0 && y < LEGEND.1
        };
        places.iter().filter(under).count()
    };
    let corners = [
        (covered(false, false), SeriesLabelPosition::UpperLeft),
        (covered(true, true), SeriesLabelPosition::LowerRight),
        (covered(true, false), SeriesLabelPosition::UpperRight),
        (covered(false, true), SeriesLabelPosition::LowerLeft),
    ];
    let best = corners.into_iter().min_by_key(|(covered, _)| *covered);
    best.map_or(SeriesLabelPosition::UpperLeft, |(_, corner)| corner)
}

fn fill<'a, B: DrawingBackend + 'a>(
    mut chart: ChartContext<'a, B, Cartesian2d<Axis, Axis>>,
    labels: Labels<'_>,
    corner: SeriesLabelPosition,
    lines: &[Line],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    // Six digits: what a computer adds to 0.3 is not shown.
    let number = |value: &f64| match value.abs() {
        v if v == 0.0 || (0.01..1e5).contains(&v) => format!("{}", (value * 1e6).round() / 1e6),
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
    legend.position(corner).background_style(WHITE.mix(0.8));
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
            let lines = [line("ours", &points), line("theirs", &points[..1])];
            assert!(draw(&path, labels, &lines).unwrap());
            let svg = fs::read_to_string(&path).unwrap();
            let texts = ["Title", "events", "seconds", "ours", "theirs", "<polyline", "<circle"];
            assert!(texts.iter().all(|text| svg.contains(text)), "{name}: {svg}");
        }
    }

    #[test]
    fn labels_are_apart_and_the_legend_is_where_nothing_is() {
        let shares = apart(vec![0.3, 0.0, 0.5, 0.31, 1.0, 0.3], |x| x);
        assert_eq!(shares, [0.0, 0.3, 0.5, 1.0]);
        assert_eq!(steps(0.5, 2e4), [1.0, 10.0, 100.0, 1e3, 1e4]);
        assert_eq!(steps(0.4, 11.0), [0.5, 1.0, 2.0, 5.0, 10.0]);
        let rising = [(0.1, 0.1), (0.5, 0.5), (0.9, 0.9)];
        assert!(matches!(emptiest(&rising), SeriesLabelPosition::UpperLeft));
        let falling = [(0.1, 0.9), (0.5, 0.5), (0.8, 0.3), (0.9, 0.1)];
        assert!(matches!(emptiest(&falling), SeriesLabelPosition::UpperRight));
    }

    #[test]
    fn there_is_no_plot_of_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("none.svg");
        let labels = Labels { title: "", x: "", y: "" };
        assert!(!draw(&path, labels, &[]).unwrap());
        let two = Line { name: "two points".to_owned(), points: vec![(1.0, 1.0), (2.0, 1.0)] };
        assert!(!draw(&path, labels, &[two]).unwrap());
        assert!(!path.exists());
    }
}
