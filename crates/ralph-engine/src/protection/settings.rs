//! The settings in a config file of git.

/// One `key = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub section: String,
    pub sub: String,
    /// Empty for a line that cannot be read for sure; then the value is that line.
    pub key: String,
    pub value: String,
}

impl Setting {
    pub fn name(&self) -> String {
        match self.sub.as_str() {
            "" => format!("{}.{}", self.section, self.key),
            sub => format!("{}.{sub}.{}", self.section, self.key),
        }
    }

    /// The name as people may see it: an address in it may hold a password.
    pub fn shown_name(&self) -> String {
        let is_plain = |text: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/');
            text.len() <= LONGEST && text.bytes().all(plain)
        };
        let shown = |text: &str| if is_plain(text) { text.to_owned() } else { "*".to_owned() };
        match (self.sub.as_str(), self.key.as_str()) {
            (_, "") => "unreadable-line".to_owned(),
            ("", key) => format!("{}.{}", shown(&self.section), shown(key)),
            (sub, key) => format!("{}.{}.{}", shown(&self.section), shown(sub), shown(key)),
        }
    }

    pub fn is_of_files(&self) -> bool {
        matches!(self.section.as_str(), "core" | "index")
    }

    pub fn same_key(&self, other: &Setting) -> bool {
        (&self.section, &self.sub, &self.key) == (&other.section, &other.sub, &other.key)
    }

    /// Whether a name of the table stands for this key.
    pub fn fits(&self, name: &str) -> bool {
        let Some((section, rest)) = name.split_once('.') else { return false };
        let (sub, key) = rest.rsplit_once('.').map_or((None, rest), |(sub, key)| (Some(sub), key));
        let sub = match sub {
            None => self.sub.is_empty(),
            Some("*") => !self.sub.is_empty(),
            Some(sub) => sub == self.sub,
        };
        !self.key.is_empty() && section == self.section && sub && (key == "*" || key == self.key)
    }
}

/// A longer part of a name is not shown.
const LONGEST: usize = 40;

/// Every setting in order. None where a line cannot be read for sure: then nothing is taken for harmless.
pub fn settings(text: &[u8]) -> Option<Vec<Setting>> {
    lenient_settings(text).filter(|all| all.iter().all(|setting| !setting.key.is_empty()))
}

/// The same for a config that people write by hand. A line that cannot be read is a setting without a key, and so is a
/// value over several lines. None if it is not clear where a line ends.
pub fn lenient_settings(text: &[u8]) -> Option<Vec<Setting>> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut all, mut section, mut sub) = (Vec::new(), String::new(), String::new());
    let mut lines = text.lines();
    while let Some(whole) = lines.next() {
        let line = whole.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let mut add = |section: &String, key: &str, value: &str| {
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim().to_owned());
            all.push(Setting { section: section.clone(), sub: sub.clone(), key, value });
        };
        if line.starts_with('[') {
            match header(line) {
                Some(named) => (section, sub) = named,
                // No name in the table is like this, so nothing below it is harmless either.
                None if line.ends_with('\\') => return None,
                None => {
                    add(&section, "", line);
                    (section, sub) = (line.to_owned(), String::new());
                }
            }
            continue;
        }
        let Some((key, value)) = whole.split_once('=') else {
            if line.contains(['\\', '"']) {
                return None;
            }
            add(&section, "", line);
            continue;
        };
        let (mut joined, mut quoted) = (value.to_owned(), false);
        let mut goes_on = continues(value, &mut quoted);
        if !goes_on && !quoted {
            add(&section, key, value);
            continue;
        }
        while goes_on {
            let next = lines.next()?;
            joined = format!("{joined}\n{next}");
            goes_on = continues(next, &mut quoted);
        }
        if quoted {
            return None;
        }
        add(&section, "", &format!("{} ={joined}", key.trim()));
    }
    Some(all)
}

/// The section and the name in it.
fn header(line: &str) -> Option<(String, String)> {
    let head = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, rest) = head.split_once(' ').unwrap_or((head, ""));
    let sub = match rest.trim() {
        "" => String::new(),
        rest => rest.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
    };
    let odd = name.contains(['"', '[', ']', '.']) || sub.contains(['"', '\\']);
    (!odd).then(|| (name.to_ascii_lowercase(), sub))
}

/// Whether a value goes on in the next line: a backslash at the end, not in a remark.
fn continues(value: &str, quoted: &mut bool) -> bool {
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_none() => return true,
            '"' => *quoted = !*quoted,
            '#' | ';' if !*quoted => return false,
            _ => {}
        }
    }
    false
}
