//! What to say of a program that a verify command needs and that cannot be run: what is wrong, and how to fix it.

use crate::record::{Absence, MissingProgram};

/// What provides a program, where its name does not say it.
const INSTALL: &[(&[&str], &str)] = &[
    (&["npm", "npx", "node"], "install Node.js"),
    (&["pnpm", "yarn"], "install it with `corepack enable`, or with npm"),
    (&["cargo", "rustc"], "install Rust with rustup"),
    (&["go"], "install Go"),
    (&["python", "python3"], "install Python 3"),
    (
        &["pytest", "tox", "nox", "ruff", "mypy"],
        "install it with pip, or activate the environment that has it",
    ),
    (&["make", "gcc", "cc", "g++", "c++", "cmake", "ctest"], "install your system's build tools"),
    (&["bundle", "rake", "rspec", "ruby"], "install Ruby, then run `bundle install`"),
    (&["mvn"], "install Maven"),
    (&["gradle"], "install Gradle, or use the project's ./gradlew"),
    (&["dotnet"], "install the .NET SDK"),
    (&["composer", "php"], "install PHP and Composer"),
    (&["mix", "elixir"], "install Elixir"),
];

impl MissingProgram {
    /// What is wrong, and what to install or change.
    pub fn words(&self) -> String {
        format!("{}; {}", self.what_is_wrong(), self.remedy())
    }

    /// What is wrong.
    pub fn what_is_wrong(&self) -> String {
        let program = &self.program;
        match self.why {
            Absence::NotFound if program.contains('/') => format!("there is no file `{program}`"),
            Absence::NotFound => format!("`{program}` is not installed or not on the PATH"),
            Absence::NotExecutable => format!("`{program}` is not executable"),
            Absence::NoModule => format!("Python has no module `{program}`"),
            Absence::NoSubcommand => format!("cargo has no command `{program}`"),
            Absence::Started => format!("a program that `{program}` starts is missing or not executable"),
        }
    }

    /// What to install or change.
    pub fn remedy(&self) -> String {
        let program = &self.program;
        match self.why {
            Absence::NotFound if program.contains('/') => "correct its path, or create it".into(),
            Absence::NotFound => self.install().into(),
            Absence::NotExecutable => format!("run chmod +x {program}"),
            Absence::NoModule => "install it with pip, or activate the environment that has it".into(),
            Absence::NoSubcommand => format!("install it: cargo install cargo-{program}"),
            Absence::Started => "install what it needs, or correct the command".into(),
        }
    }

    fn install(&self) -> &'static str {
        let known = INSTALL.iter().find(|(names, _)| names.contains(&self.program.as_str()));
        known.map_or("install it, or correct the command", |(_, how)| how)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_name_the_program_and_what_to_do() {
        for (program, why, words) in [
            ("npm", Absence::NotFound, "`npm` is not installed or not on the PATH; install Node.js"),
            ("carg", Absence::NotFound, "not on the PATH; install it, or correct the command"),
            ("./test.sh", Absence::NotFound, "there is no file `./test.sh`"),
            ("./test.sh", Absence::NotExecutable, "is not executable; run chmod +x ./test.sh"),
            ("pytest", Absence::NoModule, "Python has no module `pytest`"),
            ("npm", Absence::Started, "a program that `npm` starts is missing"),
            ("nextest", Absence::NoSubcommand, "cargo install cargo-nextest"),
        ] {
            let said = MissingProgram { program: program.into(), why }.words();
            assert!(said.contains(words), "{said}");
        }
    }
}
