//! One file, read and checked: bounded, text, every key known, none that this version would ignore.

use super::file::File;
use super::place;
use crate::problem::{Code, Problem};
use ralph_agents::registry::{self, UnknownAgent};
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A config file larger than this is a mistake.
const MOST: u64 = 1 << 20;

/// Who wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user or the system: it may set ceilings.
    Own,
    /// The project, where an agent could write: it may only tighten.
    Project,
}

/// The file and its text, if there is one.
pub fn read(path: &Path, trust: Trust) -> Result<Option<(File, String)>, Problem> {
    let text = match text(path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(e) => {
            let message = format!("{} cannot be read", path.display());
            return Err(Problem::new(Code::Config, message)
                .cause(&e)
                .hint("make it readable text, or remove it"));
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let file: File = toml::from_str(text).map_err(|e| place::mistake(path, text, &e))?;
    if let Some(key) = file.not_yet() {
        return Err(place::at_key(path, text, &key, "is not supported by this version of ralph")
            .hint("remove it: ralph never ignores a setting silently"));
    }
    if let Some(key) = file.not_here().filter(|_| trust == Trust::Project) {
        let what = match key {
            "ceilings" => "may not be set in a project",
            "protect.on_violation" => "may only be \"abort\" in a project, where an agent could write it",
            "prices" => "may not be set in a project: the limits on money are measured with them",
            "protect.paths" => "may only add paths in a project, not exempt them with `!`",
            _ => "may only be made stricter in a project",
        };
        return Err(place::at_key(path, text, key, what).hint("set it in your own config.toml instead"));
    }
    if let Some(what) = file.bad_rung() {
        return Err(place::at_key(path, text, "ladder", &what)
            .hint("a rung looks so:\n\n      [[ladder]]\n      model = \"opus\""));
    }
    for name in file.agents.keys() {
        if let Err(UnknownAgent::Unknown { suggestion, .. }) = registry::find(name) {
            let problem = place::at_key(path, text, &format!("agents.{name}"), "is no agent");
            return Err(suggestion
                .iter()
                .fold(problem, |p, meant| p.hint(format!("did you mean `agents.{meant}`?"))));
        }
    }
    Ok(Some((file, text.to_string())))
}

fn text(path: &Path) -> std::io::Result<String> {
    // A pipe or a device here is a trap, not a setting.
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(std::io::Error::other("it is larger than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let line = e
            .as_bytes()
            .get(..e.utf8_error().valid_up_to())
            .map_or(0, |good| good.iter().filter(|b| **b == b'\n').count());
        std::io::Error::other(format!("it is not UTF-8 text (line {})", line + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> Option<(String, Vec<String>)> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ralph.toml");
        std::fs::write(&path, bytes).unwrap();
        let problem = read(&path, Trust::Project).err()?;
        assert_eq!(problem.code, Code::Config);
        let place = problem.message.replace(&dir.path().display().to_string(), "");
        Some((place, problem.hints.into_iter().chain(problem.causes).collect()))
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let table = [
            ("[run]\nmax_iteration = 3\n", "/ralph.toml:2:1: unknown key `max_iteration`"),
            ("[runn]\n", "/ralph.toml:1:2: unknown key `runn`"),
            ("\u{feff}[runn]\n", "/ralph.toml:1:2: unknown key `runn`"),
            ("[run]\r\n  x = 1\r\n", "/ralph.toml:2:3: unknown key `x`"),
            (
                "[run]\nmax_iterations = \"3\"\n",
                "/ralph.toml:2:18: string \"3\", expected a whole number above 0",
            ),
            ("[run]\nmax_iterations = 0\n", "/ralph.toml:2:18: integer `0`, expected a whole number above 0"),
            (
                "[run]\nmax_iterations = -3\n",
                "/ralph.toml:2:18: integer `-3`, expected a whole number above 0",
            ),
            ("[run]\nmax_iterations = 1\nmax_iterations = 2\n", "/ralph.toml:3:1: duplicate key"),
            (
                "[run]\nmax_cost_usd = nan\n",
                "/ralph.toml:2:16: NaN is no amount of money above 0; write it like 5.0",
            ),
            ("[run]\nmax_cost_usd = 1e400\n", "/ralph.toml:2:16: floating-point number overflowed"),
            ("[run]\ntimeout = 5\n", "/ralph.toml:2:11: integer `5`, expected a text in quotes"),
            (
                "[run]\ntimeout = \"5\"\n",
                "/ralph.toml:2:11: `5` is no duration; write it like 90s, 15m or 1h30m",
            ),
            ("run = 5\n", "/ralph.toml:1:7: integer `5`, expected a table"),
            ("[verify]\ncommands = \"x\"\n", "/ralph.toml:2:12: string \"x\", expected a list in [ ]"),
            (
                "[gate]\nuntil = \"x\"\n",
                "/ralph.toml:2:9: unknown value `x`, expected `claimed` or `verified`",
            ),
            (
                "preset = \"clasic\"\n",
                "/ralph.toml:1:10: unknown value `clasic`, expected one of `strict`, `classic`, `analyzer`, `wrapper`",
            ),
            (
                "[gate]\nmarker_file = \"../done\"\n",
                "/ralph.toml:2:15: `../done` is outside the workspace; write a path within it, like .ralph-complete",
            ),
            ("[plan]\npath = \"x\"\n", "/ralph.toml:2:1: unknown key `path`"),
            ("[[ladder]]\nx = 1\n", "/ralph.toml:2:1: unknown key `x`"),
            (
                "[run]\n[[ladder]]\n",
                "/ralph.toml:2:3: `ladder` rung 1 changes nothing: name an agent, a model or args",
            ),
            (
                "[breaker]\ncooldown = \"0s\"\n",
                "/ralph.toml:2:12: a duration must be above 0; use a number and a unit, such as 90s, 15m or 1h30m",
            ),
            (
                "[agents.sim.env]\nRALPH_RUN = \"x\"\n",
                "/ralph.toml:2:1: RALPH_RUN is ralph's own: it finds its processes by it",
            ),
            ("[agents.smi]\n", "/ralph.toml:1:9: `agents.smi` is no agent"),
            ("[ceilings]\nmax_iterations = 9\n", "/ralph.toml:1:2: `ceilings` may not be set in a project"),
        ];
        for (text, message) in table {
            assert_eq!(refusal(text.as_bytes()).unwrap().0, message, "{text}");
        }
    }

    #[test]
    fn a_broken_price_is_told_with_its_place() {
        let table = [
            (
                "[prices.\"gpt-5\"]\ninput = 0\noutput = 0\n",
                "/ralph.toml:1:2: `prices` may not be set in a project: the limits on money are measured with them",
            ),
            (
                "[prices.x]\ninput = -1\noutput = 2\n",
                "/ralph.toml:2:9: -1 is no price; write dollars per million tokens, like 3.0",
            ),
            (
                "[prices.x]\ninput = inf\noutput = 2\n",
                "/ralph.toml:2:9: inf is no price; write dollars per million tokens, like 3.0",
            ),
            (
                "[prices.x]\ninput = \"3\"\noutput = 2\n",
                "/ralph.toml:2:9: string \"3\", expected dollars per million tokens as a number, like 3.0",
            ),
            ("[prices.x]\ninput = 3\n", "/ralph.toml:1:1: missing key `output`"),
            ("[prices.x]\ninput = 3\noutput = 2\ncached = 1\n", "/ralph.toml:4:1: unknown key `cached`"),
            ("[prices.\"\"]\ninput = 3\noutput = 2\n", "/ralph.toml:1:9: \"\" is no name of a model"),
        ];
        for (text, message) in table {
            assert_eq!(refusal(text.as_bytes()).unwrap().0, message, "{text}");
        }
    }

    #[test]
    fn typos_get_suggestions() {
        for (text, meant) in [
            ("[run]\nmax_iteration = 3\n", "did you mean `max_iterations`?"),
            ("[gate]\nuntil = \"verifed\"\n", "did you mean `verified`?"),
            ("[agents.cluade]\n", "did you mean `agents.claude`?"),
        ] {
            assert!(refusal(text.as_bytes()).unwrap().1.contains(&meant.to_string()), "{text}");
        }
    }

    #[test]
    fn what_is_no_small_text_file_is_refused() {
        let long = format!("#{}\n", "x".repeat(2 << 20));
        for (bytes, why) in [
            (&b"[run]\n\xff\xfe"[..], "it is not UTF-8 text (line 2)"),
            (long.as_bytes(), "it is larger than 1 MiB"),
        ] {
            let (message, more) = refusal(bytes).unwrap();
            assert_eq!(message, "/ralph.toml cannot be read");
            assert!(more.contains(&why.to_string()), "{more:?}");
        }
        assert!(read(Path::new("/dev/zero"), Trust::Own).is_err());
        assert!(read(Path::new("/nonexistent/ralph.toml"), Trust::Own).unwrap().is_none());
        assert!(refusal(b"\xef\xbb\xbf[run]\r\nmax_iterations = 3\r\nmax_cost_usd = 1\r\n").is_none());
        let nested = format!("a = {}", "[".repeat(100_000));
        let (_, more) = refusal(nested.as_bytes()).unwrap();
        assert!(more.iter().all(|line| line.len() < 200));
    }
}
