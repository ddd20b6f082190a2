//! A diagram as SVG: for the page, and as a separate picture for papers.
//!
//! Shapes carry classes only; the page's style sheet gives them colours, and [`standalone`]
//! contains a few rules of its own. Time runs to the right; an arrow from A to B says that A must
//! take effect before B, and its number leads to the reason.

use maud::{Escaper, Markup, html};
use std::fmt::Write;

use crate::diagram::{Arrow, Bar, Diagram};
use crate::forced::Cause;
use crate::places::{Measure, places};

/// Width of a character of a label.
const CHARACTER: usize = 8;
/// Least space before the rows, for names of the processes.
const GUTTER: usize = 64;
const ROW: usize = 76;
const HEIGHT: usize = 28;
const MEASURE: Measure = Measure { gap: 20, frame: 20 };

/// Escapes text, and removes control characters, which XML forbids.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut escaper = Escaper::new(&mut safe);
    for character in text.chars() {
        let written = if character.is_control() {
            write!(escaper, "{}", character.escape_unicode())
        } else {
            escaper.write_char(character)
        };
        written.expect("writing to a string cannot fail");
    }
    safe
}

/// Returns the class of an arrow, and the name of its head.
const fn class(cause: Cause) -> &'static str {
    match cause {
        Cause::Time => "time",
        Cause::Values => "values",
        Cause::Supposed => "supposed",
    }
}

/// Returns the width of a drawn diagram, in pixels.
pub fn width(diagram: &Diagram) -> usize {
    Layout::new(diagram).width
}

/// Maximum number of drawn operations: a larger picture would be unreadable.
pub const MOST_BARS: usize = 400;

/// Draws the picture as an element for a page; `title` is read aloud in its place, and `prefix`
/// makes its identifiers distinct from others on the page.
pub fn element(diagram: &Diagram, title: &str, prefix: &str) -> Markup {
    maud::PreEscaped(draw(diagram, title, prefix, ""))
}

/// Draws the picture as a separate file.
pub fn standalone(diagram: &Diagram, title: &str) -> String {
    let style = "<style>.picture{font:13px ui-monospace,Menlo,Consolas,monospace}\
.picture text{fill:#1b1f24}.axis{stroke:#c9d1d9}.bar{fill:#ddf4ff;stroke:#0969da}\
.bar.scan{fill:#fff1e5;stroke:#bc4c00}.bar.failed{stroke-dasharray:4 3}.end{stroke-width:2}\
.arrow{fill:none;stroke-width:1.8}.arrow.values{stroke:#cf222e}.arrow.time{stroke:#57606a}\
.arrow.supposed{stroke:#8250df;stroke-dasharray:5 4}.head.values{fill:#cf222e}\
.head.time{fill:#57606a}.head.supposed{fill:#8250df}.disc{fill:#fff;stroke:#1b1f24}\
.point{fill:#1a7f37}.block{stroke:#1a7f37;stroke-width:2}.picture .number{font-size:11px}</style>";
    draw(diagram, title, "p", style) + "\n"
}

struct Layout {
    begin: Vec<usize>,
    end: Vec<usize>,
    row: Vec<usize>,
    width: usize,
    height: usize,
    /// Space above the first row.
    over: usize,
    /// Space before the rows.
    gutter: usize,
}

impl Layout {
    fn new(diagram: &Diagram) -> Self {
        let width = |bar: &Bar| bar.label().chars().count() * CHARACTER;
        let widths: Vec<usize> = diagram.bars.iter().map(width).collect();
        let places = places(diagram, &widths, &MEASURE);
        let moments = diagram.moments();
        let processes = diagram.processes();
        let labels = processes.iter().map(|one| diagram.row_label(*one).chars().count());
        let gutter = (labels.max().unwrap_or(0) * CHARACTER + 28).max(GUTTER);
        let at = |moment: usize| gutter + places[moments.partition_point(|o| *o < moment)];
        let last = gutter + places.last().copied().unwrap_or(0);
        let row = |bar: &Bar| processes.partition_point(|process| *process < bar.process);
        // Arrows within a row are drawn over or under it.
        let is_within =
            |arrow: &Arrow| diagram.bars[arrow.before].process == diagram.bars[arrow.after].process;
        let over = if diagram.arrows.iter().any(is_within) { 40 } else { 14 };
        let is_ranked = diagram.bars.iter().any(|bar| bar.rank.is_some());
        let under = if is_ranked { 24 } else { over };
        Self {
            begin: diagram.bars.iter().map(|bar| at(bar.begin)).collect(),
            end: diagram.bars.iter().map(|bar| bar.end.map_or(last, at)).collect(),
            row: diagram.bars.iter().map(row).collect(),
            width: last + 28,
            height: over + (processes.len().max(1) - 1) * ROW + HEIGHT + under,
            over,
            gutter,
        }
    }

    fn top(&self, bar: usize) -> usize {
        self.over + self.row[bar] * ROW
    }

    fn middle(&self, bar: usize) -> usize {
        self.begin[bar].midpoint(self.end[bar])
    }
}

fn draw(diagram: &Diagram, title: &str, prefix: &str, style: &str) -> String {
    let layout = Layout::new(diagram);
    let (width, height) = (layout.width, layout.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" \
         aria-label=\"{}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">{style}<defs>",
        escaped(title)
    );
    let mut put = |part: std::fmt::Arguments<'_>| {
        svg.write_fmt(part).expect("writing to a string cannot fail");
    };
    for kind in ["values", "time", "supposed"] {
        put(format_args!(
            "<marker id=\"{prefix}-{kind}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" \
             markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path class=\"head {kind}\" d=\"M0 0L10 5L0 10z\"/></marker>"
        ));
    }
    put(format_args!("</defs>"));
    for (row, process) in diagram.processes().iter().enumerate() {
        let y = layout.over + row * ROW + HEIGHT / 2;
        put(format_args!(
            "<text x=\"8\" y=\"{}\">{}</text>\
             <line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>",
            y + 5,
            escaped(&diagram.row_label(*process)),
            layout.gutter - 12,
            width - 8
        ));
    }
    for (at, bar) in diagram.bars.iter().enumerate() {
        put(format_args!("{}", interval(&layout, at, bar)));
    }
    for (at, arrow) in diagram.arrows.iter().enumerate() {
        put(format_args!("{}", curve(&layout, at, arrow, prefix)));
    }
    let points = points(diagram, &layout);
    for [x, low, high] in joints(diagram, &layout, &points) {
        put(format_args!(
            "<line class=\"block\" x1=\"{x}\" x2=\"{x}\" y1=\"{low}\" y2=\"{high}\"/>"
        ));
    }
    for (at, x) in points {
        let y = layout.top(at) + HEIGHT + 8;
        let rank = diagram.bars[at].rank.unwrap_or(0) + 1;
        put(format_args!(
            "<circle class=\"point\" cx=\"{x}\" cy=\"{}\" r=\"4\"/>\
             <text class=\"number\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{rank}</text>",
            layout.top(at) + HEIGHT,
            y + 9
        ));
    }
    put(format_args!("</svg>"));
    svg
}

fn interval(layout: &Layout, at: usize, bar: &Bar) -> String {
    let (begin, end, top) = (layout.begin[at], layout.end[at], layout.top(at));
    let kind = if bar.is_scan { "scan" } else { "update" };
    let failed = if bar.is_failed { " failed" } else { "" };
    let (low, middle) = (top + HEIGHT, top + HEIGHT / 2);
    // An operation that does not end is open to the right.
    let shape = if bar.end.is_some() {
        format!("M{begin} {top}H{end}V{low}H{begin}z")
    } else {
        let tip = end + 12;
        format!("M{end} {top}H{begin}V{low}H{end}L{tip} {middle}z")
    };
    format!(
        "<g class=\"operation\" data-operation=\"{}\"><title>{}{}</title>\
         <path class=\"bar {kind}{failed}\" d=\"{shape}\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>",
        bar.operation.index(),
        escaped(&bar.label()),
        if bar.is_failed {
            " (failed)"
        } else if bar.is_pending {
            " (pending)"
        } else {
            ""
        },
        layout.middle(at),
        middle + 5,
        escaped(&bar.label())
    )
}

/// Draws an arrow between two bars, with its number. Arrows down are on the left, arrows up on the
/// right, so that the two arrows of a contradiction do not overlap.
fn curve(layout: &Layout, at: usize, arrow: &Arrow, prefix: &str) -> String {
    let kind = class(arrow.cause);
    let (from, to) = (arrow.before, arrow.after);
    let (top, other) = (layout.top(from), layout.top(to));
    let spread = 18 + 7 * (at % 3);
    let (x1, y1, x2, y2, path, label);
    if top == other {
        // In one row: over it, or under it if it leads back in time.
        let is_back = layout.middle(from) > layout.middle(to);
        let edge = if is_back { top + HEIGHT } else { top };
        let far = if is_back { edge + 22 } else { edge.saturating_sub(22) };
        (x1, x2, y1, y2) = (layout.middle(from), layout.middle(to), edge, edge);
        path = format!("M{x1} {y1}C{x1} {far} {x2} {far} {x2} {y2}");
        label = (x1.midpoint(x2), if is_back { edge + 17 } else { edge.saturating_sub(17) });
    } else {
        let is_down = top < other;
        let shift = |x: usize| if is_down { x.saturating_sub(spread) } else { x + spread };
        (x1, x2) = (shift(layout.middle(from)), shift(layout.middle(to)));
        (y1, y2) = if is_down { (top + HEIGHT, other) } else { (top, other + HEIGHT) };
        let middle = y1.midpoint(y2);
        path = format!("M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}");
        label = (x1.midpoint(x2), middle);
    }
    let (x, y) = label;
    format!(
        "<g><title>{number}: {}</title>\
         <path class=\"arrow {kind}\" d=\"{path}\" marker-end=\"url(#{prefix}-{kind})\"/>\
         <circle class=\"disc\" cx=\"{x}\" cy=\"{y}\" r=\"9\"/>\
         <text class=\"number\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{number}</text></g>",
        escaped(&arrow.why),
        y + 4,
        number = arrow.number,
    )
}

/// Returns the point at which each operation takes effect: the latest invocation so far, in the
/// order of the linearization. It lies within the operation's interval, because the order extends
/// precedence. Operations of one rank take effect at one instant; several instants at one place are
/// drawn side by side.
fn points(diagram: &Diagram, layout: &Layout) -> Vec<(usize, usize)> {
    let mut ranked: Vec<usize> =
        (0..diagram.bars.len()).filter(|&at| diagram.bars[at].rank.is_some()).collect();
    ranked.sort_unstable_by_key(|&at| diagram.bars[at].rank);
    let mut places: Vec<usize> = layout.begin.iter().chain(&layout.end).copied().collect();
    places.sort_unstable();
    places.dedup();
    let mut from = 0;
    let blocks = ranked.chunk_by(|&a, &b| diagram.bars[a].rank == diagram.bars[b].rank);
    let blocks: Vec<(usize, &[usize])> = blocks
        .map(|block| {
            from = block.iter().map(|&at| layout.begin[at]).fold(from, usize::max);
            (from, block)
        })
        .collect();
    let mut points = Vec::with_capacity(ranked.len());
    for together in blocks.chunk_by(|a, b| a.0 == b.0) {
        let from = together[0].0;
        let next = places.iter().find(|place| **place > from).copied().unwrap_or(from + 20);
        for (k, (_, block)) in together.iter().enumerate() {
            let x = from + (next - from) * (k + 1) / (together.len() + 1);
            points.extend(block.iter().map(|&at| (at, x)));
        }
    }
    points
}

/// Returns, for each block of several operations, the line from its first row to its last.
fn joints(diagram: &Diagram, layout: &Layout, points: &[(usize, usize)]) -> Vec<[usize; 3]> {
    let is_one =
        |a: &(usize, usize), b: &(usize, usize)| diagram.bars[a.0].rank == diagram.bars[b.0].rank;
    let blocks = points.chunk_by(is_one).filter(|block| block.len() > 1);
    blocks
        .map(|block| {
            let rows = block.iter().map(|&(at, _)| layout.top(at) + HEIGHT);
            let (low, high) =
                rows.fold((usize::MAX, 0), |(low, high), y| (low.min(y), high.max(y)));
            [block[0].1, low, high]
        })
        .collect()
}

/// Lists the reasons of the arrows, by their numbers.
pub fn legend(diagram: &Diagram) -> Markup {
    html! {
        ol.legend {
            @for arrow in &diagram.arrows {
                li class=(class(arrow.cause)) value=(arrow.number) {
                    b { (diagram.bars[arrow.before].name) } " before "
                    b { (diagram.bars[arrow.after].name) } ": " (arrow.why) "."
                }
            }
        }
    }
}
