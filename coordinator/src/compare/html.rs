//! A page that stands alone.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::Comparison;
use super::tools::PieceKind;
use super::view::{ComparisonView, View};

/// The report's own style, so that the pages look alike, and what a comparison needs beside it.
const STYLE: &str = concat!(
    include_str!("../../templates/report/report.css"),
    include_str!("../../templates/compare/compare.css")
);

#[derive(Template)]
#[template(path = "compare/page.html")]
struct Page {
    policy: String,
    style: &'static str,
    title: String,
    view: View,
}

/// The comparisons as one HTML file without a script; its policy allows nothing but its own style.
///
/// # Errors
///
/// When the page cannot be rendered.
pub fn html(comparisons: &[Comparison], notices: &[String], margin: f64) -> Result<String, askama::Error> {
    let view = View::of(comparisons, notices, margin);
    let verdicts: Vec<String> = view.comparisons.iter().map(ComparisonView::title).collect();
    Page {
        policy: format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
            STANDARD.encode(Sha256::digest(STYLE))
        ),
        style: STYLE,
        title: verdicts.join(", "),
        view,
    }
    .render()
}
