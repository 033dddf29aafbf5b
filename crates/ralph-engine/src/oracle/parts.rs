//! Files that contain both work and oracle. Only the oracle's part is compared; a restored file is the new one with the
//! baseline's part in it, so that an added dependency stays and a changed test command does not. One file per format.

mod ini;
mod json;
mod rust;
mod test_lines;
mod toml;

/// How a file is taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Cargo,
    PyProject,
    Ini,
    Rust,
    Lines,
}

/// The format of the file with this name; none where the whole file is the oracle's.
fn format(path: &[u8]) -> Option<Format> {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    Some(match name {
        b"package.json" | b"composer.json" | b"deno.json" => Format::Json,
        b"Cargo.toml" => Format::Cargo,
        b"pyproject.toml" => Format::PyProject,
        b"setup.cfg" => Format::Ini,
        b"pom.xml" | b"build.gradle" | b"build.gradle.kts" | b"CMakeLists.txt" | b"meson.build" => {
            Format::Lines
        }
        _ if name.ends_with(b".rs") => Format::Rust,
        _ => return None,
    })
}

/// Whether only a part of this file belongs to the oracle.
pub fn has_part(path: &[u8]) -> bool {
    format(path).is_some()
}

/// Whether the part is the same in both. What cannot be read as what it is counts as different.
pub fn same(path: &[u8], baseline: &[u8], now: &[u8]) -> bool {
    let (Ok(baseline), Ok(now)) = (str::from_utf8(baseline), str::from_utf8(now)) else { return false };
    match format(path) {
        Some(Format::Json) => json::part(baseline).is_some_and(|part| json::part(now) == Some(part)),
        Some(Format::Cargo) => toml::same(toml::CARGO, baseline, now),
        Some(Format::PyProject) => toml::same(toml::PYTHON, baseline, now),
        Some(Format::Ini) => ini::part(baseline) == ini::part(now),
        Some(Format::Rust) => rust::tests(baseline) == rust::tests(now),
        Some(Format::Lines) => test_lines::part(baseline) == test_lines::part(now),
        None => false,
    }
}

/// The new file with the baseline's part; the baseline's whole file where that cannot be made.
pub fn put_back(path: &[u8], baseline: &[u8], now: &[u8]) -> Vec<u8> {
    let made =
        str::from_utf8(baseline).ok().zip(str::from_utf8(now).ok()).and_then(|(baseline, now)| match format(
            path,
        )? {
            Format::Json => json::put_back(baseline, now),
            Format::Cargo => toml::put_back(toml::CARGO, baseline, now),
            Format::PyProject => toml::put_back(toml::PYTHON, baseline, now),
            Format::Ini => Some(ini::put_back(baseline, now)),
            Format::Rust => Some(rust::put_back(baseline, now)),
            Format::Lines => None,
        });
    made.map_or_else(|| baseline.to_vec(), String::into_bytes)
}

#[cfg(test)]
mod tests;
