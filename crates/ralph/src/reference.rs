//! docs/reference/, made from the code: commands from the command line, keys from their table, codes from theirs. Written
//! anew with `RALPH_BLESS=1`; a test fails where a page is not what the code says.

use crate::cli;
use crate::config::keys::{KEYS, Key, Who};
use crate::config::{about, effective};
use crate::env::VARIABLES;
use crate::fresh;
use std::fmt::Write;

const HEAD: &str = "<!-- Made from the code by `RALPH_BLESS=1 cargo test -p ralph reference`; changes here are lost. -->\n\n";

fn page(name: &str, text: &str) {
    let path = format!("{}/../../docs/reference/{name}.md", env!("CARGO_MANIFEST_DIR"));
    fresh::compare(&path, &format!("{HEAD}{}\n", text.trim_end()));
}

#[test]
fn the_reference_of_commands_is_fresh() {
    let mut text = "# Commands\n\nEvery command also has `--help`, which is this.\n".to_string();
    for (name, help) in cli::helps() {
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    }
    page("commands", &text);
}

#[test]
fn the_reference_of_the_configuration_is_fresh() {
    let mut text =
        "# Configuration\n\n`ralph config explain KEY` tells the same, with what holds where you are.\n\n"
            .to_string();
    let _ = writeln!(text, "```text\n{}```", include_str!("cli/topics/config.txt"));
    let mut section = "?";
    for key in KEYS {
        if key.parts().0 != section {
            section = key.parts().0;
            text.push_str(&head(section));
        }
        let _ = writeln!(text, "{}", row(key));
    }
    let _ = write!(
        text,
        "\n## Variables\n\nEach stands above every file and below the flag.\n\n| variable | |\n|---|---|\n"
    );
    for (name, what) in VARIABLES {
        let _ = writeln!(text, "| `{name}` | {what} |");
    }
    page("config", &text);
}

fn head(section: &str) -> String {
    let about = about(section.trim_end_matches(".*"));
    let title = match section {
        "" => "At the top".to_string(),
        "ladder" => "`[[ladder]]`".to_string(),
        _ => format!("`[{}]`", section.replace(".*", ".NAME")),
    };
    format!("\n## {title}\n\n{about}\n\n| key | holds | default | |\n|---|---|---|---|\n")
}

fn row(key: &Key) -> String {
    let default = effective::default(key).map_or("–".to_string(), |value| format!("`{value}`"));
    let who = match key.who {
        Who::Own => " Only in your own or the system's file.",
        Who::Tightens => " A project may only make it stricter.",
        _ => "",
    };
    let flag = if key.flag.is_empty() { String::new() } else { format!(" Flag `{}`.", key.flag) };
    let holds = key.holds().replace('|', "\\|");
    format!("| `{}` | {holds} | {default} | {}{who}{flag} |", key.parts().1, key.doc.replace('|', "\\|"))
}

#[test]
fn the_reference_of_exit_codes_is_fresh() {
    let mut text = "# Exit codes\n\n| code | | |\n|---|---|---|\n".to_string();
    for (code, word, meaning) in cli::EXIT_CODES {
        let _ = writeln!(text, "| {code} | {word} | {meaning} |");
    }
    text.push_str(
        "\nA name in capitals is the `reason` of the result. `ralph doctor` ends with 0 unless a run could not start here: \
         then with the code that the run would have (78 config, 69 agent, 74 disk or database).\n",
    );
    page("exit-codes", &text);
}
