//! Weather and sleep by plan instead of by chance: for the week that `week.rs` plays.

use ralph_rules::failure::Class;
use ralph_rules::record::Ms;
use std::collections::VecDeque;

/// A stretch in which every call fails alike.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    pub from: Ms,
    pub until: Ms,
    pub class: Class,
    /// The provider names its end.
    pub named: bool,
}

/// A call that really began, and how it ended.
#[derive(Clone, Debug)]
pub struct Began {
    pub run: String,
    pub at: Ms,
    pub ended: Option<Ms>,
    pub failed: bool,
}

/// What happens when.
#[derive(Debug, Default)]
pub struct Planned {
    pub storms: Vec<Storm>,
    /// When the lid is closed, and for how long; earliest first.
    pub sleeps: VecDeque<(Ms, Ms)>,
    /// Every call of both runs.
    pub calls: Vec<Began>,
}

impl Planned {
    /// The storm of this moment.
    pub fn storm(&self, wall: Ms) -> Option<&Storm> {
        self.storms.iter().find(|storm| (storm.from..storm.until).contains(&wall))
    }

    pub fn weather(&self, wall: Ms) -> Option<(Class, Option<Ms>)> {
        self.storm(wall).map(|storm| (storm.class, storm.named.then_some(storm.until)))
    }

    /// For how long the machine falls asleep now.
    pub fn falls_asleep(&mut self, wall: Ms) -> Option<Ms> {
        let (_, long) = self.sleeps.pop_front_if(|(at, _)| *at <= wall)?;
        Some(long)
    }

    pub fn began(&mut self, run: &str, at: Ms) {
        self.calls.push(Began { run: run.into(), at, ended: None, failed: false });
    }

    pub fn ended(&mut self, run: &str, at: Ms, failed: bool) {
        if let Some(call) = self.calls.iter_mut().rfind(|call| call.run == run && call.ended.is_none()) {
            (call.ended, call.failed) = (Some(at), failed);
        }
    }
}
