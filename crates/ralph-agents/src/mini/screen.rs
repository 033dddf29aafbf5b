//! What mini-swe-agent prints while it works: a heading for each step with its number and the cost so far, the
//! commands it runs, their return codes, and at the end what was submitted or why it stopped.

use crate::error_phrases::worded;
use crate::litellm;
use crate::text::{KEPT, Tail, short};
use crate::{Activity, Failure, ReaderEvent, Spent};
use ralph_rules::failure::Class;
use ralph_rules::money::Micro;

/// What was read so far.
#[derive(Debug, Default)]
pub struct Screen {
    /// The number of the last step.
    pub steps: u32,
    spent: Spent,
    at: At,
    /// What stands under the last `Exit:`.
    exit: Option<Tail>,
    saved: bool,
}

/// Where in its output we are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Elsewhere,
    /// Under a step's heading, before its command.
    Step,
    /// In the command.
    Command(String),
    /// Before a return code.
    Returned,
    /// Under `Exit:`.
    Exit,
}

impl Screen {
    /// One line, cleaned.
    pub fn line(&mut self, line: &str, out: &mut Vec<ReaderEvent>) {
        let line = line.trim_end();
        if let Some((step, cost)) = heading(line).filter(|(step, cost)| self.follows(*step, *cost)) {
            self.step(step, cost, out);
        } else if line == "Exit:" {
            self.at = At::Exit;
            self.exit = Some(Tail::new(KEPT));
            self.saved = false;
        } else if self.at == At::Exit && line.starts_with("Saved trajectory to ") {
            self.at = At::Elsewhere;
            self.saved = true;
        } else if line == "<returncode>" {
            self.at = At::Returned;
        } else {
            self.inside(line, out);
        }
    }

    /// What a tool prints may look like a heading; its number and its cost must fit.
    fn follows(&self, step: u32, cost: Micro) -> bool {
        step > self.steps && cost >= self.spent.total
    }

    fn step(&mut self, step: u32, cost: Micro, out: &mut Vec<ReaderEvent>) {
        self.steps = step;
        self.at = At::Step;
        (self.exit, self.saved) = (None, false);
        let dearest = self.spent.dearest.max(cost.minus(self.spent.total));
        if cost > self.spent.total {
            self.spent = Spent { total: cost, dearest, ..self.spent };
            out.push(ReaderEvent::Spent(self.spent));
        }
    }

    fn inside(&mut self, line: &str, out: &mut Vec<ReaderEvent>) {
        match &mut self.at {
            At::Exit => {
                if let Some(exit) = &mut self.exit {
                    exit.push_line(line.as_bytes());
                }
            }
            At::Step if line.starts_with("```") => self.at = At::Command(String::new()),
            At::Command(command) if line == "```" => {
                let detail = short(command, 200);
                out.push(ReaderEvent::Activity(Activity::Tool {
                    name: "bash".to_owned(),
                    detail,
                    file: None,
                }));
                self.at = At::Elsewhere;
            }
            At::Command(command) if command.len() < 400 => {
                command.push_str(line);
                command.push('\n');
            }
            At::Returned => {
                out.push(ReaderEvent::Activity(Activity::ToolEnded { failed: line.trim() != "0" }));
                self.at = At::Elsewhere;
            }
            _ => {}
        }
    }

    /// Whether it came to its end: it says where it saved what it did, which a failure does not.
    pub fn finished(&self) -> bool {
        self.saved && self.exit.is_some()
    }

    /// What was submitted, and its length.
    pub fn submission(&self) -> (String, u64) {
        self.exit.as_ref().map_or((String::new(), 0), |exit| (exit.text().into_owned(), exit.length()))
    }

    /// The failure that stands under `Exit:`.
    pub fn failure(&self) -> Option<Failure> {
        let exit = self.exit.as_ref()?.text();
        match (exit.trim(), self.saved) {
            ("LimitsExceeded" | "TimeExceeded", true) => Some(worded(Class::MaxTurns, &exit)),
            ("RepeatedFormatError", true) => Some(worded(Class::Unknown, &exit)),
            (words, false) if litellm::name_in(words).is_some() => Some(litellm::failure(words)),
            _ => None,
        }
    }

    /// The cost as last printed, in cents; nothing was printed of a model without a price.
    pub fn cost(&self) -> Option<Micro> {
        Some(self.spent.total).filter(|cost| *cost > Micro::ZERO)
    }
}

/// `mini-swe-agent (step 2, $0.10):`
fn heading(line: &str) -> Option<(u32, Micro)> {
    let inside = line.strip_prefix("mini-swe-agent (step ")?.strip_suffix("):")?;
    let (step, cost) = inside.split_once(", $")?;
    Some((step.parse().ok()?, cost.parse().ok().and_then(Micro::from_usd)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Screen, Vec<ReaderEvent>) {
        let (mut screen, mut out) = (Screen::default(), Vec::new());
        text.lines().for_each(|line| screen.line(line, &mut out));
        (screen, out)
    }

    const STEP: &str =
        "mini-swe-agent (step 1, $0.02):\nI look.\n```\nls -l\n```\n\nTool:\n<returncode>\n2\n<output>\n";

    #[test]
    fn a_step_shows_its_command_its_cost_and_its_end() {
        let (screen, events) = read(STEP);
        let told = format!("{events:?}");
        for part in ["Micro(20000)", "detail: \"ls -l\"", "ToolEnded { failed: true }"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!((screen.steps, screen.finished(), screen.cost()), (1, false, Some(Micro(20_000))));
    }

    #[test]
    fn what_a_tool_prints_is_no_heading_and_no_end() {
        let text = format!(
            "{STEP}mini-swe-agent (step 1, $99.00):\nmini-swe-agent (step 2, $0.01):\nExit:\nall done\n"
        );
        let (screen, _) = read(&text);
        assert_eq!((screen.steps, screen.cost(), screen.finished()), (1, Some(Micro(20_000)), false));
        let (screen, _) =
            read(&format!("{text}\nmini-swe-agent (step 2, $0.03):\nExit:\nreal\nSaved trajectory to 'x'"));
        assert_eq!((screen.submission().0.as_str(), screen.finished()), ("real", true));
    }

    #[test]
    fn only_what_was_not_saved_is_an_error() {
        let error = "Exit:\nlitellm.AuthenticationError: no key\n";
        assert_eq!(read(error).0.failure().unwrap().class, Class::Auth);
        let saved = format!("{error}Saved trajectory to 'x'\n");
        assert_eq!(read(&saved).0.failure(), None);
        let limit = read("Exit:\nLimitsExceeded\nSaved trajectory to 'x'\n").0;
        assert_eq!(limit.failure().unwrap().class, Class::MaxTurns);
    }
}
