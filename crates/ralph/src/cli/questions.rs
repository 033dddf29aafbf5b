//! Questions to a person at a terminal: one line each, Enter accepts the default.

use std::io::{self, BufRead, IsTerminal, Write};

/// Whether stdin and stderr are terminals, so that a person can answer.
pub fn at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Where questions are asked and answers come from.
pub struct Questions<R, W> {
    from: R,
    to: W,
    /// Nobody answers any more.
    gone: bool,
}

impl<R: BufRead, W: Write> Questions<R, W> {
    /// Asks on `to`, listens on `from`.
    pub fn new(from: R, to: W) -> Questions<R, W> {
        Questions { from, to, gone: false }
    }

    /// The answer, read by `read`; what cannot be read is said and asked again. Enter, or an end of input, is `offered`.
    pub fn ask<T>(
        &mut self,
        what: &str,
        offered: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> io::Result<Option<T>> {
        while !self.gone {
            write!(self.to, "{what} [{offered}]: ")?;
            self.to.flush()?;
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                self.gone = true;
                writeln!(self.to)?;
                break;
            }
            let answer = line.trim();
            if answer.is_empty() {
                return Ok(None);
            }
            match read(answer) {
                Ok(value) => return Ok(Some(value)),
                Err(why) => writeln!(self.to, "  {why}")?,
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_takes_the_offer_and_nonsense_is_asked_again() {
        let mut said = Vec::new();
        let mut questions = Questions::new("\nmany\n7\n".as_bytes(), &mut said);
        let number = |text: &str| text.parse::<u32>().map_err(|_| "write a number".to_string());
        assert_eq!(questions.ask("First", "5", number).unwrap(), None);
        assert_eq!(questions.ask("Second", "5", number).unwrap(), Some(7));
        assert_eq!(questions.ask("Third", "5", number).unwrap(), None);
        let text = String::from_utf8(said).unwrap();
        assert_eq!(text, "First [5]: Second [5]:   write a number\nSecond [5]: Third [5]: \n");
    }
}
