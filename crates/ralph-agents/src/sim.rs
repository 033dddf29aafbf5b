//! The scripted agent that ships with ralph (`ralph agent-sim`): it prints Claude's format, so Claude's reader
//! reads it. For demos and tests; it costs nothing and needs no key.

use crate::claude::reader::ClaudeReader;
use crate::events::EventReader;
use crate::seam::{Abilities, Agent, Call, Launch, Reader};
use crate::terms::Terms;

/// The adapter.
pub struct Sim;

impl Agent for Sim {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn can(&self) -> Abilities {
        Abilities { live_usage: true, cost: true, shows_tool_start: true, ..Abilities::default() }
    }

    fn launch(&self, call: &Call) -> Launch {
        let mut args = vec!["agent-sim".to_owned()];
        args.extend(call.args.iter().cloned());
        let program = call.program.clone().unwrap_or_else(|| "ralph".to_owned());
        Launch { program, args, ..Launch::default() }
    }

    fn reader(&self, call: &Call) -> Box<dyn Reader> {
        Box::new(EventReader::<ClaudeReader>::new(&call.prompt, false).on(Terms::of(call, &[])))
    }

    fn offline_reader(&self) -> Box<dyn Reader> {
        EventReader::<ClaudeReader>::offline_reader()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_started_from_ralph_itself() {
        let call = Call { program: Some("/bin/ralph".into()), args: vec!["--lie".into()], ..Call::default() };
        let launch = Sim.launch(&call);
        assert_eq!(
            (launch.program.as_str(), launch.args),
            ("/bin/ralph", vec!["agent-sim".into(), "--lie".into()])
        );
    }
}
