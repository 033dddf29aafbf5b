//! A report as one HTML file, to print or attach: no script, nothing fetched, secrets redacted as everywhere, 2 MB at most.
//! `html_report/day_page.rs` shows the runs of some days, `run_page.rs` one run, `strip_svg.rs` draws the strip,
//! `markup.rs` escapes every text.

mod day_page;
mod markup;
mod run_page;
mod strip_svg;

pub use day_page::{DayPage, day_page};
pub use run_page::{RunPage, run_page};

use markup::Markup;

/// No report is larger.
pub const LARGEST: usize = 2 << 20;
/// Room that is kept for the end of a page.
const CLOSING: usize = 4 << 10;

/// A whole page with this title around a body.
fn page(title: &str, body: impl FnOnce(&mut Markup)) -> String {
    let mut page = Markup::new(LARGEST - CLOSING);
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    page.raw("<meta name=\"color-scheme\" content=\"light\">\n");
    // Whoever opens the file is safe even if a text were not escaped.
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    page.element("title", &[], title);
    page.raw("\n<style>\n");
    page.raw(include_str!("html_report/style.css"));
    page.raw("</style>\n</head>\n<body>\n");
    page.raw(strip_svg::HATCHING);
    page.raw("<main>\n");
    body(&mut page);
    page.finish()
}
