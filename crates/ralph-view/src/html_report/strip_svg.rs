//! The strip as SVG: bars with a fill and, for readers without colours, a pattern; the line of failing tests over them.

use super::markup::Markup;
use crate::strip::{Bar, BarOutcome, Strip};
use std::fmt::Write;

const SLOT: u32 = 26;
const BAR: u32 = 18;
const HEIGHT: u32 = 90;
const TOP: u32 = 16;

/// The hatching of bars that brought nothing new, once a page.
pub(super) const HATCHING: &str = "<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><pattern id=\"none\" \
    width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"1.5\" height=\"4\" \
    fill=\"#8a94a8\"/></pattern></defs></svg>\n";

/// Draws the strip with its legend.
pub(super) fn strip_svg(page: &mut Markup, strip: &Strip) {
    if strip.bars.is_empty() {
        return;
    }
    let dots = strip.left.min(12);
    let slots = u32::try_from(strip.bars.len()).unwrap_or(u32::MAX).saturating_add(dots).max(4);
    let (width, height) = (slots.saturating_mul(SLOT) + 8, TOP + HEIGHT + 18);
    let mut svg = format!(
        "<svg class=\"strip\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">"
    );
    svg.push_str("<title>");
    svg.push_str(&words(strip));
    svg.push_str("</title>");
    for (slot, bar) in (0..).zip(&strip.bars) {
        one_bar(&mut svg, slot, bar, strip.most_micro.max(1));
    }
    let bars = u32::try_from(strip.bars.len()).unwrap_or(0);
    for slot in bars..bars.saturating_add(dots) {
        let _ = write!(
            svg,
            "<circle class=\"left\" cx=\"{}\" cy=\"{}\" r=\"2\"/>",
            slot * SLOT + SLOT / 2,
            TOP + HEIGHT - 5
        );
    }
    failing_line(&mut svg, strip);
    svg.push_str("</svg>\n");
    page.raw(&svg);
    legend(page, strip);
}

fn one_bar(svg: &mut String, slot: u32, bar: &Bar, most: i64) {
    let share =
        u32::try_from(bar.cost_micro.max(0).saturating_mul(i64::from(HEIGHT)) / most).unwrap_or(HEIGHT);
    let height = share.clamp(5, HEIGHT);
    let (x, y) = (slot * SLOT + (SLOT - BAR) / 2, TOP + HEIGHT - height);
    let class = class(bar.outcome);
    let _ = write!(
        svg,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{BAR}\" height=\"{height}\" rx=\"2\"/>"
    );
    let middle = x + BAR / 2;
    let _ = write!(svg, "<text x=\"{middle}\" y=\"{}\">{}</text>", TOP + HEIGHT + 13, bar.n);
}

fn class(outcome: BarOutcome) -> &'static str {
    match outcome {
        BarOutcome::Worked => "worked",
        BarOutcome::NothingNew => "none",
        BarOutcome::Proven => "proven",
        BarOutcome::Wrong => "wrong",
        BarOutcome::Stopped => "stopped",
        BarOutcome::UnderWay => "now",
    }
}

/// From before the run, where that was counted, over the bars that have a count.
fn failing_line(svg: &mut String, strip: &Strip) {
    let before = strip.failing_before.filter(|_| strip.earlier == 0).map(|count| (0, count));
    let after = (0..)
        .zip(&strip.bars)
        .filter_map(|(slot, bar): (u32, _)| Some((slot * SLOT + SLOT / 2, bar.failing?)));
    let points: Vec<(u32, u32)> = before.into_iter().chain(after).collect();
    let most = points.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    if points.len() < 2 {
        return;
    }
    let y = |count: u32| TOP + HEIGHT - count.saturating_mul(HEIGHT - 10) / most;
    let line: Vec<String> = points.iter().map(|(x, count)| format!("{x},{}", y(*count))).collect();
    let _ = write!(svg, "<polyline points=\"{}\"/>", line.join(" "));
    for (x, count) in points {
        let _ = write!(
            svg,
            "<text class=\"count\" x=\"{x}\" y=\"{}\">{count}</text>",
            y(count).saturating_sub(5)
        );
    }
}

/// The same in words, for readers who do not see it. Numbers and ralph's own words only.
fn words(strip: &Strip) -> String {
    let bar = |bar: &Bar| format!("{}: {}, {}", bar.n, bar.outcome.words(), bar.cost());
    let bars = strip.bars.iter().map(bar).collect::<Vec<_>>().join("; ");
    let failing: Vec<String> = strip.failing().iter().map(u32::to_string).collect();
    match failing.len() {
        0 | 1 => format!("Iterations. {bars}."),
        _ => format!("Iterations. {bars}. Failing tests: {}.", failing.join(", then ")),
    }
}

fn legend(page: &mut Markup, strip: &Strip) {
    page.raw("<p class=\"legend\">");
    for outcome in BarOutcome::ALL.into_iter().filter(|o| strip.bars.iter().any(|bar| bar.outcome == *o)) {
        page.raw(&format!("<span class=\"key {}\"></span>", class(outcome)));
        page.text(outcome.words());
        page.raw(" ");
    }
    page.raw("<span class=\"key\"></span>");
    page.text("height: cost");
    if strip.left > 0 {
        page.text(&format!(", {} left", strip.left));
    }
    if strip.failing().len() > 1 {
        page.text(", line: failing tests");
    }
    if strip.earlier > 0 {
        page.text(&format!(", {} earlier iterations not drawn", strip.earlier));
    }
    page.raw("</p>\n");
}
