//! A drawing: shapes and text in an SVG, nothing more.

use std::fmt::Write;

/// A corner and a size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// Where a text is in relation to its point.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) size: f64,
    pub(crate) color: &'static str,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
}

/// Shapes that have been drawn so far.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    shapes: String,
}

impl Svg {
    pub(crate) fn rect(&mut self, area: Area, radius: f64, fill: &str) {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        self.shape(&format!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}" fill="{fill}"/>"#
        ));
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.shape(&format!(
            r#"<line x1="{x1:.1}" y1="{y1:.1}" x2="{x2:.1}" y2="{y2:.1}" stroke="{color}"/>"#
        ));
    }

    pub(crate) fn path(&mut self, points: &[(f64, f64)], color: &str) {
        let points: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        self.shape(&format!(
            r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round"/>"#,
            points.join(" ")
        ));
    }

    pub(crate) fn dot(&mut self, (x, y): (f64, f64), color: &str) {
        self.shape(&format!(
            r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{color}" stroke="white" stroke-width="1.5"/>"#
        ));
    }

    pub(crate) fn text(&mut self, (x, y): (f64, f64), text: &str, style: Style) {
        let anchor = match style.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if style.bold { "600" } else { "400" };
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        self.shape(&format!(
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{}" font-weight="{weight}" fill="{}" text-anchor="{anchor}">{text}</text>"#,
            style.size, style.color
        ));
    }

    /// The whole picture, for screen readers with a title.
    pub(crate) fn finish(self, width: f64, height: f64, title: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n{}</svg>\n",
            self.shapes
        )
    }

    fn shape(&mut self, shape: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.shapes, "{shape}");
    }
}
