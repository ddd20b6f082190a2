//! Growth with the length of a history: a plot.

use std::path::Path;

use plotters::prelude::*;

use super::RenderError;
use crate::method::METHODS;
use crate::record::Record;

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

/// The plot, beside the page.
const FILE: &str = "plots/length-violation-time.svg";

/// Draws the records; the section that shows them. A method's curve ends where it exceeds its
/// limits.
pub fn section(records: &[Record], beside: &Path) -> Result<String, RenderError> {
    let path = beside.join(FILE);
    let failed = |message: String| RenderError::Plot { path: path.clone(), message };
    draw(records, &path).map_err(|error| failed(error.to_string()))?;
    Ok(format!(
        "## Growth\n\n\
         Seconds against events of 8 processes, with a violation near the end; a curve ends \
         where its method exceeds the limits.\n\n![Time against events]({FILE})\n"
    ))
}

fn draw(records: &[Record], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let points = |name: &str| -> Vec<(f64, f64)> {
        let mine = records.iter().filter(|record| record.method == name);
        let mine = mine.filter(|record| record.outcome.is_answer());
        mine.filter_map(|record| Some((record.x?, record.work().max(1e-9)))).collect()
    };
    let all: Vec<(f64, f64)> = METHODS.iter().flat_map(|method| points(method.name)).collect();
    let range = |of: fn(&(f64, f64)) -> f64| {
        let (low, high) = all
            .iter()
            .map(of)
            .fold((f64::INFINITY, 1e-9_f64), |(low, high), v| (low.min(v), high.max(v)));
        (low.min(high) / 2.0..high * 2.0).log_scale()
    };
    let root = SVGBackend::new(path, (720, 440)).into_drawing_area();
    let mut builder = ChartBuilder::on(&root);
    builder.caption("Time against events", ("sans-serif", 18)).margin(12);
    builder.x_label_area_size(40).y_label_area_size(72);
    let mut chart = builder.build_cartesian_2d(range(|p| p.0), range(|p| p.1))?;
    let number = |value: &f64| format!("{value:.0e}");
    let mut mesh = chart.configure_mesh();
    mesh.x_desc("events").y_desc("seconds").light_line_style(TRANSPARENT);
    mesh.x_label_formatter(&number).y_label_formatter(&number).draw()?;
    for (method, colour) in METHODS.iter().zip(COLOURS) {
        let curve = LineSeries::new(points(method.name), colour.stroke_width(2)).point_size(3);
        let key = move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2));
        chart.draw_series(curve)?.label(method.name).legend(key);
    }
    let mut legend = chart.configure_series_labels();
    legend.position(SeriesLabelPosition::LowerRight).background_style(WHITE.mix(0.8));
    legend.border_style(BLACK.mix(0.3)).draw()?;
    Ok(root.present()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::solved;

    #[test]
    fn the_plot_has_its_curves_and_labels() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("plots")).unwrap();
        let run = |method: &str, x: f64| Record {
            x: Some(x),
            ..solved("length, violation", "case", method, x * 1e-7)
        };
        let records = [run("linear", 1e2), run("linear", 1e4), run("todc-utils", 1e2)];
        assert!(section(&records, directory.path()).unwrap().contains(FILE));
        let svg = std::fs::read_to_string(directory.path().join(FILE)).unwrap();
        let texts = ["events", "seconds", "linear", "todc-utils", "<polyline", "<circle"];
        assert!(texts.iter().all(|text| svg.contains(text)), "{svg}");
    }
}
