//! The header lines of a request for a plain `http://` page: checked for everything that two servers could read in two ways,
//! and stripped of what concerns only the way to the proxy.

use super::request::BadRequest;

/// A header line: the name as written, the value without the space around it.
pub(super) type Header<'a> = (&'a str, &'a [u8]);

/// Splits and checks the lines.
pub(super) fn read<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Header<'a>>, BadRequest> {
    lines.map(read_line).collect()
}

fn read_line(line: &[u8]) -> Result<Header<'_>, BadRequest> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or(BadRequest::Header)?;
    let (name, value) = line.split_at_checked(colon).ok_or(BadRequest::Header)?;
    let name = std::str::from_utf8(name).ok().filter(|name| is_token(name)).ok_or(BadRequest::Header)?;
    let value = value.get(1..).unwrap_or_default();
    // Before the space around it is cut off: a CR at its end is not space.
    let plain = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    if value.iter().all(plain) { Ok((name, value.trim_ascii())) } else { Err(BadRequest::Header) }
}

/// A method or a header's name.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether the end of the body can be told in only one way, and `Host` is there at most once.
pub(super) fn check_framing(headers: &[Header<'_>], version: &str) -> Result<(), BadRequest> {
    let all = |wanted: &str| -> Vec<&[u8]> {
        headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| *value)
            .collect()
    };
    let (lengths, codings) = (all("content-length"), all("transfer-encoding"));
    let length_is_number =
        |value: &[u8]| (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let good = match (lengths.as_slice(), codings.as_slice()) {
        ([], []) => true,
        ([length], []) => length_is_number(length),
        ([], [coding]) => coding.eq_ignore_ascii_case(b"chunked") && version == "HTTP/1.1",
        _ => false,
    };
    match () {
        () if !good => Err(BadRequest::Framing),
        () if all("host").len() > 1 => Err(BadRequest::Header),
        () => Ok(()),
    }
}

/// The headers that go on to the server: without `Host`, which is set from the target, and without those between the client
/// and the proxy, by their names or because `Connection` lists them.
pub(super) fn passed_on<'a>(headers: &[Header<'a>]) -> Result<Vec<Header<'a>>, BadRequest> {
    let listed = listed_in_connection(headers)?;
    let stays_here = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["host", "connection", "keep-alive", "te", "trailer", "upgrade"].contains(&name.as_str())
            || name.starts_with("proxy-")
            || listed.contains(&name)
    };
    Ok(headers.iter().filter(|(name, _)| !stays_here(name)).copied().collect())
}

/// A client that has the length of its body removed on the way would have the rest of it read as a request.
fn listed_in_connection(headers: &[Header<'_>]) -> Result<Vec<String>, BadRequest> {
    let mut listed = Vec::new();
    for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("connection")) {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
        {
            let word =
                std::str::from_utf8(word).ok().filter(|word| is_token(word)).ok_or(BadRequest::Header)?;
            listed.push(word.to_ascii_lowercase());
        }
    }
    let needed = ["content-length", "transfer-encoding", "host"];
    if listed.iter().any(|word| needed.contains(&word.as_str())) {
        Err(BadRequest::Framing)
    } else {
        Ok(listed)
    }
}
