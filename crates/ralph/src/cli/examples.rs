//! What every command's `--help` starts with.

pub const RALPH: &str = "\
Examples:
  ralph demo                      see the whole loop in seconds, no key needed
  ralph init                      get this repository ready; writes ralph.toml and PROMPT.md
  ralph run \"Make the tests pass\" --verify 'cargo test' \\
            --max-iterations 10 --max-cost 5
  ralph explain                   why the newest run of this workspace stopped
  ralph resume                    go on with it";

pub const INIT: &str = "\
Examples:
  ralph init                                  look, ask, write ralph.toml and PROMPT.md
  ralph init --yes \"Make the tests pass\"      ask nothing, with the task
  ralph init --dry-run                        only show what would be written";

pub const RUN: &str = "\
Examples:
  ralph run \"Make the tests pass\" --verify 'cargo test' --max-iterations 10 --max-cost 5
  ralph run --detach              goes to the background, prints the id; task and limits from files
  ralph run --agent command --max-iterations 5 --max-cost 2 -- ./my-agent --flag";

pub const DEMO: &str = "\
Examples:
  ralph demo              the whole loop in a few seconds
  ralph demo --keep       keep the repository, to look around in it";

pub const RESUME: &str = "\
Examples:
  ralph resume                        go on with the newest run of this workspace
  ralph resume --max-iterations 20    with a higher limit";

pub const LIST: &str = "\
Examples:
  ralph list                  the runs of this workspace
  ralph list --all --json     every run, for scripts";

pub const STATUS: &str = "\
Examples:
  ralph status                the newest run of this workspace
  ralph status 7ebeed4a       the run whose id ends so";

pub const LOGS: &str = "\
Examples:
  ralph logs                  what the agent of the newest run here said and did
  ralph logs -f               and go on as it does, from any terminal
  ralph logs -i 3 --tools     its third iteration, with what its tools were given and gave
  ralph logs -i 3 --diff      what that iteration changed
  ralph logs --raw > all.jsonl";

pub const EXPLAIN: &str = "\
Examples:
  ralph explain               why the newest run of this workspace stopped, and all before
  ralph explain --prompt 3    what the agent was told in iteration 3
  ralph explain --json        its records, for scripts";

pub const REPLAY: &str = "\
Examples:
  ralph replay                decide the newest run of this workspace again
  ralph replay --strict       fail, too, where newer rules decide otherwise";

pub const STOP: &str = "\
Examples:
  ralph stop                  end the agent of the newest run of this workspace now
  ralph stop --after          let its iteration finish";

pub const QUARANTINE: &str = "\
Examples:
  ralph quarantine                          what was found at protected paths, oldest first
  ralph quarantine show                     the newest case in full
  ralph quarantine restore 1a2b3c4d/001.1   put that content back after all; shows what it will do and asks";

pub const QUARANTINE_LIST: &str = "\
Examples:
  ralph quarantine list         the cases of this workspace, oldest first
  ralph quarantine list --all   of every workspace";

pub const QUARANTINE_SHOW: &str = "\
Examples:
  ralph quarantine show                     the newest case: paths, what was done to them, where they are kept
  ralph quarantine show 1a2b3c4d/001.1      that one";

pub const QUARANTINE_RESTORE: &str = "\
Examples:
  ralph quarantine restore 1a2b3c4d/001.1 --dry-run       what would be written and replaced
  ralph quarantine restore 1a2b3c4d/001.1 --path .env     only that path; asks first";

pub const PAUSE: &str = "\
Examples:
  ralph pause                 the newest run of this workspace makes no new call
  ralph pause 7ebeed4a        the run whose id ends so";

pub const CONTINUE: &str = "\
Examples:
  ralph continue              the newest run of this workspace goes on, also when it waits
  ralph continue 7ebeed4a     the run whose id ends so";

pub const HINT: &str = "\
Examples:
  ralph hint 'The bug is in src/parse.rs, not in the tests'
  ralph hint 7ebeed4a 'Leave the public API alone'      the run whose id ends so
  ralph hint - < note.txt                               read it from stdin";

pub const REDACT: &str = "\
Examples:
  ralph redact --dry-run      which secrets lie in the files of the newest run of this workspace?
  ralph redact                hide them
  ralph redact --all          in the files of every run";

pub const PRUNE: &str = "\
Examples:
  ralph prune                 older than 90 days, or above 5 GB: shows it, then asks
  ralph prune --keep 30d --max-size 500MB --dry-run
  ralph prune --yes           for scripts";

pub const CIRCUIT: &str = "\
Examples:
  ralph circuit status        may runs start in this workspace?
  ralph circuit reset         they may, once the cause is mended";

pub const ANALYZE: &str = "\
Examples:
  claude -p 'Fix it' --output-format json | ralph analyze
  ralph analyze answer.txt --promise DONE
  ralph analyze 3.json --history 1.json 2.json      is it stuck?";

pub const BLOCK: &str = "\
Examples:
  ralph block check answer.txt                      each broken rule with its line; exit 65 if there is one
  ralph block check answer.txt --tests failing      beside what is known to be so
  ralph block emit --tasks 1 --remaining 0 --files 3 --tests passing \\
                   --work-type implementation --recommendation 'All tasks complete'";

pub const AGENT_SIM: &str = "\
Examples:
  ralph agent-sim --help      its language
  ralph run Try --agent sim --max-iterations 3 --max-cost 1 -- --do 'write a hi; claim complete'";

pub const AGENTS: &str = "\
Examples:
  ralph agents                what is installed, and what each can report
  ralph agents --json         the same for scripts";

pub const UNDO: &str = "\
Examples:
  ralph undo                  put everything back as it was before the newest run here
  ralph undo --to 3           as it was after its third iteration
  ralph undo --dry-run        only show what that would do";

pub const VERIFY: &str = "\
Examples:
  ralph verify                            the commands of ralph.toml on the files here, with a receipt
  ralph verify --verify 'cargo test' --json > receipt.json
  ralph verify --branch feature           a branch, in a directory of its own
  ralph verify --check receipt.json       does it still hold?";

pub const CONFIG: &str = "\
Examples:
  ralph config show                       what holds here, and who said so
  ralph config explain run.max_cost_usd   what a key does, what it may hold, what it is now
  ralph config edit                       ralph.toml in your editor, checked afterwards";

pub const DOCTOR: &str = "\
Examples:
  ralph doctor                what is in order here, what is not, and what to do about it
  ralph doctor --full         check every record of the database
  ralph doctor --json         the same for scripts";

pub const COMPLETIONS: &str = "\
Examples:
  source <(ralph completions bash)                          for this shell
  ralph completions fish > ~/.config/fish/completions/ralph.fish";

pub const MAN: &str = "\
Examples:
  ralph man | man -l -                    read ralph's page
  ralph man --dir ~/.local/share/man/man1 write every page";

pub const HELP: &str = "\
Examples:
  ralph help run              the help of a command
  ralph help exit-codes       a topic";
pub const PRICES: &str = "\
Examples:
  ralph prices                     every model that has a price
  ralph prices claude-sonnet-5     one of them, however it is spelt
  ralph prices --json              the same for scripts";

pub const REPORT: &str = "\
Examples:
  ralph report                             today, in this workspace
  ralph report yesterday --all             yesterday, in every workspace
  ralph report --since 2026-02-14 --json   the days since then, for scripts";

pub const STATS: &str = "\
Examples:
  ralph stats                 all runs of this workspace
  ralph stats --all --json    all runs, for scripts";
