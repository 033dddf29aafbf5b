//! docs/demo.svg: what `ralph demo` prints, with its colours, as a picture. Made by the program, not by hand.

use crate::shell::{Done, cargo, root, say, target};
use std::fmt::Write;
use std::process::Command;

const WIDTH: usize = 146;
const LINE: usize = 18;
const COLUMN: f64 = 8.4;

/// Runs the demo and draws it.
pub fn picture() -> Done {
    let built = cargo(&["build", "--quiet", "--package", "ralph"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("ralph cannot be built".into());
    }
    let output = Command::new(target().join("debug/ralph")).args(["--color", "always", "demo"]).output();
    let output = output.map_err(|e| format!("ralph demo cannot be started: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let path = root().join("docs/demo.svg");
    std::fs::write(&path, draw(&text)).map_err(|e| format!("{}: {e}", path.display()))?;
    say(&format!("{} is written\n", path.display()));
    Ok(())
}

/// The lines up to the receipt's end, as SVG.
fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("Run ")).collect();
    let end = lines.iter().position(|line| line.contains("git diff")).unwrap_or(lines.len());
    let shown = lines.get(..end).unwrap_or(&lines);
    let height = (shown.len() + 4) * LINE;
    let width = WIDTH * 17 / 2;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#14171c\"/>\n<g fill=\"#d6dae0\" xml:space=\"preserve\">\n\
         <text x=\"16\" y=\"{}\"><tspan fill=\"#7f8896\">$ </tspan>ralph demo</text>\n",
        LINE + 10
    );
    for (n, line) in shown.iter().enumerate() {
        let _ = writeln!(svg, "<text x=\"16\" y=\"{}\">{}</text>", (n + 3) * LINE + 2, spans(line));
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// One line: each stretch of one colour at its own column, so that no font can shift it.
fn spans(line: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (n, part) in line.split("\u{1b}[").enumerate() {
        let (code, words) = if n == 0 { ("", part) } else { part.split_once('m').unwrap_or(("", part)) };
        let fill = if n == 0 { "" } else { colour(code) };
        if !words.is_empty() {
            let x = 16.0 + f64::from(u32::try_from(column).unwrap_or(0)) * COLUMN;
            let style = if fill.is_empty() { String::new() } else { format!(" {fill}") };
            let _ = write!(out, "<tspan x=\"{x:.1}\"{style}>{}</tspan>", escaped(words));
        }
        column += words.chars().count();
    }
    out
}

fn colour(code: &str) -> &'static str {
    match code {
        "32" => "fill=\"#7ec984\"",
        "1;31" => "fill=\"#f07178\"",
        "33" => "fill=\"#e6c07b\"",
        "36" => "fill=\"#6cb6c8\"",
        "1" => "fill=\"#ffffff\" font-weight=\"bold\"",
        "2" => "fill=\"#7f8896\"",
        _ => "",
    }
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
