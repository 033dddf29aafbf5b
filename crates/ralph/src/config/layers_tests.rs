//! What the layers come to, file by file.

use super::*;

/// A workspace and a config home with these files; `~` stands for the config home.
fn layers(files: &[(&str, &str)]) -> Result<Layers, Problem> {
    let dir = tempfile::tempdir().unwrap();
    let (workspace, home) = (dir.path().join("workspace"), dir.path().join("config"));
    for (name, text) in files {
        let path = match name.strip_prefix("~/") {
            Some(name) => home.join("ralph").join(name),
            None => workspace.join(name),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    load(&workspace, Some(&home))
}

#[test]
fn the_nearest_file_wins() {
    let files = [
        (
            "~/config.toml",
            "[run]\nmax_iterations = 2\nmax_cost_usd = 2\ntimeout = \"2m\"\n[agent]\nmodel = \"own\"",
        ),
        ("ralph.toml", "[run]\nmax_iterations = 3\nmax_cost_usd = 3.5\n[verify]\ncommands = [\"a\"]"),
        ("ralph.local.toml", "[run]\nmax_iterations = 4\n[verify]\ncommands = [\"b\", \"c\"]"),
    ];
    let layers = layers(&files).unwrap();
    assert_eq!(layers.limits(), (Some(4), Some(Micro(3_500_000))));
    assert_eq!((layers.verify(), layers.model()), (&["b".to_string(), "c".to_string()][..], Some("own")));
    let mut policy = Policy::strict(4, Micro(1));
    layers.shape(&mut policy);
    assert_eq!(policy.timeout, 120_000);
}

#[test]
fn what_is_set_wins_over_a_preset_wherever_it_is_set() {
    let files = [
        ("~/config.toml", "[breaker]\nopen_after = 2\n[gate]\nindicators = 3"),
        ("ralph.toml", "preset = \"wrapper\"\n[gate]\npromise = \"DONE\"\n[plan]\nfile = \"TODO.md\""),
    ];
    let shaped = |asked| {
        let mut policy = Policy::strict(4, Micro(1));
        let over = layers(&files).unwrap().over(asked).unwrap();
        over.shape(&mut policy);
        (over.preset(), policy)
    };
    let (preset, policy) = shaped(None);
    assert_eq!((preset, policy.breaker.half_open_after, policy.breaker.open_after), (Preset::Wrapper, 5, 2));
    assert_eq!((policy.gate.indicators, policy.gate.explicit_alone), (3, false));
    assert_eq!((policy.gate.promise.as_str(), policy.breaker.saturation), ("DONE", 0));
    let (preset, policy) = shaped(Some(Preset::Classic));
    assert_eq!((preset, policy.breaker.half_open_after, policy.breaker.open_after), (Preset::Classic, 3, 2));
    assert_eq!(layers(&files).unwrap().plan_file(), Some("TODO.md"));
}

#[test]
fn what_is_set_for_one_agent_is_merged_key_by_key() {
    let files = [
        ("~/config.toml", "[agents.claude]\nmodel = \"opus\"\ntimeout = \"5m\""),
        ("ralph.toml", "[agents.claude]\nargs = [\"--x\"]"),
    ];
    let layers = layers(&files).unwrap();
    let claude = layers.agent("claude").unwrap();
    assert_eq!((claude.model.as_deref(), claude.timeout.map(|t| t.0)), (Some("opus"), Some(300_000)));
    assert_eq!(claude.args.as_deref(), Some(&["--x".to_string()][..]));
}

#[test]
fn protected_paths_of_all_files_add_up() {
    let files =
        [("~/config.toml", "[protect]\npaths = [\"a\"]"), ("ralph.toml", "[protect]\npaths = [\"b\"]")];
    assert_eq!(layers(&files).unwrap().protect(), ["a", "b"]);
}

#[test]
fn what_is_above_a_ceiling_is_lowered_and_said() {
    let mut policy = Policy::strict(300, Micro(30_000_000));
    let said = layers(&[("~/config.toml", "[ceilings]\nmax_iterations = 7")]).unwrap().cap(&mut policy);
    assert_eq!((policy.max_iterations, policy.max_cost), (7, Micro(10_000_000)));
    assert!(said[0].starts_with("max_iterations 300 is above the ceiling of 7 (set by /"), "{said:?}");
    assert!(said[0].ends_with("ralph/config.toml); it is lowered to 7"), "{said:?}");
    assert_eq!(
        said[1],
        "max_cost $30.00 is above the ceiling of $10.00 (ralph's default); it is lowered to $10.00"
    );
    let raised =
        layers(&[("~/config.toml", "[ceilings]\nmax_iterations = 500\ndaily_cost_usd = 1")]).unwrap();
    let mut policy = Policy::strict(300, Micro(1));
    assert!(raised.cap(&mut policy).is_empty());
    assert_eq!((policy.max_iterations, policy.daily_cost), (300, Micro(1_000_000)));
}

#[test]
fn the_users_prices_stand_over_the_table() {
    let files = [("~/config.toml", "[prices.\"gpt-5\"]\ninput = 2\noutput = 20.5\ncache_write = 0")];
    let prices = layers(&files).unwrap().prices();
    let row = prices.find("openai/gpt-5").unwrap();
    assert_eq!((row.price.input, row.price.output), (2_000_000, 20_500_000));
    assert_eq!((row.price.cache_read, row.price.cache_write), (2_000_000, 0));
    assert!(row.source.ends_with("config.toml") && row.as_of.is_none());
}

#[test]
fn a_project_may_end_what_the_user_lets_go_on() {
    let own = ("~/config.toml", "[protect]\non_violation = \"restore\"");
    let stricter = ("ralph.toml", "[protect]\non_violation = \"abort\"");
    for (files, wanted) in [(&[own][..], OnViolation::Restore), (&[own, stricter][..], OnViolation::Abort)] {
        let mut policy = Policy::strict(1, Micro(1));
        layers(files).unwrap().shape(&mut policy);
        assert_eq!(policy.on_violation, wanted);
    }
}

#[test]
fn a_project_may_only_tighten_what_changed_tests_lead_to() {
    use ralph_rules::policy::Oracle::{Flag, Guard};
    for (own, project, expected, warned) in [
        ("", "", Guard, false),
        ("flag", "", Flag, false),
        ("allow", "flag", Flag, false),
        ("allow", "guard", Guard, false),
        ("", "allow", Guard, true),
        ("flag", "allow", Flag, true),
    ] {
        let text = |word: &str| match word {
            "" => String::new(),
            word => format!("[verify]\noracle = \"{word}\""),
        };
        let mut policy = Policy::strict(1, Micro(1));
        let files = [("~/config.toml", text(own)), ("ralph.toml", text(project))];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let said = layers(&files).unwrap().cap(&mut policy);
        assert_eq!((policy.oracle, !said.is_empty()), (expected, warned), "{own} {project}: {said:?}");
    }
}

#[test]
fn a_project_may_only_tighten() {
    for text in [
        "[ceilings]\nmax_iterations = 100",
        "[ceilings]\ndaily_cost_usd = 1",
        "[protect]\npaths = [\"!.env\"]",
        "[protect]\non_violation = \"restore\"",
        "[prices.sonnet]\ninput = 1\noutput = 1",
    ] {
        assert!(layers(&[("ralph.toml", text)]).is_err(), "{text}");
        assert!(layers(&[("ralph.local.toml", text)]).is_err(), "{text}");
        assert!(layers(&[("~/config.toml", text)]).is_ok(), "{text}");
    }
}
