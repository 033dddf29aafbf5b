//! The examples at the top of every command's `--help`, and in its man page.

pub const RALPH: &str = "\
Examples:
  ralph demo                  watch a complete run in seconds (no key needed)
  ralph init                  set up this repository: ralph.toml and PROMPT.md
  ralph run                   run the agent until the verify command passes
  ralph explain               show why the latest run here stopped
  ralph resume                resume it

  ralph run \"Make the tests pass\" --verify 'cargo test' --max-iterations 10 --max-cost 5";

pub const INIT: &str = "\
Examples:
  ralph init                                 detect, ask, write ralph.toml and PROMPT.md
  ralph init --yes \"Make the tests pass\"     do not ask; use this task
  ralph init --verify 'cargo test' \"…\"       nothing to detect yet: say what decides
  ralph init --dry-run                       show the files without writing them";

pub const RUN: &str = "\
Examples:
  ralph run                   use the task in PROMPT.md and the settings in ralph.toml
  ralph run \"Make the tests pass\" --verify 'cargo test' --max-iterations 10 --max-cost 5
  ralph run --watch           run in the background and watch it; leaving does not stop it
  ralph run --detach          run in the background and print the run id
  ralph run --agent command --max-iterations 5 --max-cost 2 -- ./my-agent --flag";

pub const ADVISE: &str = "\
Examples:
  ralph advise \"Fix the off-by-one in src/list.rs\"   loop, once or person, and why
  ralph advise                                       the task in PROMPT.md
  ralph advise --check                               run the verify commands, too: red or green?
  ralph run --auto                                   run, and let the advice decide how";

pub const PLAN: &str = "\
Examples:
  ralph plan list                      what is done, what is next, what waits for what
  ralph plan check prd.json            find mistakes: unknown dependencies, cycles, ids used twice
  ralph plan import fix_plan.md        write prd.json from Markdown; --gh reads the issues on GitHub
  ralph run --plan prd.json --stories  take the plan story by story";

pub const DEMO: &str = "\
Examples:
  ralph demo                  watch a complete run in a few seconds
  ralph demo --keep           keep the repository to look at it afterwards";

pub const RESUME: &str = "\
Examples:
  ralph resume                        resume the latest run here
  ralph resume --max-iterations 20    with a higher limit
  ralph resume --hint 'Use port 80'   answer a run that ended with BLOCKED or STALL
  ralph resume --detach               in the background (`ralph attach` shows it)";

pub const ACCEPT: &str = "\
Examples:
  ralph accept                commit what the latest run here changed, and nothing else
  ralph accept --no-commit    only complete a run that was left for review
  ralph diff                  see the change first";

pub const REJECT: &str = "\
Examples:
  ralph reject                take back what the latest run here changed, and keep it in the quarantine
  ralph reject --dry-run      show what would be restored
  ralph quarantine show       look at the rejected work later";

pub const DIFF: &str = "\
Examples:
  ralph diff                  what the latest run here changed, also without git
  ralph diff --stat           how many lines in each file
  ralph diff 7ebeed4a --json  the change of one run, for scripts";

pub const LIST: &str = "\
Examples:
  ralph list                  runs in this workspace
  ralph list --all --json     runs in all workspaces, for scripts";

pub const STATUS: &str = "\
Examples:
  ralph status                the latest run here
  ralph status 7ebeed4a       the run whose id ends with 7ebeed4a";

pub const LOGS: &str = "\
Examples:
  ralph logs                  what the agent said and did in the latest run here
  ralph logs -f               follow a run that is active, from any terminal
  ralph logs -i 3 --tools     iteration 3, with tool arguments and results
  ralph logs -i 3 --diff      what iteration 3 changed
  ralph logs --raw > all.jsonl";

pub const WATCH: &str = "\
Examples:
  ralph watch                 all runs of yours, and the one that matters most in depth
  ralph watch 7ebeed4a        the run whose id ends with 7ebeed4a
  ralph run --watch           start a run in the background and watch it";

pub const ATTACH: &str = "\
Examples:
  ralph run --detach          start a run in the background
  ralph attach                show its panel, with the same keys; q leaves
  ralph attach 7ebeed4a       the panel of the run whose id ends with 7ebeed4a";

pub const SERVE: &str = "\
Examples:
  ralph serve --open               all runs on a page in the browser
  ralph serve --allow-control      the page can also pause, stop and hint
  ralph serve --listen [::1]:0     another address; the system picks the port";

pub const EXPLAIN: &str = "\
Examples:
  ralph explain               every decision of the latest run here, and why it stopped
  ralph explain --prompt 3    the prompt of iteration 3
  ralph explain --json        the journal's records, for scripts";

pub const REPLAY: &str = "\
Examples:
  ralph replay                replay the latest run here
  ralph replay --strict       also fail if newer rules decide differently";

pub const STOP: &str = "\
Examples:
  ralph stop                  stop the latest run here now
  ralph stop --after          let the current iteration finish first";

pub const QUARANTINE: &str = "\
Examples:
  ralph quarantine                          list the cases in this workspace
  ralph quarantine show                     show the latest case
  ralph quarantine restore 1a2b3c4d/001.1   put its content back (shows the changes and asks first)";

pub const QUARANTINE_LIST: &str = "\
Examples:
  ralph quarantine list         cases in this workspace, oldest first
  ralph quarantine list --all   cases in all workspaces";

pub const QUARANTINE_SHOW: &str = "\
Examples:
  ralph quarantine show                     the latest case: paths, changes, saved content
  ralph quarantine show 1a2b3c4d/001.1      a specific case";

pub const QUARANTINE_RESTORE: &str = "\
Examples:
  ralph quarantine restore 1a2b3c4d/001.1 --dry-run       show what would be written and replaced
  ralph quarantine restore 1a2b3c4d/001.1 --path .env     restore one path (asks first)";

pub const PAUSE: &str = "\
Examples:
  ralph pause                 pause the latest run here
  ralph pause 7ebeed4a        pause the run whose id ends with 7ebeed4a";

pub const CONTINUE: &str = "\
Examples:
  ralph continue              continue the latest run here, even if it waits for a limit
  ralph continue 7ebeed4a     continue the run whose id ends with 7ebeed4a";

pub const HINT: &str = "\
Examples:
  ralph hint 'The bug is in src/parse.rs, not in the tests'
  ralph hint 7ebeed4a 'Leave the public API alone'      to the run whose id ends with 7ebeed4a
  ralph hint - < note.txt                               read the hint from stdin";

pub const REDACT: &str = "\
Examples:
  ralph redact --dry-run      list the secrets found in the latest run's files
  ralph redact                redact them
  ralph redact --all          in the files of all runs";

pub const PRUNE: &str = "\
Examples:
  ralph prune                 delete what is older than prune.keep or exceeds 5 GB (asks first)
  ralph prune --keep 30d --max-size 500MB --dry-run
  ralph prune --yes           do not ask";

pub const NOTIFY: &str = "\
Examples:
  ralph notify test           send a test note to every target, and see what each answers
  ralph notify list           targets, and notes that wait or failed
  ralph notify flush          deliver now what is due or waits for another attempt";

pub const CIRCUIT: &str = "\
Examples:
  ralph circuit status        show whether runs can start here, and if not, why
  ralph circuit reset         allow runs again after you fixed the cause
  ralph circuit status --get state               one value, for scripts
  ralph circuit record --files 0 --error 'no such file'     after each loop of your own script";

pub const ANALYZE: &str = "\
Examples:
  claude -p 'Fix it' --output-format json | ralph analyze
  ralph analyze answer.txt --promise DONE
  ralph analyze 3.json --history 1.json 2.json      also detect repetition
  ralph analyze answer.txt --get exit_decision      one value, for scripts without jq";

pub const BLOCK: &str = "\
Examples:
  ralph block check answer.txt                      list violations with line numbers (exit code 65)
  ralph block check answer.txt --tests failing      also compare with the real test result
  ralph block emit --recommendation 'Next: the parser'        measure the work, run the verify commands
  ralph block emit --no-tests --recommendation 'Next: the parser'
  ralph block emit --complete --recommendation 'All tasks complete, the parser reads comments'";

pub const AGENT_SIM: &str = "\
Examples:
  ralph agent-sim --help      its script language
  ralph run Try --agent sim --max-iterations 3 --max-cost 1 -- --do 'write a hi; claim complete'";

pub const AGENTS: &str = "\
Examples:
  ralph agents                what is installed, and what each agent reports
  ralph agents --json         the same, for scripts";

pub const SKILLS: &str = "\
Examples:
  ralph skills list           all skills, and where each comes from
  ralph skills check tdd      what a loop takes from it, or what it lacks
  ralph run --skill tdd \"Add a --json flag\"";

pub const UNDO: &str = "\
Examples:
  ralph undo                  restore the files to their state before the latest run here
  ralph undo --to 3           to their state after iteration 3
  ralph undo --dry-run        show the changes without making them";

pub const VERIFY: &str = "\
Examples:
  ralph verify                            run the verify commands of ralph.toml, print a receipt
  ralph verify --verify 'cargo test' --json > receipt.json
  ralph verify --branch feature           verify a branch in a separate checkout
  ralph verify --map                      also show which parts of the change no check notices
  ralph verify --check receipt.json       check whether a receipt is still valid";

pub const CONFIG: &str = "\
Examples:
  ralph config show                       effective settings and where each comes from
  ralph config explain run.max_cost_usd   a key's meaning, valid values and current value
  ralph config check                      report every mistake in the config files, with its place
  ralph config edit                       open ralph.toml in your editor, then check it";

pub const DOCTOR: &str = "\
Examples:
  ralph doctor                list problems and how to fix them
  ralph doctor --full         also check every record in the database
  ralph doctor --json         the same, for scripts";

pub const COMPLETIONS: &str = "\
Examples:
  source <(ralph completions bash)                                 for this shell session
  ralph completions fish > ~/.config/fish/completions/ralph.fish   permanently";

pub const SHELL_LIB: &str = "\
Examples:
  ralph shell-lib > ralph.sh       then, in a script: . ./ralph.sh
  eval \"$(ralph shell-lib)\"      without a file";

pub const MAN: &str = "\
Examples:
  ralph man | man -l -                       read the page of ralph
  ralph man --dir ~/.local/share/man/man1    install all pages";

pub const HELP: &str = "\
Examples:
  ralph help run              help for a command
  ralph help exit-codes       help on a topic";

pub const PRICES: &str = "\
Examples:
  ralph prices                     all models with a known price
  ralph prices claude-sonnet-5     one model, in any spelling
  ralph prices --json              the same, for scripts";

pub const HOOK: &str = "\
Examples:
  ralph hook install claude   let every session of Claude Code take /ralph:loop (codex: $ralph:loop)
  ralph hook status           whether the hooks run
  ralph hook cancel           stop the run that a session works on here
  ralph run --mode hook \"Make the tests pass\"     a session for one task; installs nothing

In the session: /ralph:loop Add a --json flag --max-iterations 8 --max-cost 5 ($ralph:loop in Codex)";

pub const HOOK_PROMPT: &str = "\
Examples:
  ralph hook prompt < input.json   as a client calls it, with its JSON on stdin";

pub const HOOK_STOP: &str = "\
Examples:
  ralph hook stop < input.json     as a client calls it, with its JSON on stdin";

pub const HOOK_CANCEL: &str = "\
Examples:
  ralph hook cancel                end the run that a session works on here
  ralph hook cancel 1f0f7559       end this one";

pub const REPORT: &str = "\
Examples:
  ralph report                             today, in this workspace
  ralph report yesterday --all             yesterday, in all workspaces
  ralph report --since 2026-02-14 --json   from that day until today, for scripts
  ralph report --html > night.html         today, as one file to open, print or attach
  ralph report --html 7ebeed4a > run.html  one run";

pub const STATS: &str = "\
Examples:
  ralph stats                 all runs in this workspace
  ralph stats --all --json    all runs in all workspaces, for scripts";
