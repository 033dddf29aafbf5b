//! Gemini: how it is started and how its output reads.

use crate::dialect::{Dialect, Ended, Heed};
use crate::events::EventReader;
use crate::output::aborted;
use crate::seam::{Abilities, Agent, Call, Heard, Launch, Reader, Reply};

/// The adapter.
pub struct Gemini;

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn can(&self) -> Abilities {
        Abilities::default()
    }

    fn launch(&self, call: &Call) -> Launch {
        let program = call.program.clone().unwrap_or_else(|| "gemini".to_owned());
        Launch { program, args: call.args.clone(), ..Launch::default() }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(EventReader::<Hearing>::new(&call.prompt, false))
    }

    fn analyst(&self) -> Box<dyn Reader> {
        EventReader::<Hearing>::analyst()
    }
}

/// What was heard so far.
#[derive(Debug, Default)]
pub struct Hearing;

impl Dialect for Hearing {
    fn object(&mut self, _text: &str, _out: &mut Vec<Heard>) -> Heed {
        Heed::Unheard
    }

    fn reply(self, ended: &Ended<'_>) -> Reply {
        Reply { failure: Some(aborted(ended.exit)), ..Reply::default() }
    }
}
