//! Secrets in output: every shape, every form of a known value, nothing else, however the output arrives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::borrow::Cow;

use proptest::prelude::*;
use ralph_engine::redact::{Redactor, secrets_in_env};

/// Key material that is none: put together here so that no scanner takes this file for a leak.
const BODY: &str = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2bC3dE4fG5hJ6kL7mN8pQ9rS0tU1v";

fn redactor() -> Redactor {
    Redactor::new(
        [
            ("DEPLOY_TOKEN", "tango-Foxtrot.77+quebec"),
            ("DB_PASSWORD", "p\"ss/w\\rd\nline&two"),
            ("OVERLAP_A", "abcdefgh1234"),
            ("OVERLAP_B", "1234zzzz9999"),
        ]
        .into_iter(),
    )
}

fn pem(lines: usize, line_break: &str) -> String {
    let body: Vec<&str> = std::iter::repeat_n(BODY, lines).chain(["Ab1=="]).collect();
    let (begin, end) = ("-----BEGIN RSA PRIVATE", "-----END RSA PRIVATE");
    format!("{begin} KEY-----{line_break}{}{line_break}{end} KEY-----", body.join(line_break))
}

#[test]
fn every_shape_is_hidden() {
    let upper = BODY.to_uppercase();
    let shapes: Vec<(String, &str)> = vec![
        (format!("sk-ant-api03-{BODY}-_A"), "[redacted:anthropic-key]"),
        (format!("sk-{}", &BODY[..32]), "[redacted:api-key]"),
        (format!("sk-proj-{BODY}"), "[redacted:api-key]"),
        (format!("sk-or-v1-{BODY}"), "[redacted:api-key]"),
        (format!("ghp_{}", &BODY[..36]), "[redacted:github-token]"),
        (format!("gho_{}", &BODY[..36]), "[redacted:github-token]"),
        (format!("ghu_{}", &BODY[..36]), "[redacted:github-token]"),
        (format!("ghs_{}", &BODY[..36]), "[redacted:github-token]"),
        (format!("ghr_{}", &BODY[..36]), "[redacted:github-token]"),
        (format!("github_pat_{}_{BODY}", &BODY[..22]), "[redacted:github-token]"),
        (format!("glpat-{}", &BODY[..20]), "[redacted:gitlab-token]"),
        (format!("glrt-{}", &BODY[..20]), "[redacted:gitlab-token]"),
        (format!("AKIA{}", &upper[..16]), "[redacted:aws-key]"),
        (format!("ASIA{}", &upper[..16]), "[redacted:aws-key]"),
        (format!("AIza{}", &BODY[..35]), "[redacted:google-key]"),
        (format!("ya29.{BODY}"), "[redacted:google-key]"),
        (format!("GOCSPX-{}", &BODY[..28]), "[redacted:google-key]"),
        (format!("xoxb-123456789012-1234567890123-{}", &BODY[..24]), "[redacted:slack-token]"),
        (format!("xoxp-123456789012-{}", &BODY[..32]), "[redacted:slack-token]"),
        (format!("xoxc-123456789012-{}", &BODY[..32]), "[redacted:slack-token]"),
        (format!("sk_live_{}", &BODY[..24]), "[redacted:stripe-key]"),
        (format!("npm_{}", &BODY[..36]), "[redacted:npm-token]"),
        (format!("pypi-AgEIcHlwaS5vcmc{BODY}"), "[redacted:pypi-token]"),
        (format!("hf_{}", &BODY[..34]), "[redacted:huggingface-token]"),
        (format!("dckr_pat_{}", &BODY[..27]), "[redacted:docker-token]"),
        (format!("gsk_{}", &BODY[..52]), "[redacted:api-key]"),
        (format!("SG.{}.{}", &BODY[..22], &BODY[..43]), "[redacted:sendgrid-key]"),
        (format!("AGE-SECRET-KEY-1{}", &upper[..58]), "[redacted:age-key]"),
        (format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{BODY}.{BODY}-_"), "[redacted:jwt]"),
        (format!("Bearer {BODY}/+="), "Bearer [redacted:bearer]"),
        (format!("Authorization: Basic {}==", &BODY[..22]), "Authorization: Basic [redacted:basic]"),
        (
            format!("https://hooks.slack.com/services/T0/B0/{}", &BODY[..24]),
            "https://hooks.slack.com/services/[redacted:slack-webhook]",
        ),
        (pem(25, "\n"), "-----[redacted:private-key]"),
        (pem(25, "\\n"), "-----[redacted:private-key]"),
        (pem(25, "\\\\n"), "-----[redacted:private-key]"),
        (pem(4, "\r\n     7\u{2192}"), "-----[redacted:private-key]"),
        (pem(4, "\\n\" +\n  \""), "-----[redacted:private-key]"),
    ];
    let redactor = redactor();
    for (secret, hidden) in &shapes {
        for (before, after) in [
            ("", ""),
            ("key=", " end"),
            ("{\"k\":\"", "\"}"),
            ("a\\n", "\\nb"),
            ("\u{1b}[32m", "\u{1b}[0m"),
            ("%3D", "&x"),
        ] {
            let text = format!("{before}{secret}{after}");
            assert_eq!(redactor.redact(&text), format!("{before}{hidden}{after}"), "of {text}");
        }
    }
}

#[test]
fn ordinary_text_is_left_alone() {
    let image = format!("data:image/png;base64,{}", format!("/{BODY}+eyJ").repeat(20));
    let texts = [
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "sk-learn, task-force, disk-usage, risk-averse, sk-estimator-id-12 sk-toggleable__content",
        "task-550e8400-e29b-41d4-a716-446655440000",
        "class=\"sk-folding-cube sk-cube-grid sk-circle12\"",
        "token tokens \"output_tokens\":12345 auth Bearer authentication is required",
        "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Basic authentication, Basic information",
        "npm_config_registry npm_lifecycle_event=test pypi-server hf_hub_download xoxo AKIA ASIA",
        "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0= is a source map, no token",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "if text.startswith(\"-----BEGIN PRIVATE KEY-----\"): return \"-----END PRIVATE KEY-----\"",
        "format!(\"-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\")",
        "https://github.com/rust-lang/rust/pull/123456789012345678901234567890",
        "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        image.as_str(),
    ];
    let redactor = redactor();
    for text in texts {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{}", redactor.redact(text));
    }
}

#[test]
fn known_values_are_hidden_in_every_form() {
    let redactor = redactor();
    let hidden = |text: &str| redactor.redact(text).into_owned();
    assert_eq!(hidden("a tango-Foxtrot.77+quebec b"), "a [redacted:DEPLOY_TOKEN] b");
    for form in [
        "p\"ss/w\\rd\nline&two",
        r#"p\"ss/w\\rd\nline&two"#,
        r#"p\"ss\/w\\rd\nline&two"#,
        r#"p\"ss/w\\rd\nline\u0026two"#,
        r#"p\\\"ss/w\\\\rd\\nline&two"#,
    ] {
        assert_eq!(hidden(&format!("<{form}>")), "<[redacted:DB_PASSWORD]>");
    }
    assert_eq!(hidden("abcdefgh1234zzzz9999!"), "[redacted:OVERLAP_A]!", "overlapping values leave no rest");
    assert_eq!(hidden("tango-Foxtrot.77+quebe"), "tango-Foxtrot.77+quebe");
}

#[test]
fn a_known_value_lends_its_name_to_the_shape_around_it() {
    let key = format!("sk-ant-{BODY}");
    let redactor = Redactor::new([("ANTHROPIC_API_KEY", key.as_str())].into_iter());
    assert_eq!(redactor.redact(&format!("{key}tail9 x")), "[redacted:ANTHROPIC_API_KEY] x");
    assert_eq!(redactor.redact(&format!("{}X", &key[..40])), "[redacted:anthropic-key]");
    assert_eq!(redactor.redact(&format!("Bearer 0a{key}.{BODY} x")), "Bearer [redacted:bearer] x");
}

#[test]
fn a_text_that_is_nothing_but_a_secret_is_hidden_whatever_its_length() {
    let redactor = Redactor::new([("N", "x9x9x9x9x9x9"), ("M", "y8y8y8y8")].into_iter());
    assert_eq!("x9x9x9x9x9x9".len(), "[redacted:N]".len());
    assert_eq!(redactor.redact("x9x9x9x9x9x9"), "[redacted:N]");
    assert_eq!(redactor.redact("y8y8y8y8"), "[redacted:M]");
}

#[test]
fn a_name_cannot_break_out_of_a_json_string() {
    let redactor = Redactor::new([("A\"},{\"", "value-12345")].into_iter());
    assert_eq!(redactor.redact("value-12345"), "[redacted:A]");
}

#[test]
fn secrets_of_the_environment_are_hidden_by_name() {
    let env = [("GH_TOKEN", "zulu77-november"), ("HOME", "/home/someone"), ("DEBUG_TOKEN", "true")];
    let redactor = Redactor::new(secrets_in_env(env, &[]).into_iter());
    assert_eq!(
        redactor.redact("/home/someone true zulu77-november"),
        "/home/someone true [redacted:GH_TOKEN]"
    );
}

#[test]
fn hundreds_of_known_values_are_still_found() {
    let values: Vec<(String, String)> =
        (0..500).map(|n| (format!("V{n}"), format!("{n:03}-value-{n:03}"))).collect();
    let redactor = Redactor::new(values.into_iter());
    assert_eq!(redactor.redact("see 417-value-417 there"), "see [redacted:V417] there");
}

#[test]
fn a_cut_off_key_is_hidden_and_what_follows_stays() {
    let redactor = redactor();
    let whole = pem(3, "\n");
    let cut = &whole[..whole.len() - 60];
    let clean = redactor.redact(&format!("{cut}\n{}tests passed\n", "all is well. ".repeat(20))).into_owned();
    assert!(!clean.contains(&BODY[..20]), "{clean}");
    assert!(clean.contains("all is well.") && clean.ends_with("tests passed\n"), "{clean}");
}

#[test]
fn a_forged_begin_neither_hides_nor_delays_the_output() {
    let redactor = redactor();
    let mut stream = redactor.stream();
    let mut out = Vec::new();
    stream.push(b"-----BEGIN PRIVATE KEY-----\n", &mut out);
    let lines = "{\"type\":\"result\",\"cost\":1}\n".repeat(3);
    stream.push(lines.as_bytes(), &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), format!("-----BEGIN PRIVATE KEY-----\n{lines}"));

    let endless = format!("-----BEGIN PRIVATE KEY-----\n{}", format!("{BODY}\n").repeat(2000));
    let clean = redactor.redact(&endless).into_owned();
    assert!(endless.len() - clean.len() <= 16 * 1024 + 64, "a key block is bounded");
}

#[test]
fn a_line_comes_out_as_soon_as_it_ends() {
    let redactor = redactor();
    let mut stream = redactor.stream();
    for line in ["plain\n", "ends like a key sk-\n", "a Bearer\n", "tango-\n"] {
        let mut out = Vec::new();
        stream.push(line.as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), line);
    }
}

#[test]
fn clean_chunks_are_not_copied() {
    let redactor = redactor();
    let mut stream = redactor.stream();
    let chunk = "an ordinary line of output\n".repeat(2000);
    let range = chunk.as_bytes().as_ptr_range();
    let mut in_place = 0;
    for _ in 0..10 {
        stream.push_to(chunk.as_bytes(), &mut |piece| {
            if range.contains(&piece.as_ptr()) {
                in_place += piece.len();
            }
        });
    }
    assert!(in_place > chunk.len() * 9, "{in_place} of {}", chunk.len() * 10);
}

/// 32 MB without a line break: all comes out, hardly anything is held, and no shape makes it slow. The texts are the
/// worst for a careless search: every place looks like a start.
#[test]
fn a_very_long_line_is_linear_and_bounded() {
    let redactor = redactor();
    let key = format!(" ghp_{} ", &BODY[..36]);
    let worst = [
        "x",
        "sk-",
        "eyJ",
        "eyJaaaaaaaaaaaa ",
        "-----BEGIN PRIVATE KEY-----",
        "abcdefgh123",
        "Bearer ",
        "SG.",
    ];
    for unit in worst {
        let size = if unit == "x" { 32 << 20 } else { 192 << 10 };
        let chunk = unit.repeat((64 << 10) / unit.len());
        let mut stream = redactor.stream();
        let (mut given, mut fed, mut most) = (0, 0, 0);
        while fed < size {
            stream.push_to(chunk.as_bytes(), &mut |piece| given += piece.len());
            fed += chunk.len();
            most = most.max(stream.held());
        }
        let mut tail = Vec::new();
        stream.push(key.as_bytes(), &mut tail);
        stream.finish(&mut tail);
        assert!(most < 64 << 10, "{most} held of {unit}");
        let tail = String::from_utf8(tail).unwrap();
        assert_eq!(given + tail.len() - " [redacted:github-token] ".len(), fed, "{unit}");
        assert!(tail.ends_with(" [redacted:github-token] "), "{tail}");
    }
}

/// Two chunks, cut at every place, around secrets long enough that the second chunk goes on without copying.
#[test]
fn no_cut_makes_a_difference() {
    let long = BODY.repeat(10);
    let texts = [
        format!("x Authorization: Basic {long}== y"),
        format!("a {} b {}", pem(12, "\\n"), pem(2, "\n")),
        format!(r"https:\/\/hooks.slack.com\/services\/T0\/{long}\/x y"),
        format!("task-{long} npm_{long} \\nsk-{long} \\u0026ghp_{long} Bearer {long}.x eyJ{long}.{long}.z"),
        format!("tango-Foxtrot.77+quebec p\"ss/w\\rd\nline&two abcdefgh1234zzzz9999 {long}"),
    ];
    let redactor = redactor();
    for text in texts {
        let whole = redactor.redact(&text);
        assert_ne!(whole, text);
        for cut in 1..text.len() {
            let parts = in_chunks(&redactor, text.as_bytes(), &[cut, text.len()]);
            assert_eq!(String::from_utf8(parts).unwrap(), whole, "cut at {cut}");
        }
    }
}

/// Runs longer than any key are cut at the same place whatever the chunks.
#[test]
fn endless_runs_are_cut_alike() {
    let redactor = redactor();
    for start in ["-----BEGIN PRIVATE KEY-----\n", "sk-", "eyJ", "Bearer ", "SG."] {
        for dot in [4095, 4096, 4097, 30_000] {
            let run = BODY.repeat(600);
            let text = format!("{start}{}.{}", &run[..dot], &run[dot..]);
            let whole = redactor.redact(&text);
            for size in [997, 4096, 4099, 16_411] {
                let parts = in_chunks(&redactor, text.as_bytes(), &[size]);
                assert!(parts == whole.as_bytes(), "{start} dot at {dot} in chunks of {size}");
            }
        }
    }
}

/// Bits of text that are secrets, halves of secrets, or look like them.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let bits = [
        "sk-",
        "sk-ant-",
        "ghp_",
        "eyJ",
        ".",
        "AKIA",
        "Bearer ",
        "Authorization: ",
        "Basic ",
        "hooks.slack.com/services/",
        "hooks.slack.com\\/services\\/",
        "\\/",
        "\\",
        "\\n",
        "\n",
        "\"",
        "{",
        " ",
        "SG.",
        "xoxb-",
        "-----BEGIN ",
        "RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "-----",
        "tango-Foxtrot.77+quebec",
        "tango-Fox",
        "trot.77+quebec",
        "p\"ss/w\\rd\nline&two",
        "p\\\"ss\\/w\\\\rd\\nline&two",
        "abcdefgh1234",
        "1234zzzz9999",
        "zzzz9999",
        "\u{1b}[1m",
        "é",
        "npm_",
        "BEGIN ",
    ];
    let bit = prop_oneof![
        6 => proptest::sample::select(bits.to_vec()).prop_map(|bit| bit.as_bytes().to_vec()),
        3 => (1_usize..64).prop_map(|n| BODY.as_bytes()[..n].to_vec()),
        1 => (0_usize..3).prop_map(|n| pem(n, "\n").into_bytes()),
        1 => (0_usize..3).prop_map(|n| pem(n, "\\n").into_bytes()),
        1 => (1_usize..6000).prop_map(|n| vec![b'a'; n]),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(bit, 0..40).prop_map(|bits| bits.concat())
}

fn in_chunks(redactor: &Redactor, text: &[u8], sizes: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut stream = redactor.stream();
    let mut rest = text;
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*size).min(rest.len()));
        stream.push(chunk, &mut out);
        rest = after;
    }
    stream.finish(&mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn chunks_make_no_difference(
        text in soup(),
        sizes in proptest::collection::vec(prop_oneof![1_usize..8, 1_usize..700, 1_usize..9000], 1..12),
    ) {
        let redactor = redactor();
        let whole = redactor.redact_bytes(&text);
        let parts = in_chunks(&redactor, &text, &sizes);
        prop_assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&parts));
    }

    #[test]
    fn no_known_value_ever_comes_out(text in soup(), size in 1_usize..300) {
        let redactor = redactor();
        let clean = in_chunks(&redactor, &text, &[size]);
        for value in ["tango-Foxtrot.77+quebec", "p\"ss/w\\rd\nline&two", "1234zzzz9999", "abcdefgh1234"] {
            prop_assert!(memchr::memmem::find(&clean, value.as_bytes()).is_none());
        }
    }

    #[test]
    fn words_pass_untouched(text in "([a-z]{1,12}[ .,\n-]){0,200}") {
        prop_assert!(matches!(redactor().redact(&text), Cow::Borrowed(_)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the secret, whatever writes it, wherever it is cut: the stream gives what the whole text gives, and the
    /// secret is in neither.
    #[test]
    fn no_writing_and_no_cut_lets_a_secret_through(
        secret in "[ -~é🔑\n]{4}[!-~é]{8,40}",
        ways in proptest::collection::vec(0_usize..7, 1..8),
        filler in proptest::collection::vec("[a-zA-Z0-9 \\\\%\"\n]{0,60}", 1..6),
        sizes in proptest::collection::vec(1_usize..40, 1..8),
    ) {
        prop_assume!(secret.trim().len() >= 8 && !secret.trim_start().get(..4).unwrap_or("\n").contains('\n'));
        let secret = secret.trim();
        let redactor = Redactor::new([("K", secret)].into_iter());
        let mut text = String::new();
        for (n, way) in ways.iter().enumerate() {
            text.push_str(&filler[n % filler.len()].replace('\\', "/"));
            // A word border: what stands before could else be read as the end of an escape.
            text.push(' ');
            text.push_str(&written(secret, *way));
            text.push(' ');
        }
        let whole = redactor.redact(&text);
        for way in 0..7 {
            let form = written(secret, way);
            prop_assert!(!whole.contains(&form), "{form:?} is left in {whole:?} of {text:?}");
        }
        prop_assert_eq!(whole.matches("[redacted:K]").count(), ways.len(), "{:?} of {:?}", whole, text);
        let parts = in_chunks(&redactor, text.as_bytes(), &sizes);
        prop_assert_eq!(String::from_utf8_lossy(&parts), whole);
    }
}

/// The ways programs write a value: as it is; JSON as most, as PHP, as Python, as .NET do; JSON inside JSON; percent.
fn written(value: &str, way: usize) -> String {
    let json = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let coded = |text: &str, which: fn(char) -> bool| {
        let each = |c: char| match which(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect(),
            false => c.to_string(),
        };
        text.chars().map(each).collect::<String>()
    };
    match way {
        0 => value.to_owned(),
        1 => json(value),
        2 => json(value).replace('/', "\\/"),
        3 => coded(&json(value), |c| !c.is_ascii()).to_lowercase_escapes(),
        4 => coded(&json(value), |c| !c.is_ascii() || "<>&'+`".contains(c)),
        5 => json(&json(value)),
        _ => value
            .bytes()
            .map(|b| {
                if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) {
                    char::from(b).to_string()
                } else {
                    format!("%{b:02X}")
                }
            })
            .collect(),
    }
}

trait LowercaseEscapes {
    fn to_lowercase_escapes(&self) -> String;
}

impl LowercaseEscapes for String {
    fn to_lowercase_escapes(&self) -> String {
        let mut parts = self.split("\\u");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| match part.get(..4) {
            Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => {
                format!("{text}\\u{}{}", hex.to_lowercase(), &part[4..])
            }
            _ => format!("{text}\\u{part}"),
        })
    }
}

#[test]
fn a_known_value_is_found_in_base64() {
    let redactor = redactor();
    // "user:tango-Foxtrot.77+quebec" and the same after one and two more bytes.
    for text in [
        "dXNlcjp0YW5nby1Gb3h0cm90Ljc3K3F1ZWJlYw==",
        "YXVzZXI6dGFuZ28tRm94dHJvdC43NytxdWViZWM=",
        "YWJ1c2VyOnRhbmdvLUZveHRyb3QuNzcrcXVlYmVj",
    ] {
        let clean = redactor.redact(text).into_owned();
        assert!(clean.contains("[redacted:DEPLOY_TOKEN]"), "{clean}");
    }
}

fn base64(bytes: &[u8]) -> String {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number =
            three.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for n in 0..=three.len() {
            text.push(char::from(letters[number >> (18 - 6 * n) & 63]));
        }
        text.push_str(&"=".repeat(3 - three.len()));
    }
    text
}

/// Wherever the lines end (after whole groups of four letters, as every encoder does), whatever stands between them and however the output is cut, no five letters in a row are left.
#[test]
fn a_known_value_is_found_in_base64_that_is_broken_into_lines() {
    let (redactor, value) = (redactor(), "tango-Foxtrot.77+quebec");
    for (width, between) in [
        (64, "\n"),
        (76, "\r\n"),
        (76, "\n        "),
        (64, "\\n"),
        (76, "\\r\\n  "),
        (64, "\\\\n"),
        (20, "\n\t"),
    ] {
        for before in 0..80 {
            let whole = base64(format!("{}{value}{}", "x".repeat(before), "y".repeat(90)).as_bytes());
            let lines: Vec<String> =
                whole.as_bytes().chunks(width).map(|l| String::from_utf8_lossy(l).into_owned()).collect();
            let text = format!("see:\n{}{between}end", lines.join(between));
            let clean = redactor.redact(&text).into_owned();
            // The letters that hold nothing but bits of the value.
            let (first, last) = ((before * 8).div_ceil(6), (before + value.len()) * 8 / 6);
            let letters = &whole[first..last];
            let left: String = clean.split(between).collect();
            let shown =
                letters.as_bytes().windows(5).any(|five| left.contains(std::str::from_utf8(five).unwrap()));
            assert!(
                !shown && clean.contains("[redacted:DEPLOY_TOKEN]"),
                "{width} {between:?} {before}: {clean}"
            );
            assert!(clean.ends_with(&format!("{between}end")));
            for size in [1, 3, 7, 63, 64, 65] {
                assert_eq!(in_chunks(&redactor, text.as_bytes(), &[size]), clean.as_bytes(), "{size}");
            }
        }
    }
}

#[test]
fn facts_are_kept_without_secrets_and_a_run_gets_its_words_back() {
    use ralph_rules::record::{Asked, Request, Restored, Seen};
    let redactor = redactor();
    let hint = |text: &str| Seen::Asked(Asked { request: Request::Hint { text: text.into() } });
    assert_eq!(redactor.fact(hint("use abcdefgh1234")), hint("use [redacted:OVERLAP_A]"));
    assert_eq!(redactor.fact(hint("use it")), hint("use it"));
    let restored = |restored: &[&str], left: &[&str]| {
        let names = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        Seen::Restored(Restored { restored: names(restored), left: names(left), tree: 7, quarantine: None })
    };
    assert_eq!(
        redactor.fact(restored(&["[redacted:OVERLAP_A].env", "b"], &["abcdefgh1234.env"])),
        restored(&["b"], &["[redacted:OVERLAP_A].env"]),
        "what was left alone was not put back"
    );
}

/// A secret that is spelt like one of the journal's own words does not break the journal.
#[test]
fn a_secret_like_a_word_of_the_journal_does_no_harm() {
    use ralph_rules::record::{Asked, Request, Seen};
    let redactor = Redactor::new([("A", "continue"), ("B", "abcdefgh1234")].into_iter());
    let go_on = Seen::Asked(Asked { request: Request::Continue });
    assert_eq!(redactor.fact(go_on.clone()), go_on);
}

#[test]
fn no_secret_is_printed_by_accident() {
    let key = ralph_engine::redact::Secret::new("abcdefgh1234");
    assert_eq!(format!("{key} {key:?}"), "*** ***");
    let shown = format!("{:?}", Redactor::new([("N", "abcdefgh1234")].into_iter()));
    assert!(!shown.contains("abcdefgh1234") && !shown.contains(&format!("{:?}", b"abcdefgh1234")), "{shown}");
}
