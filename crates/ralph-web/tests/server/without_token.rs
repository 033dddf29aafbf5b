//! Every address that the description lists, asked by somebody who does not have the token, or has it in a place where browsers
//! and logs would leave it.

use super::bed::{Bed, row, write};
use serde_json::Value;

/// Each address with its methods, with ids that are there.
fn described() -> Vec<(String, String)> {
    let description: Value = serde_json::from_str(ralph_web::OPENAPI).unwrap();
    let methods = |(path, answers): (&String, &Value)| {
        let path = path.replace("{id}", "0199a1b2-secret").replace("{n}", "1");
        let answers = answers.as_object().unwrap().clone();
        let methods = answers.into_iter().map(|(method, _)| method.to_uppercase());
        methods
            .filter(|name| name != "PARAMETERS")
            .map(move |method| (method, path.clone()))
            .collect::<Vec<_>>()
    };
    description["paths"].as_object().unwrap().iter().flat_map(methods).collect()
}

#[test]
fn every_address_of_the_api_wants_the_token_in_its_header() {
    let bed = Bed::with(|home| write(&home.store().unwrap(), row("0199a1b2-secret", 1)));
    let (host, token) = (bed.address, &bed.token);
    let other = "0".repeat(token.len());
    let mut asked = 0;
    for (method, path) in described().into_iter().filter(|(_, path)| path != "/healthz") {
        for (query, header) in [
            (String::new(), String::new()),
            (String::new(), format!("Authorization: Bearer {other}\r\n")),
            (format!("?token={token}"), String::new()),
            (format!("?access_token={token}"), String::new()),
            (format!("?authorization=Bearer%20{token}"), String::new()),
            (String::new(), format!("Cookie: token={token}\r\n")),
            (String::new(), format!("Cookie: Authorization=Bearer {token}\r\n")),
            (String::new(), format!("X-Api-Key: {token}\r\n")),
        ] {
            let head = format!("{method} {path}{query} HTTP/1.1\r\nHost: {host}\r\n{header}");
            let got = bed.send(format!("{head}Connection: close\r\n\r\n").as_bytes());
            assert_eq!(got.status, 401, "{head}{got:?}");
            assert!(!got.body.contains("0199a1b2") && !got.body.contains(token.as_str()), "{head}{got:?}");
            asked += 1;
        }
        let with_token =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
        if path != "/api/v1/events" {
            let got = bed.send(format!("{with_token}Connection: close\r\n\r\n").as_bytes());
            assert_ne!(got.status, 401, "{with_token}{got:?}");
        }
    }
    assert!(asked >= 12 * 8, "the description has {asked}");
}
