//! Paths as bytes, a slash between the parts; nothing is looked up on a disk.

/// What follows the last slash.
pub fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// The directory of a path; empty for the root.
pub fn parent(path: &[u8]) -> &[u8] {
    let at = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    path.get(..at).unwrap_or_default()
}

/// The directories above a file, the topmost first.
pub fn directories(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    parent(path).split(|&byte| byte == b'/').filter(|part| !part.is_empty())
}

/// What follows the last dot of the name, in lower case; empty where the only dot is the first byte.
pub fn extension(path: &[u8]) -> Vec<u8> {
    let name = name(path);
    let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&at| at > 0);
    dot.and_then(|at| name.get(at + 1..)).unwrap_or_default().to_ascii_lowercase()
}

/// The name up to its first dot.
pub fn stem(path: &[u8]) -> &[u8] {
    let name = name(path);
    let dot = name.iter().skip(1).position(|&byte| byte == b'.').map(|at| at + 1);
    name.get(..dot.unwrap_or(name.len())).unwrap_or_default()
}

/// A path seen from a directory, with `.` and `..` resolved; none if it is absolute, leaves the root or is the root.
pub fn join(dir: &[u8], path: &[u8]) -> Option<Vec<u8>> {
    if path.first() == Some(&b'/') {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in dir.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join(&b'/')).filter(|joined| !joined.is_empty())
}

/// The same for a directory, where the root is a result: empty.
pub fn join_dir(dir: &[u8], path: &[u8]) -> Option<Vec<u8>> {
    if path.first() == Some(&b'/') {
        return None;
    }
    let probe = [path, b"/_"].concat();
    join(dir, &probe).map(|joined| parent(&joined).to_vec())
}

/// For messages.
pub fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_paths() {
        assert_eq!(name(b"a/b.c"), b"b.c");
        assert_eq!(parent(b"a/b/c"), b"a/b");
        assert_eq!(parent(b"c"), b"");
        assert_eq!(extension(b"a/.rc"), b"");
        assert_eq!(extension(b"a/B.Tar.GZ"), b"gz");
        assert_eq!(stem(b"a/.rc.js"), b".rc");
        assert_eq!(stem(b"a/b.c.d"), b"b");
        assert_eq!(directories(b"a/b/c").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(join(b"a/b", b"../c"), Some(b"a/c".to_vec()));
        assert_eq!(join(b"", b"../c"), None);
        assert_eq!(join(b"", b"./"), None);
        assert_eq!(join(b"a", b"/c"), None);
        assert_eq!(join_dir(b"a", b".."), Some(Vec::new()));
        assert_eq!(join_dir(b"a", b"b"), Some(b"a/b".to_vec()));
    }
}
