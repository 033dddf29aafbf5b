//! Protected paths: globs in gitignore syntax, matched without regard to case.
//!
//! As in a `.gitignore`, a glob without a slash (but at its end) matches at any depth, one with a slash is
//! anchored at the workspace's root, later globs win, and what lies in a protected directory stays
//! protected: `!` cannot reach into it. `walk` flags what matches, `violations` compares it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// A glob that cannot protect anything as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("protected path `{glob}`: {why}")]
pub struct BadGlob {
    /// As it was given.
    pub glob: String,
    /// What is wrong with it and how to write it.
    pub why: String,
}

/// A set of protected paths.
#[derive(Debug, Clone)]
pub struct Protect {
    matcher: Gitignore,
    literals: Vec<Literal>,
    globs: Vec<String>,
    key: [u8; 32],
}

/// The parts of a glob that are plain names, from its beginning up to the first wildcard, in lower case; `*` for any name
/// where that was asked for.
#[derive(Debug, Clone)]
struct Literal {
    anchored: bool,
    parts: Vec<Vec<u8>>,
}

impl Protect {
    /// What is protected unless the user says otherwise; ralph's own input files are among it.
    pub const DEFAULTS: &[&str] = &[
        "src/auth/",
        "src/payments/",
        "migrations/",
        ".env",
        ".env.*",
        "!.env.example",
        "!.env.sample",
        "!.env.template",
        "!.env.test",
        "secrets/",
        "ralph.toml",
        "ralph.local.toml",
        ".ralph/skills/",
        ".ralph/templates/",
    ];

    /// Those of them that hold secrets, and what else does where the user protects it: such a file must not get into the
    /// history, even as it is.
    pub const SECRETS: &[&str] = &[
        ".env",
        ".env.*",
        "!.env.example",
        "!.env.sample",
        "!.env.template",
        "!.env.test",
        "secrets/",
        "*.pem",
        "*.key",
        "*.p12",
    ];

    /// Reads the globs in order; refuses the first that could not mean anything.
    pub fn new<S: AsRef<str>>(globs: impl IntoIterator<Item = S>) -> Result<Protect, BadGlob> {
        let mut builder = GitignoreBuilder::new("");
        builder.allow_unclosed_class(false);
        let (mut literals, mut all) = (Vec::new(), Vec::new());
        let mut hasher = blake3::Hasher::new();
        let bad = |glob: &str, why: String| BadGlob { glob: glob.to_owned(), why };
        if let Err(error) = builder.case_insensitive(true) {
            return Err(bad("", error.to_string()));
        }
        for given in globs {
            let given = given.as_ref();
            let glob = plain(given).map_err(|why| bad(given, why.to_owned()))?;
            builder.add_line(None, &glob).map_err(|error| bad(given, reason(&error)))?;
            literals.extend(Literal::of(&glob, false));
            hasher.update(glob.as_bytes()).update(b"\0");
            all.push(given.to_owned());
        }
        let matcher = builder.build().map_err(|error| bad("", reason(&error)))?;
        Ok(Protect { matcher, literals, globs: all, key: *hasher.finalize().as_bytes() })
    }

    /// The same globs, and a `*` between two slashes leads through every directory there, even a noise directory.
    #[must_use]
    pub fn entering_every_star(mut self) -> Protect {
        let globs = self.globs.iter().filter_map(|given| plain(given).ok());
        self.literals = globs.filter_map(|glob| Literal::of(&glob, true)).collect();
        self
    }

    /// The globs, as they were given.
    #[must_use]
    pub fn globs(&self) -> &[String] {
        &self.globs
    }

    /// True if the path, or a directory it lies in, is protected. `is_dir` tells about the path itself.
    #[must_use]
    pub fn protects(&self, path: &[u8], is_dir: bool) -> bool {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let mut parents = slashes.filter_map(|at| path.get(..at));
        parents.any(|parent| self.hits(parent, true)) || self.hits(path, is_dir)
    }

    /// True if the path itself is matched; the directories it lies in are the caller's.
    pub(crate) fn hits(&self, path: &[u8], is_dir: bool) -> bool {
        self.matcher.matched(Path::new(OsStr::from_bytes(path)), is_dir).is_ignore()
    }

    /// True if a glob leads through this directory by name, so that even a noise directory is entered.
    pub(crate) fn names(&self, path: &[u8]) -> bool {
        self.literals.iter().any(|literal| literal.leads_through(path))
    }

    /// Equal for equal globs: flags of an older walk hold only under the same key.
    pub(crate) fn key(&self) -> &[u8; 32] {
        &self.key
    }
}

/// Takes off what gitignore would read as something else, or says why the glob cannot be meant.
fn plain(given: &str) -> Result<String, &'static str> {
    let glob = given.trim_start().trim_end_matches(['\r', '\n']);
    let (not, body) = glob.strip_prefix('!').map_or(("", glob), |body| ("!", body));
    let body = body.strip_prefix("./").unwrap_or(body);
    if body.trim().trim_matches('/').is_empty() {
        return Err("is empty; name a file, a directory (`secrets/`) or a glob (`*.pem`)");
    }
    if body.contains('\0') || body.contains('\n') {
        return Err("contains a NUL byte or a line break; give one glob at a time");
    }
    if body.starts_with('#') {
        return Err("is a comment in gitignore syntax; write `\\#` for a name that begins with #");
    }
    if body.split('/').any(|part| part == "..") {
        return Err("points outside the workspace; globs are relative to its root");
    }
    Ok(format!("{not}{body}"))
}

/// The library's reason without its repetition of the glob.
fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => format!("{err}; write it as in a .gitignore"),
        other => other.to_string(),
    }
}

impl Literal {
    fn of(glob: &str, stars: bool) -> Option<Literal> {
        if glob.starts_with('!') {
            return None;
        }
        let body = glob.trim_end().trim_end_matches('/');
        let floating = body.strip_prefix("**/");
        let anchored = floating.is_none() && body.contains('/');
        let body = floating.unwrap_or(body).trim_start_matches('/');
        let parts: Vec<Vec<u8>> = body
            .split('/')
            .take_while(|part| stars && *part == "*" || !part.contains(['*', '?', '[', '{', '\\']))
            .map(|part| part.to_ascii_lowercase().into_bytes())
            .collect();
        (!parts.is_empty()).then_some(Literal { anchored, parts })
    }

    fn leads_through(&self, path: &[u8]) -> bool {
        let path = path.to_ascii_lowercase();
        let path: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let lengths = 1..=self.parts.len().min(path.len());
        let mut heads = lengths.filter_map(|n| self.parts.get(..n));
        heads.any(|head| {
            let tail = path.get(path.len() - head.len()..).unwrap_or_default();
            let same = tail.iter().zip(head).all(|(a, b)| *a == b.as_slice() || b.as_slice() == b"*");
            same && (!self.anchored || head.len() == path.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults() {
        let protect = Protect::new(Protect::DEFAULTS).unwrap();
        for (path, protected) in [
            ("src/auth/login.rs", true),
            ("src/auth/deep/er/x", true),
            ("SRC/Auth/login.rs", true),
            ("app/src/auth/login.rs", false),
            ("src/authors.rs", false),
            ("src/auth", false),
            ("src/payments/stripe.ts", true),
            ("migrations/0001.sql", true),
            ("app/db/migrations/0001.sql", true),
            ("app/Migrations/0001.sql", true),
            ("docs/migrations", false),
            (".env", true),
            (".ENV", true),
            ("services/api/.env", true),
            (".env.local", true),
            (".env.production", true),
            (".env.example", false),
            (".env.sample", false),
            (".env.template", false),
            (".env.test", false),
            (".env.example.bak", true),
            (".envrc", false),
            ("my.env", false),
            ("secrets/key.pem", true),
            ("secrets/.env.example", true),
            ("k8s/secrets/a/b", true),
            ("src/secrets.rs", false),
            ("ralph.toml", true),
            ("ralph.local.toml", true),
            (".ralph/skills/a.md", true),
            (".ralph/templates/t", true),
            (".ralph/status.json", false),
            ("src/main.rs", false),
        ] {
            assert_eq!(protect.protects(path.as_bytes(), false), protected, "{path}");
        }
        assert!(protect.protects(b"src/auth", true));
        assert!(protect.protects(b"a/secrets", true));
    }

    #[test]
    fn gitignore_syntax() {
        for (globs, path, protected) in [
            (&["*.pem"][..], "a/b/server.pem", true),
            (&["/only.txt"], "only.txt", true),
            (&["/only.txt"], "sub/only.txt", false),
            (&["./src/core/"], "src/core/x", true),
            (&["docs/**/*.md"], "docs/a/b/c.md", true),
            (&["docs/*.md"], "docs/a/c.md", false),
            (&["data/*", "!data/open.csv"], "data/open.csv", false),
            (&["data/*", "!data/open.csv"], "data/closed.csv", true),
            (&["data/", "!data/open.csv"], "data/open.csv", true),
            (&["!x", "x"], "x", true),
            (&["x", "!x"], "x", false),
            (&["\\#odd"], "#odd", true),
            (&["file[0-9]"], "FILE7", true),
            (&["with space "], "with space", true),
            (&[], "anything", false),
        ] {
            let protect = Protect::new(globs).unwrap();
            assert_eq!(protect.protects(path.as_bytes(), false), protected, "{globs:?} {path}");
        }
        assert!(Protect::new(["*.key"]).unwrap().protects(b"a/\xff.key", false));
    }

    #[test]
    fn a_star_leads_through_every_directory_only_if_asked() {
        let protect = Protect::new(["/worktrees/*/config"]).unwrap();
        let entering = protect.clone().entering_every_star();
        for (path, plainly, entered) in [
            ("worktrees", true, true),
            ("worktrees/target", false, true),
            ("worktrees/target/config", false, true),
            ("worktrees/target/logs", false, false),
            ("worktrees/target/config/x", false, false),
            ("other/target", false, false),
        ] {
            let names = (protect.names(path.as_bytes()), entering.names(path.as_bytes()));
            assert_eq!(names, (plainly, entered), "{path}");
        }
    }

    #[test]
    fn globs_that_mean_nothing_are_refused() {
        for glob in ["", "  ", "/", "!", "# note", "../other", "a/../b", "file[0-9", "a\0b", "a\nb"] {
            let error = Protect::new([glob]).unwrap_err();
            assert_eq!(error.glob, glob);
            assert!(error.to_string().contains("protected path"), "{error}");
        }
    }

    #[test]
    fn only_literal_names_lead_into_noise() {
        let protect =
            Protect::new([".ralph/skills/", "node_modules/", "**/.cache/keys/x", "src/auth/**"]).unwrap();
        for (path, named) in [
            (".ralph", true),
            (".ralph/skills", true),
            (".ralph/runs", false),
            ("sub/.ralph", false),
            ("node_modules", true),
            ("web/Node_Modules", true),
            ("a/.cache", true),
            ("a/.cache/keys", true),
            ("a/.cache/other", false),
            ("src/auth/__pycache__", false),
            ("target", false),
        ] {
            assert_eq!(protect.names(path.as_bytes()), named, "{path}");
        }
    }
}
