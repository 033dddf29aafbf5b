//! What Aider prints, line by line. An answer is whole when its account follows (`Tokens: … sent, … received.`);
//! until then the text may be an answer or an error, and after it come edits, commits and perhaps another round.
//! Errors are only believed where no account followed: a model may write such words too.

use crate::aider::account::Account;
use crate::error_phrases::worded;
use crate::litellm;
use crate::text::{KEPT, Tail, short};
use crate::{Activity, Failure, ReaderEvent};
use ralph_rules::failure::Class;
use ralph_rules::money::{Micro, Usage};

/// How much of what the agent says is shown.
const SAID: usize = 2000;
/// How much of an error's words is kept; they may go over several lines.
const WORDS: usize = 4096;
/// Its own line in place of an answer.
const EMPTY: &str = "Empty response received from LLM. Check your provider account?";

/// Where in its output we are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    /// Warnings, then its name, model and repository, up to a blank line.
    #[default]
    Banner,
    /// An answer, or why there is none.
    Answer,
    /// After an account: what it does with the answer.
    Work,
    /// After a commit, whose message is the model's text.
    Committed,
}

/// What was read so far.
#[derive(Debug)]
pub struct Screen {
    part: Part,
    named: bool,
    /// The model it said it uses.
    pub model: Option<String>,
    /// The lines since the last account.
    lines: Tail,
    /// The last answer that was accounted for.
    answer: Option<Tail>,
    /// How many there were.
    pub answers: u32,
    error: Option<String>,
    in_error: bool,
    /// A token limit was hit; how many tokens the answer had by then.
    limit: Option<u64>,
    /// Tokens, as rounded as it prints them.
    pub usage: Usage,
    /// Cost, where it knows the model's price; its commit messages are not in it.
    pub cost: Option<Micro>,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen {
            part: Part::Banner,
            named: false,
            model: None,
            lines: Tail::new(KEPT),
            answer: None,
            answers: 0,
            error: None,
            in_error: false,
            limit: None,
            usage: Usage::default(),
            cost: None,
        }
    }
}

impl Screen {
    /// One line, cleaned.
    pub fn line(&mut self, line: &str, out: &mut Vec<ReaderEvent>) {
        let line = line.trim_end();
        if self.part == Part::Banner {
            self.banner(line, out);
        } else if let Some(account) = Account::read(line) {
            self.accounted(&account, out);
        } else if retrying(line) {
            let why = short(&format!("{}: {line}", self.error.as_deref().unwrap_or_default()), 300);
            out.push(ReaderEvent::Activity(Activity::Retrying { why }));
            self.lines.clear();
            self.in_error = false;
        } else {
            self.other(line, out);
        }
    }

    fn banner(&mut self, line: &str, out: &mut Vec<ReaderEvent>) {
        self.named |= line.starts_with("Aider v");
        let model = ["Model: ", "Main model: "].iter().find_map(|label| line.strip_prefix(label));
        if let Some(model) = model.filter(|_| self.named && self.model.is_none()) {
            let name = model.split_once(" with ").map_or(model, |(name, _)| name);
            self.model = Some(short(name, 200));
            let began = Activity::Began { session: None, model: self.model.clone() };
            out.push(ReaderEvent::Activity(began));
        }
        if self.named && line.is_empty() {
            self.part = Part::Answer;
        }
    }

    fn accounted(&mut self, account: &Account, out: &mut Vec<ReaderEvent>) {
        let answer = std::mem::replace(&mut self.lines, Tail::new(KEPT));
        let said = short(answer.text().trim(), SAID);
        if !said.is_empty() && said != EMPTY {
            out.push(ReaderEvent::Activity(Activity::Said { text: said }));
        }
        self.answer = Some(answer);
        self.answers = self.answers.saturating_add(1);
        (self.error, self.in_error, self.limit) = (None, false, None);
        self.part = Part::Work;
        self.usage = self.usage.plus(&account.usage);
        let before = self.cost.unwrap_or_default();
        let total = account.session.or_else(|| account.message.map(|message| before.plus(message)));
        self.cost = total.map(|total| total.max(before)).or(self.cost);
    }

    fn other(&mut self, line: &str, out: &mut Vec<ReaderEvent>) {
        if let Some(file) = line.strip_prefix("Applied edit to ").filter(|_| self.part != Part::Answer) {
            let (name, detail) = ("edit".to_owned(), short(file, 200));
            out.push(ReaderEvent::Activity(Activity::Tool { name, detail, file: Some(file.to_owned()) }));
            out.push(ReaderEvent::Activity(Activity::ToolEnded { failed: false }));
            self.lines.clear();
            return;
        }
        if self.part == Part::Work && line.starts_with("Commit ") {
            self.part = Part::Committed;
            self.lines.clear();
            return;
        }
        if self.part != Part::Committed {
            self.note_error(line);
        }
        self.lines.push_line(line.as_bytes());
    }

    fn note_error(&mut self, line: &str) {
        if litellm::name_in(line).is_some() {
            self.error = Some(line.to_owned());
            self.in_error = true;
        } else if line.is_empty() {
            self.in_error = false;
        } else if let Some(error) = self.error.as_mut().filter(|error| self.in_error && error.len() < WORDS) {
            error.push(' ');
            error.push_str(line);
        }
        if line.starts_with("Model ") && line.ends_with(" has hit a token limit!") {
            self.limit = Some(0);
        } else if let (Some(_), Some(count)) = (self.limit, line.strip_prefix("Output tokens: ~")) {
            let digits: String =
                count.chars().take_while(|c| *c != ' ').filter(char::is_ascii_digit).collect();
            self.limit = Some(digits.parse().unwrap_or(0));
        }
    }

    /// Whether there is an answer that was accounted for.
    pub fn answered(&self) -> bool {
        self.answer.is_some()
    }

    /// The last answer and its length.
    pub fn answer(&self) -> (String, u64) {
        let Some(answer) = &self.answer else { return (String::new(), 0) };
        let text = answer.text();
        let text = text.trim_matches('\n');
        if text == EMPTY { (String::new(), 0) } else { (text.to_owned(), answer.length()) }
    }

    /// The failure that was told and that no answer followed.
    pub fn failure(&self) -> Option<Failure> {
        match self.limit {
            Some(0) => {
                Some(worded(Class::ContextTooLong, "the model has hit a token limit before it answered"))
            }
            Some(_) => Some(worded(Class::Truncated, "the model has hit a token limit in its answer")),
            None => self.error.as_deref().map(litellm::failure),
        }
    }
}

/// `Retrying in 0.2 seconds...`
fn retrying(line: &str) -> bool {
    let number = line.strip_prefix("Retrying in ").and_then(|rest| rest.strip_suffix(" seconds..."));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(text: &str) -> Screen {
        let mut screen = Screen::default();
        for line in format!("Aider v0.86.2\nModel: openai/m with whole edit format\n\n{text}").lines() {
            screen.line(line, &mut Vec::new());
        }
        screen
    }

    #[test]
    fn a_model_that_writes_of_errors_did_not_fail() {
        let told = screen("litellm.RateLimitError: so says the log\nfixed\n\nTokens: 5 sent, 5 received.\n");
        assert_eq!(told.failure(), None);
        assert_eq!(told.answer().0, "litellm.RateLimitError: so says the log\nfixed");
        let committed = screen(
            "done\nTokens: 5 sent, 5 received.\nApplied edit to a\nCommit 1f76c5f fix: litellm\n\
             litellm.AuthenticationError: handled\n",
        );
        assert_eq!((committed.failure(), committed.answer().0.as_str()), (None, "done"));
    }

    #[test]
    fn an_error_counts_until_an_answer_follows() {
        let error =
            "litellm.InternalServerError: OpenAIException - Connection \nerror.\nThe servers are down.\n";
        let failed = screen(error);
        assert_eq!(failed.failure().unwrap().class, Class::Network);
        let retried =
            screen(&format!("{error}Retrying in 0.2 seconds...\nhello\n\nTokens: 5 sent, 5 received."));
        assert_eq!((retried.failure(), retried.answer().0.as_str()), (None, "hello"));
    }

    #[test]
    fn a_token_limit_is_before_or_in_the_answer() {
        for (count, class) in [("8", Class::Truncated), ("0", Class::ContextTooLong)] {
            let text = format!("Model openai/m has hit a token limit!\n\nOutput tokens: ~{count} of 4,096\n");
            assert_eq!(screen(&text).failure().unwrap().class, class, "{count}");
        }
    }

    #[test]
    fn the_last_of_several_rounds_is_the_answer() {
        let rounds = screen(
            "first\nTokens: 5 sent, 5 received. Cost: $0.01 message, $0.01 session.\nApplied edit to a\nsecond\n\n\
             Tokens: 6 sent, 6 received. Cost: $0.02 message,\n",
        );
        assert_eq!(rounds.cost, Some(Micro(30_000)), "where the line was broken, the parts are added");
        assert_eq!((rounds.answer().0.as_str(), rounds.answers, rounds.usage.input), ("second", 2, 11));
    }
}
