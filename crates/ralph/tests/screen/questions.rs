//! `ralph init` at a terminal: its questions, Enter for the default, and the commit it offers.

use super::terminal::Terminal;
use ralph_testkit::Scratch;

#[test]
fn init_asks_where_and_how_and_commits_what_it_wrote() {
    let scratch = Scratch::new();
    // The workspace is a part of this repository.
    let root = scratch.root().to_owned();
    let git = |args: &[&str]| {
        let done = scratch.command("git").args(args).current_dir(&root).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "Somebody"]);
    git(&["config", "user.email", "somebody@example.com"]);
    std::fs::write(root.join("Cargo.toml"), "[package]\nname = \"a\"\n").unwrap();
    git(&["add", "Cargo.toml"]);
    let args = ["init", "Work"].map(str::to_owned);
    let mut terminal = Terminal::ralph(scratch, &args, (80, 24), &[("RALPH_AGENT", "sim")]);
    for (question, answer) in [
        ("or the whole repository", "nowhere\r"),
        ("type . or root", "root\r"),
        ("Maximum iterations [", "7\r"),
        ("Maximum cost in dollars [", "\r"),
        ("Verify command (- for none) [cargo test", "\r"),
        ("Commit ", "y\r"),
    ] {
        terminal.awaits(question);
        terminal.keys(answer);
    }
    assert_eq!(terminal.end(), 0);
    terminal.awaits("ralph run");
    let config = std::fs::read_to_string(root.join("ralph.toml")).unwrap();
    assert!(config.contains("max_iterations = 7\n"), "{config}");
    let git = |args: &[&str]| {
        let done = terminal.scratch.command("git").args(args).current_dir(&root).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let committed = git(&["show", "--format=%s", "--name-only"]);
    assert_eq!(committed, "Set up ralph\n\n.gitignore\nPROMPT.md\nralph.toml\n");
    assert_eq!(git(&["diff", "--cached", "--name-only"]), "Cargo.toml\n", "what was staged stays so");
}
