//! What became of an attack, and whether that is right.

use crate::attack::{Attack, Who};
use std::fs;
use std::path::Path;

/// What was seen of it.
#[derive(Default)]
pub struct Outcome {
    /// What it did to the world.
    pub damage: Vec<String>,
    /// Whoever played it said that it was over.
    over: bool,
    ran: bool,
    done: bool,
    absent: bool,
    broken: String,
    steps: String,
    refused: String,
    /// What it printed.
    pub said: String,
}

impl Outcome {
    /// From the evidence that it left in its directory.
    pub fn read(dir: &Path, over: bool) -> Outcome {
        let text = |name: &str| {
            let bytes = fs::read(dir.join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Outcome {
            damage: text("did").lines().map(str::to_string).collect(),
            over,
            ran: dir.join("ran").exists(),
            done: dir.join("done").exists(),
            absent: dir.join("absent").exists(),
            broken: text("broken"),
            steps: text("steps"),
            refused: text("refused"),
            said: text("said"),
        }
    }

    /// The world is as it was, so that another attack can be played in it.
    pub fn left_all_as_it_was(&self) -> bool {
        self.over && self.damage.is_empty()
    }

    /// The sandbox must hold it, and it must really have been tried.
    pub fn was_held(&self, attack: &Attack, who: Who) -> Result<(), String> {
        if !self.ran {
            return Err(format!("it did not run: {}", self.said));
        }
        if !self.damage.is_empty() {
            return Err(format!("NOT HELD: {}", self.damage.join("; ")));
        }
        if !self.broken.is_empty() {
            return Err(format!("the attack itself failed: {}", self.broken));
        }
        let ended = self.done && self.over;
        if !ended && !attack.ends_itself {
            return Err(format!("it did not come to its end: {}", self.said));
        }
        if who == Who::User && !self.steps.contains(attack.reaches) {
            return Err(format!("it did not come as far as `{}`: {}", attack.reaches, self.refused));
        }
        Ok(())
    }

    /// It must do damage where nothing holds it.
    pub fn worked(&self) -> Result<(), String> {
        if !self.broken.is_empty() {
            return Err(format!("the attack itself failed: {}", self.broken));
        }
        if self.damage.is_empty() && !self.absent {
            return Err(format!("does nothing without a sandbox: {} {}", self.refused, self.said));
        }
        Ok(())
    }
}
