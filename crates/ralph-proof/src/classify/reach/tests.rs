//! What commands reach, as data: the files of one small workspace, and a command in each row.

use super::*;
use crate::files::{FileFacts, Kind};

/// Files of the baseline, with their contents.
const FILES: &[(&str, &str)] = &[
    (
        "check.sh",
        "#!/bin/sh\nset -e\n# sh commented.sh\n./lib/check_more.sh\n. lib/common.sh\npython3 app.py | sort\nsh helper.sh\n",
    ),
    ("lib/check_more.sh", "diff out.txt lib/expected.txt\n"),
    ("lib/common.sh", "fail() { echo \"$1\"; exit 1; }\n"),
    ("lib/expected.txt", ""),
    ("helper.sh", ""),
    ("commented.sh", ""),
    ("run.sh", "exit 0\n"),
    ("run.py", "import app\nimport checks_common\nfrom tools import verify\n"),
    ("checks_common.py", ""),
    ("app.py", ""),
    ("main.py", ""),
    ("tools/verify.py", "import common\nimport app\n"),
    ("tools/common.py", ""),
    ("pkg/check.py", ""),
    ("pkg/__init__.py", ""),
    ("mod/__main__.py", ""),
    ("scripts/a.sh", ""),
    ("scripts/b.sh", ""),
    ("run.js", "const a = require('./app.js'); import './js/verify.mjs'\n"),
    ("app.js", ""),
    ("js/verify.mjs", ""),
    ("setup.js", ""),
    ("run.rb", "require_relative 'lib/assertions'\n"),
    ("lib/assertions.rb", ""),
    ("data.txt", ""),
    ("ref.txt", ""),
    ("expected.txt", ""),
    ("patterns.txt", ""),
    ("lint.cfg", ""),
    ("specs.py", ""),
    (
        "package.json",
        "{\"scripts\":{\"test\":\"npm run unit && node run.js\",\"unit\":\"sh run.sh\",\"pretest\":\"sh scripts/a.sh\",\"build\":\"sh scripts/b.sh\"}}",
    ),
    ("web/package.json", "{\"scripts\":{\"test\":\"node go.js\"}}"),
    ("web/go.js", ""),
    ("composer.json", "{\"scripts\":{\"test\":[\"@lint\",\"sh run.sh\"],\"lint\":\"sh scripts/a.sh\"}}"),
    ("deno.json", "{\"tasks\":{\"check\":\"sh run.sh\"}}"),
    ("pyproject.toml", "[tool.poe.tasks]\nunit = \"python run.py\"\n"),
    (
        "Makefile",
        "PY = python\ninclude extra.inc\nall: build\nbuild:\n\tsh scripts/b.sh\ntest: prepare\n\t@$(PY) run.py\n\t$(MAKE) -C sub check\nprepare:\n\tsh scripts/a.sh\n",
    ),
    ("extra.inc", ""),
    ("sub/Makefile", "check:\n\tsh inner.sh\n"),
    ("sub/inner.sh", ""),
    ("other.mk", "go:\n\tsh run.sh\n"),
    ("justfile", "test:\n    sh run.sh\n"),
    ("Taskfile.yml", "tasks:\n  test:\n    cmds:\n      - sh run.sh\n"),
    ("tox.ini", "[testenv]\ncommands =\n    python run.py\n"),
    ("cmd/verify/main.go", ""),
    ("src/bin/checker.rs", ""),
    ("xtask/src/main.rs", ""),
    ("checks/one.py", ""),
];

fn reached(command: &str) -> Reach {
    let facts = FILES.iter().zip(1..).map(|((path, _), hash)| {
        (path.as_bytes().to_vec(), FileFacts { kind: Kind::File, executable: false, hash })
    });
    let read = |path: &[u8]| {
        FILES.iter().find(|(name, _)| name.as_bytes() == path).map(|(_, text)| text.as_bytes().to_vec())
    };
    let files = Files::new(facts, Box::new(read));
    Reach::new(&files, &files, &Links::default(), &[command.to_owned()])
}

/// `path` for the oracle, `?path` for what may be either, `=path` for what is examined, `path/` for a directory.
fn shown(reach: &Reach) -> String {
    let mark = |reached: &Reached| match reached.standing {
        Standing::Oracle => "",
        Standing::Ambiguous => "?",
        Standing::Examined => "=",
    };
    let files = reach.files.iter().map(|(path, reached)| format!("{}{}", mark(reached), paths::shown(path)));
    let directories =
        reach.directories.iter().map(|(path, reached)| format!("{}{}/", mark(reached), paths::shown(path)));
    files.chain(directories).collect::<Vec<_>>().join(" ")
}

const CHECK: &str = "check.sh ?helper.sh lib/check_more.sh ?lib/common.sh lib/expected.txt";

#[test]
fn what_commands_reach() {
    let mut wrong = Vec::new();
    let rows = include_str!("tests/commands.tsv").lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<&str> = rows.collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    for row in rows {
        let (command, wanted) = row.split_once('\t').unwrap();
        let wanted = wanted.replace("CHECK", CHECK);
        let found = shown(&reached(&command.replace('⏎', "\n")));
        if found != wanted {
            wrong.push(format!("{command}\n    reaches {found}\n    not     {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_commands_run() {
    for command in
        ["pytest", "python -m unittest", "npx jest", "make test", "uv run pytest", "sh -c 'cargo test'"]
    {
        let runs = reached(command).runs_tests;
        assert_eq!(runs, command != "make test", "{command}");
    }
    assert!(reached("make test").targets.contains("test"));
    assert!(reached("python -m doctest app.py").doctests && reached("pytest --doctest-modules").doctests);
    assert!(!reached("pytest").doctests);
    assert!(reached("PYTHONPATH=tools:x python app.py").python_path.contains(&b"tools"[..]));
}

#[test]
fn scripts_that_run_each_other_end() {
    let many = "sh check.sh; ".repeat(10_000);
    assert!(shown(&reached(&many)).contains("check.sh"));
    let _ = reached(&"sh -c \"".repeat(1_000));
    let _ = reached(&"sh *.sh */*.sh; ".repeat(1_000));
    let _ = reached(&"cd a; ".repeat(5_000));
}
