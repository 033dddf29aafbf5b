//! What agents print, made long: recorded calls again and again, turns that cost, one endless line.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Recorded calls up to about so many bytes, with one result at the end; how many it became. Their usage is hidden
/// from the reader: otherwise the money of a thousand calls would be the subject (that is `write_turns`).
pub fn write_flood(path: &Path, bytes: usize) -> u64 {
    let (block, result) = recorded();
    let block = block.replace("\"usage\":", "\"usagE\":");
    let mut file = BufWriter::new(std::fs::File::create(path).unwrap());
    for _ in 0..bytes / block.len() {
        file.write_all(block.as_bytes()).unwrap();
    }
    file.write_all(result.as_bytes()).unwrap();
    file.into_inner().unwrap().sync_all().unwrap();
    std::fs::metadata(path).unwrap().len()
}

/// All recorded calls that used a tool, without their results, and one result.
fn recorded() -> (String, String) {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ralph-agents/tests/captures/claude");
    let mut paths: Vec<_> = std::fs::read_dir(captures).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.to_string_lossy().contains("-stream-json"));
    paths.sort();
    let (mut block, mut result) = (String::new(), String::new());
    let texts = paths.iter().filter_map(|p| std::fs::read_to_string(p).ok());
    for text in texts.filter(|text| text.contains("tool_result")) {
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            if !line.contains("\"type\":\"result\"") {
                block.push_str(line);
            } else if line.contains("\"subtype\":\"success\"") {
                line.clone_into(&mut result);
            }
        }
    }
    (block, result)
}

/// So many turns of a few cents each.
pub fn write_turns(path: &Path, turns: usize) {
    let mut text = String::new();
    for turn in 0..turns {
        let _ = writeln!(
            text,
            r#"{{"type":"assistant","message":{{"id":"msg_{turn}","type":"message","role":"assistant","model":"claude-sonnet-4-20250514","content":[{{"type":"text","text":"Turn {turn}"}}],"usage":{{"input_tokens":9000,"output_tokens":500}}}},"session_id":"s"}}"#
        );
    }
    std::fs::write(path, text).unwrap();
}

/// One line, as of a tool that printed a whole file.
pub fn write_line(path: &Path, bytes: usize) {
    let words = r"let redactor = Redactor::new(values);\n    assert_eq!(left, right);\n";
    let text = words.repeat(bytes / words.len());
    let line = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]}},"session_id":"s"}}"#
    );
    std::fs::write(path, line + "\n").unwrap();
    std::fs::File::open(path).unwrap().sync_all().unwrap();
}
