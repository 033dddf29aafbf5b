//! How a call ends without a failure: the final message with its claim, the result, the exit code.

use super::Performer;
use crate::claim::{Block, Claim, Facts};
use crate::output::{self, Ending};
use crate::script::Action;
use std::thread;
use std::time::Duration;

/// What the script has set for the end of the call.
#[derive(Debug, Default)]
pub struct FinalMessage {
    message: Option<String>,
    echo: Option<String>,
    block: Option<Block>,
    promise: Option<String>,
    no_claim: bool,
    recommendation: Option<String>,
    linger: Duration,
    exit_code: Option<u8>,
}

impl FinalMessage {
    /// Takes an action that only matters at the end.
    pub fn note(&mut self, action: Action, prompt: &str) {
        match action {
            Action::Message(text) => self.message = Some(text),
            Action::EchoPrompt { .. } => self.echo = Some(prompt.to_owned()),
            Action::Recommendation(text) => self.recommendation = Some(text),
            Action::Claim(Claim::Block(block)) => self.block = Some(block),
            Action::Claim(Claim::Promise(text)) => self.promise = Some(text),
            Action::Claim(Claim::None) => self.no_claim = true,
            Action::Linger(time) => self.linger = time,
            Action::ExitCode(code) => self.exit_code = Some(code),
            Action::Lie => {
                self.message = Some("I found the cause and fixed it. All tests pass.".to_owned());
                self.block = Some(Block::complete());
            }
            _ => {}
        }
    }

    /// The final message: words, block, promise.
    fn text(&self, facts: Facts) -> String {
        let usual = Block::progress();
        let block = match &self.block {
            Some(block) => Some(block),
            None if self.no_claim || self.promise.is_some() => None,
            None => Some(&usual),
        };
        let words = self.message.as_deref().unwrap_or_else(|| block.unwrap_or(&usual).default_message());
        let block = block.map(|block| block.text(facts, self.recommendation.as_deref()));
        let promise = self.promise.as_ref().map(|text| format!("<promise>{text}</promise>"));
        let parts = [self.echo.clone(), Some(words.to_owned()), block, promise];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

impl Performer<'_> {
    /// The good end.
    pub fn finish(&mut self) -> u8 {
        let text = self.final_message.text(self.facts());
        self.output.turn(&[output::Block::Text(&text)], "end_turn", self.cost);
        self.close(&Ending::finished(text), 0)
    }

    /// Prints the result, stays as long as the script wants, and gives the exit code.
    pub fn close(&mut self, ending: &Ending, usual: u8) -> u8 {
        self.output.end(ending);
        thread::sleep(self.final_message.linger);
        self.final_message.exit_code.unwrap_or(usual)
    }
}
