//! From a project of each stack to a proven run: `init`, then `run` with the scripted agent. Where the stack's tool is
//! installed its real tests prove the work; elsewhere a stand-in on the PATH does that only knows the right arguments.

use super::scene::{Answer, Scene};
use ralph_testkit::Scratch;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A stack: its files, broken; what mends them; what must be verified.
struct Project {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    mend: &'static str,
    verify: &'static [&'static str],
    /// Played by a stand-in: the program and the arguments it takes.
    stand_in: &'static [(&'static str, &'static str)],
}

const STAND_IN_MEND: &str = "write fixed.c yes; claim complete";

const REAL: &[Project] = &[
    Project {
        name: "rust",
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"scratch\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n",
            ),
            (
                "lib.rs",
                "include!(\"answer.rs\");\n#[test]\nfn it_is_so() {\n    assert_eq!(answer(), 42);\n}\n",
            ),
            ("answer.rs", "pub fn answer() -> u32 { 41 }\n"),
            (".gitignore", "target\n"),
        ],
        mend: "write answer.rs pub fn answer() -> u32 { 42 }; claim complete",
        verify: &["cargo test"],
        stand_in: &[],
    },
    Project {
        name: "node",
        files: &[
            ("package.json", "{\"name\": \"scratch\", \"scripts\": {\"test\": \"node --test\"}}\n"),
            ("answer.js", "module.exports = 41;\n"),
            (
                "answer.test.js",
                "const test = require('node:test');\nconst assert = require('node:assert');\ntest('it is so', () => assert.equal(require('./answer.js'), 42));\n",
            ),
        ],
        mend: "write answer.js module.exports = 42; claim complete",
        verify: &["npm test"],
        stand_in: &[],
    },
    Project {
        name: "python",
        files: &[
            ("answer.py", "ANSWER = 41\n"),
            (
                "test_answer.py",
                "import unittest\nimport answer\n\nclass Test(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(answer.ANSWER, 42)\n",
            ),
        ],
        mend: "write answer.py ANSWER = 42; claim complete",
        verify: &["python3 -m unittest discover"],
        stand_in: &[],
    },
    Project {
        name: "make",
        files: &[("Makefile", "test:\n\tgrep -q 42 answer\n"), ("answer", "41\n")],
        mend: "write answer 42; claim complete",
        verify: &["make test"],
        stand_in: &[],
    },
];

const PLAYED: &[Project] = &[
    Project {
        name: "pnpm",
        files: &[
            ("package.json", "{\"packageManager\": \"pnpm@9.0.0\", \"scripts\": {\"test\": \"vitest\"}}"),
            ("pnpm-lock.yaml", ""),
        ],
        mend: STAND_IN_MEND,
        verify: &["pnpm test"],
        stand_in: &[("pnpm", "test")],
    },
    Project {
        name: "uv",
        files: &[
            ("pyproject.toml", "[project]\nname = \"x\"\n[dependency-groups]\ndev = [\"pytest\"]\n"),
            ("uv.lock", ""),
        ],
        mend: STAND_IN_MEND,
        verify: &["uv run pytest"],
        stand_in: &[("uv", "run pytest")],
    },
    Project {
        name: "poetry",
        files: &[(
            "pyproject.toml",
            "[tool.poetry]\nname = \"x\"\n[tool.poetry.group.dev.dependencies]\npytest = \"*\"\n",
        )],
        mend: STAND_IN_MEND,
        verify: &["poetry run pytest"],
        stand_in: &[("poetry", "run pytest")],
    },
    Project {
        name: "go",
        files: &[("go.mod", "module x\n")],
        mend: STAND_IN_MEND,
        verify: &["go test ./..."],
        stand_in: &[("go", "test ./...")],
    },
    Project {
        name: "maven",
        files: &[("pom.xml", "<project/>")],
        mend: STAND_IN_MEND,
        verify: &["mvn -B -q test"],
        stand_in: &[("mvn", "-B -q test")],
    },
    Project {
        name: "gradle",
        files: &[("build.gradle", ""), ("gradlew", "#!/bin/sh\ngrep -q yes fixed.c\n")],
        mend: STAND_IN_MEND,
        verify: &["sh ./gradlew test"],
        stand_in: &[],
    },
    Project {
        name: "dotnet",
        files: &[("App.csproj", "<Project/>")],
        mend: STAND_IN_MEND,
        verify: &["dotnet test"],
        stand_in: &[("dotnet", "test")],
    },
    Project {
        name: "ruby",
        files: &[("Gemfile", "gem 'rspec'\n"), (".rspec", "")],
        mend: STAND_IN_MEND,
        verify: &["bundle exec rspec"],
        stand_in: &[("bundle", "exec rspec")],
    },
    Project {
        name: "php",
        files: &[("composer.json", "{\"scripts\": {\"test\": \"phpunit\"}}")],
        mend: STAND_IN_MEND,
        verify: &["composer run-script test"],
        stand_in: &[("composer", "run-script test")],
    },
    Project {
        name: "just",
        files: &[("justfile", "test:\n  true\n")],
        mend: STAND_IN_MEND,
        verify: &["just test"],
        stand_in: &[("just", "test")],
    },
    Project {
        name: "two in one",
        files: &[
            ("api/go.mod", "module x\n"),
            ("web/package.json", "{\"scripts\": {\"test\": \"x\"}}"),
            ("web/yarn.lock", ""),
        ],
        mend: "write api/fixed.c yes; write web/fixed.c yes; claim complete",
        verify: &["cd api && go test ./...", "cd web && yarn test"],
        stand_in: &[("go", "test ./..."), ("yarn", "test")],
    },
];

/// A workspace with the project's files, and its stand-ins before everything else on the PATH.
fn laid(project: &Project) -> Scene {
    let mut scene = Scene::new();
    scene.scratch = Scratch::git_repo();
    scene.scratch.files(project.files);
    let bin = scene.scratch.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for (program, args) in project.stand_in {
        let body = format!("#!/bin/sh\n[ \"$*\" = '{args}' ] || exit 99\ngrep -q yes fixed.c\n");
        fs::write(bin.join(program), body).unwrap();
        fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let rest = std::env::var("PATH").unwrap();
    scene.set("PATH", &format!("{}:{rest}", bin.display()));
    // Real tools look for their own files in the real home.
    for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT"] {
        if let Ok(value) = std::env::var(name) {
            scene.set(name, &value);
        }
    }
    scene
}

fn from_nothing_to_proven(project: &Project) {
    let scene = laid(project);
    let init = scene.ralph(&["init", "--yes", "Make the tests pass"]);
    assert_eq!(init.code, 0, "{}: {}", project.name, init.err);
    let config: toml::Table = scene.scratch.read("ralph.toml").parse().unwrap();
    let verify: Vec<&str> =
        config["verify"]["commands"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!(verify, project.verify, "{}", project.name);
    let Answer { code, err, .. } = scene.ralph(&["run", "--agent", "sim", "--", "--do", project.mend]);
    assert_eq!(code, 0, "{}: {err}", project.name);
    assert!(err.contains("COMPLETED, proven"), "{}: {err}", project.name);
    assert!(err.contains("failed, exit"), "{} was green before: {err}", project.name);
}

#[test]
fn a_rust_project_is_proven_by_cargo() {
    from_nothing_to_proven(&REAL[0]);
}

#[test]
fn a_node_project_is_proven_by_node() {
    from_nothing_to_proven(&REAL[1]);
}

#[test]
fn a_python_project_is_proven_by_unittest() {
    from_nothing_to_proven(&REAL[2]);
}

#[test]
fn a_make_project_is_proven_by_make() {
    from_nothing_to_proven(&REAL[3]);
}

#[test]
fn every_other_stack_is_proven_by_its_command() {
    for project in PLAYED {
        from_nothing_to_proven(project);
    }
}
