//! A screen of the model, for a terminal of any size. Pure: a model in, a buffer out, and no row wider than the screen.

mod corner;
mod footer;
mod header;
mod list;
mod meter;
mod run;
mod strip;

use crate::model::{BOTH, Model};
use crate::row::{Look, Row};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Draws the model into the whole buffer.
pub fn draw(model: &Model, buffer: &mut Buffer, colours: bool) {
    let area = buffer.area;
    if area.is_empty() {
        return;
    }
    if model.is_corner() || area.height < 3 {
        rows(buffer, area, &corner::rows(model, area), colours);
        return;
    }
    let body = Rect { y: area.y + 2, height: area.height - 3, ..area };
    let rule = Rect { y: area.y + 1, height: 1, ..area };
    rows(buffer, Rect { height: 1, ..inner(area) }, &[header::row(model, area.width)], colours);
    rows(buffer, rule, &[Row::looking("─".repeat(area.width.into()), Look::Faint)], colours);
    let last = Rect { y: area.bottom() - 1, height: 1, ..inner(area) };
    rows(buffer, last, &[footer::row(model, usize::from(last.width))], colours);
    match &model.page {
        Some(page) => {
            let title = header::page_title(model, page);
            rows(buffer, Rect { height: 1, ..inner(body) }, &[title], colours);
            let text = Rect { y: body.y + 1, height: body.height - 1, ..inner(body) };
            let seen = page.seen().iter().map(|row| match page.is_found(row) {
                true => Row::looking(row.words(), Look::Note).right("◂", Look::Note),
                false => row.clone(),
            });
            rows(buffer, text, &seen.collect::<Vec<_>>(), colours);
        }
        None if model.open || area.width < BOTH => one_or_the_other(model, buffer, body, colours),
        None => side_by_side(model, buffer, body, colours),
    }
}

fn one_or_the_other(model: &Model, buffer: &mut Buffer, body: Rect, colours: bool) {
    match model.open {
        true => rows(buffer, inner(body), &run::rows(model, inner(body)), colours),
        false => rows(buffer, body, &list::rows(model, body), colours),
    }
}

fn side_by_side(model: &Model, buffer: &mut Buffer, body: Rect, colours: bool) {
    let wide = (body.width * 35 / 100).clamp(36, 56);
    let left = Rect { width: wide, ..body };
    let right = Rect { x: body.x + wide + 1, width: body.width - wide - 1, ..body };
    rows(buffer, left, &list::rows(model, left), colours);
    let line = Rect { x: body.x + wide, width: 1, ..body };
    let lines = vec![Row::looking("│", Look::Faint); usize::from(body.height)];
    rows(buffer, line, &lines, colours);
    rows(buffer, Rect { y: body.y - 1, height: 1, ..line }, &[Row::looking("┬", Look::Faint)], colours);
    rows(buffer, inner(right), &run::rows(model, inner(right)), colours);
}

/// With a column free at each side.
fn inner(area: Rect) -> Rect {
    Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(2), ..area }
}

fn rows(buffer: &mut Buffer, area: Rect, rows: &[Row], colours: bool) {
    for (y, row) in (0..area.height).zip(rows) {
        row.draw(buffer, area, y, colours);
    }
}
