//! Build files in languages of their own (Gradle, Maven, CMake, Meson): the lines that speak of tests. Where they
//! differ the whole file is put back.

const WORDS: [&str; 6] = ["test", "skip", "surefire", "failsafe", "ignorefailures", "exclude"];

/// The lines that speak of tests, without their indentation.
pub fn part(text: &str) -> Vec<&str> {
    let speaks = |line: &&str| {
        let low = line.to_ascii_lowercase();
        WORDS.iter().any(|word| low.contains(word))
    };
    text.lines().map(str::trim).filter(speaks).collect()
}
