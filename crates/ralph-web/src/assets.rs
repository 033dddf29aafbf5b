//! The page, embedded in the program: nothing is loaded from anywhere else, and there is no build step. Each file is
//! compressed once, when it is first asked for.

use crate::security_headers;
use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use std::sync::OnceLock;

/// How hard to compress: once a start, so as well as possible.
const LEVEL: u8 = 9;

/// One file of the page.
pub struct Asset {
    /// Its path on the server.
    pub path: &'static str,
    kind: &'static str,
    text: &'static str,
    ready: OnceLock<Ready>,
}

/// What is made of a file once.
struct Ready {
    tag: HeaderValue,
    /// Its content in zlib's format, which HTTP calls `deflate`.
    small: Bytes,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file of the page.
pub static ASSETS: [Asset; 11] = [
    Asset::new("/", "text/html; charset=utf-8", include_str!("../assets/index.html")),
    Asset::new("/app.css", "text/css; charset=utf-8", include_str!("../assets/app.css")),
    Asset::new("/icon.svg", "image/svg+xml", include_str!("../assets/icon.svg")),
    Asset::new("/api.js", SCRIPT, include_str!("../assets/api.js")),
    Asset::new("/app.js", SCRIPT, include_str!("../assets/app.js")),
    Asset::new("/dom.js", SCRIPT, include_str!("../assets/dom.js")),
    Asset::new("/history.js", SCRIPT, include_str!("../assets/history.js")),
    Asset::new("/iteration.js", SCRIPT, include_str!("../assets/iteration.js")),
    Asset::new("/list.js", SCRIPT, include_str!("../assets/list.js")),
    Asset::new("/run.js", SCRIPT, include_str!("../assets/run.js")),
    Asset::new("/strip.js", SCRIPT, include_str!("../assets/strip.js")),
];

impl Asset {
    const fn new(path: &'static str, kind: &'static str, text: &'static str) -> Asset {
        Asset { path, kind, text, ready: OnceLock::new() }
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| {
            let hash = blake3::hash(self.text.as_bytes()).to_hex();
            let tag = format!("\"{}\"", hash.get(..32).unwrap_or_default());
            Ready {
                tag: HeaderValue::try_from(tag).unwrap_or(HeaderValue::from_static("\"\"")),
                small: miniz_oxide::deflate::compress_to_vec_zlib(self.text.as_bytes(), LEVEL).into(),
            }
        })
    }

    /// The answer with this file: compressed if the browser takes that, without content if it has it already.
    pub fn answer(&self, asked: &HeaderMap) -> Response {
        let ready = self.ready();
        let known = asked.get(IF_NONE_MATCH).is_some_and(|tag| tag == ready.tag);
        let mut answer = match (known, takes_deflate(asked)) {
            (true, _) => Response::new(Body::empty()),
            (false, true) => Response::new(Body::from(ready.small.clone())),
            (false, false) => Response::new(Body::from(self.text)),
        };
        let headers = answer.headers_mut();
        if !known && takes_deflate(asked) {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("deflate"));
        }
        headers.insert(ETAG, ready.tag.clone());
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        // Asked for each time, answered with a few bytes: a new ralph shows its own page at once.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        security_headers::of_page(headers);
        if known {
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
        }
        answer
    }
}

fn takes_deflate(asked: &HeaderMap) -> bool {
    let takes = asked.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    takes.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let refused = |part: &str| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        parts.next() == Some("deflate") && !parts.any(refused)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_at_most_60_kb_compressed() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.ready().small.len()).sum();
        assert!(bytes <= 60_000, "{bytes} bytes");
    }

    #[test]
    fn a_file_is_compressed_for_those_who_take_it_and_left_out_for_those_who_have_it() {
        let asset = &ASSETS[1];
        let asked = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            asset.answer(&headers)
        };
        for (takes, compressed) in
            [("gzip, deflate, br", true), ("gzip", false), ("deflate;q=0", false), ("deflate;q=0.5", true)]
        {
            let answer = asked("accept-encoding", takes);
            assert_eq!(answer.headers().contains_key(CONTENT_ENCODING), compressed, "{takes}");
            assert_eq!(answer.status(), StatusCode::OK);
        }
        let tag = asset.ready().tag.to_str().unwrap().to_owned();
        assert_eq!(asked("if-none-match", &tag).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(asked("if-none-match", "\"other\"").status(), StatusCode::OK);
    }

    #[test]
    fn what_is_compressed_is_the_file() {
        for asset in &ASSETS {
            let whole = miniz_oxide::inflate::decompress_to_vec_zlib(&asset.ready().small).unwrap();
            assert_eq!(whole, asset.text.as_bytes());
        }
    }

    #[test]
    fn the_page_loads_only_its_own_files_and_has_no_script_or_style_in_it() {
        let page = ASSETS[0].text;
        for foreign in ["http://", "https://", "//cdn", " style=", " onclick=", " onload=", "javascript:"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            for unsafe_sink in
                ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
            {
                assert!(!asset.text.contains(unsafe_sink), "{unsafe_sink} in {}", asset.path);
            }
        }
    }
}
