//! Pictures of figures: a card with a title, a legend, panels and a line about the machine.
//!
//! plotters draws the axes, bars and curves: code of our own for that was twice as long, and plotters compiles in three
//! seconds. One SVG is for light and for dark pages: it is drawn in light colours, and its style sheet has the dark ones.

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use plotters::chart::MeshStyle;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use plotters;

use crate::others::{self, Neighbours};

/// A part of a picture, in pixels.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A part of a picture with axes.
type Chart<'c, 'a, X, Y> = ChartContext<'c, SVGBackend<'a>, Cartesian2d<X, Y>>;

const INK: RGBColor = RGBColor(0x1f, 0x29, 0x33);
const PALE: RGBColor = RGBColor(0x5b, 0x68, 0x76);
const RULE: RGBColor = RGBColor(0xe4, 0xe7, 0xeb);
const FAINT: RGBColor = RGBColor(0xf3, 0xf4, 0xf6);
const CARD: RGBColor = RGBColor(0xff, 0xff, 0xff);
/// `tokio::time`. The sides' colours differ in grey, too.
pub const TOKIO: RGBColor = RGBColor(0x94, 0xa3, 0xb8);
/// This crate.
pub const WHEEL: RGBColor = RGBColor(0xc7, 0x44, 0x0e);
/// This crate with high resolution.
pub const PRECISE: RGBColor = RGBColor(0x1d, 0x35, 0x57);
/// tokio's timer per worker.
pub const ALT: RGBColor = RGBColor(0x2f, 0x9e, 0x6e);

/// Each colour, and what it is on a dark page.
const DARK: [(RGBColor, &str); 9] = [
    (INK, "#e6edf3"),
    (PALE, "#9aa7b4"),
    (RULE, "#30363d"),
    (FAINT, "#1f252d"),
    (CARD, "#151b23"),
    (TOKIO, "#6b7889"),
    (WHEEL, "#ff8a4c"),
    (PRECISE, "#d3e4ff"),
    (ALT, "#3fb68b"),
];

const MARGIN: i32 = 40;

/// What stands above and below the panels.
#[derive(Debug)]
pub struct Frame<'a> {
    /// In large letters, and for screen readers.
    pub title: &'a str,
    /// Below it.
    pub about: &'a str,
    /// Which side has which colour.
    pub legend: &'a [(&'a str, RGBColor)],
    /// Where and when, at the bottom.
    pub note: &'a str,
}

/// The picture as SVG; `panels` draws into what the frame leaves.
pub fn draw(
    size: (u32, u32),
    frame: &Frame<'_>,
    panels: impl FnOnce(&Area<'_>) -> Result<()>,
) -> Result<String> {
    let mut svg = String::new();
    let card = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    card.fill(&CARD)?;
    put(&card, frame.title, (MARGIN, 28), &bold(24))?;
    put(&card, frame.about, (MARGIN, 62), &pale(14))?;
    let bottom = size.1 as i32 - 28;
    put(&card, frame.note, (MARGIN, bottom), &pale(12))?;
    legend(&card, size.0 as i32 - MARGIN, frame.legend)?;
    panels(&card.margin(108, 48, MARGIN, MARGIN))?;
    card.present()?;
    drop(card);
    Ok(styled(&svg, frame.title))
}

/// Prints where, with what and beside what the figures were taken, and writes the picture, which says so too.
pub fn save(
    path: &Path,
    neighbours: Option<Neighbours>,
    draw: impl FnOnce(&str) -> Result<String>,
) -> Result<()> {
    let note = others::note(neighbours);
    crate::println!("{note}");
    fs::write(path, draw(&note)?).with_context(|| format!("writing {}", path.display()))?;
    crate::println!("The picture: {}", path.display());
    Ok(())
}

/// From the right. Text has no width here: a letter is taken to be so wide.
fn legend(card: &Area<'_>, right: i32, sides: &[(&str, RGBColor)]) -> Result<()> {
    const LETTER: i32 = 9;
    let mut x = right;
    for (name, color) in sides.iter().rev() {
        x -= LETTER * name.len() as i32;
        put(card, name, (x, 32), &bold(15))?;
        card.draw(&Rectangle::new([(x - 22, 33), (x - 8, 47)], color.filled()))?;
        x -= 42;
    }
    Ok(())
}

/// With a title and a style sheet.
fn styled(svg: &str, title: &str) -> String {
    let dark = DARK.map(|(RGBColor(r, g, b), dark)| {
        let light = format!("#{r:02X}{g:02X}{b:02X}");
        format!("[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}\n")
    });
    let head = format!(
        "<title>{title}</title>\n<style>\n\
         text{{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}}\n\
         @media (prefers-color-scheme:dark){{\n{}}}\n</style>\n",
        dark.concat()
    );
    // After the first line, which opens the picture.
    svg.replacen('\n', &format!("\n{head}"), 1)
}

/// Writes the title of a panel and what it shows. Returns what is left.
pub fn panel<'a>(area: &Area<'a>, title: &str, about: &str) -> Result<Area<'a>> {
    put(area, title, (0, 0), &bold(16))?;
    put(area, about, (0, 22), &pale(13))?;
    Ok(area.margin(52, 0, 0, 16))
}

/// Rules from labels at the left, labels without rules below.
pub fn mesh<'c, 'm, 'a, X, Y>(
    chart: &'m mut Chart<'c, 'a, X, Y>,
) -> MeshStyle<'c, 'm, X, Y, SVGBackend<'a>>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .bold_line_style(RULE)
        .light_line_style(FAINT)
        .max_light_lines(0)
        .axis_style(RULE)
        .label_style(pale(12))
        .axis_desc_style(pale(12));
    mesh
}

/// An axis with a name at each of 0, 1, 2 …
#[derive(Clone, Debug)]
pub struct Names(Vec<String>);

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Names(names.into_iter().collect())
    }
}

impl Ranged for Names {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (value + 0.5) / self.0.len() as f64;
        from + (part * f64::from(to - from)) as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        (0..self.0.len()).map(|index| index as f64).collect()
    }

    fn range(&self) -> Range<f64> {
        -0.5..self.0.len() as f64 - 0.5
    }
}

impl ValueFormatter<f64> for Names {
    fn format_ext(&self, &index: &f64) -> String {
        self.0[index as usize].clone()
    }
}

/// Groups of bars, one for each side of the legend, with their heights as `text` above them. `axis` is what the groups
/// differ in.
pub fn bars(
    area: &Area<'_>,
    legend: &[(&str, RGBColor)],
    axis: &str,
    groups: &[(String, Vec<f64>)],
    text: impl Fn(f64) -> String,
) -> Result<()> {
    let x: Names = groups.iter().map(|(name, _)| name.clone()).collect();
    let heights = groups.iter().flat_map(|(_, heights)| heights);
    let highest = heights.fold(f64::MIN_POSITIVE, |high: f64, &height| high.max(height));
    let mut chart = ChartBuilder::on(area)
        .x_label_area_size(48)
        .y_label_area_size(58)
        .build_cartesian_2d(x, 0.0..highest * 1.1)?;
    mesh(&mut chart).y_labels(6).x_desc(axis).draw()?;
    let width = 0.8 / legend.len() as f64;
    let pixels = f64::from(area.dim_in_pixel().0) / groups.len() as f64 * width;
    // A label is not wider than its bar.
    let size = (pixels / 2.5).min(13.0) as u32;
    for (group, (_, heights)) in groups.iter().enumerate() {
        for (index, (&height, (_, color))) in heights.iter().zip(legend).enumerate() {
            let left = group as f64 - 0.4 + width * index as f64;
            let corners = [(left + 0.05 * width, 0.0), (left + 0.95 * width, height)];
            chart.draw_series([Rectangle::new(corners, color.filled())])?;
            // And not too small to be read.
            if size > 6 {
                label(&chart, &text(height), (left + width / 2.0, height), size)?;
            }
        }
    }
    Ok(())
}

/// Writes a label above a place in the chart.
fn label<X, Y>(chart: &Chart<'_, '_, X, Y>, text: &str, at: (f64, f64), size: u32) -> Result<()>
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let (x, y) = chart.backend_coord(&at);
    let style = bold(size).pos(Pos::new(HPos::Center, VPos::Bottom));
    // The whole picture's pixels, whatever the part of it.
    let area = chart.plotting_area().strip_coord_spec();
    let (left, top) = area.get_base_pixel();
    put(&area, text, (x - left, y - top - 3), &style)
}

fn put(area: &Area<'_>, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> Result<()> {
    Ok(area.draw(&Text::new(text, at, style.clone()))?)
}

fn bold(size: u32) -> TextStyle<'static> {
    let font = font(size).style(FontStyle::Bold);
    font.color(&INK)
}

fn pale(size: u32) -> TextStyle<'static> {
    font(size).color(&PALE)
}

/// So many pixels: plotters counts otherwise.
fn font(size: u32) -> FontDesc<'static> {
    ("sans-serif", f64::from(size) * 1.24).into_font()
}
