//! Signatures by the Standard Webhooks specification: HMAC-SHA256 of id, time and body, with the version `v1`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// The value of `webhook-signature`: one signature for each secret.
pub fn sign(secrets: &[Vec<u8>], id: &str, seconds: i64, body: &[u8]) -> String {
    let signed = secrets.iter().map(|secret| {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let mut context = hmac::Context::with_key(&key);
        context.update(format!("{id}.{seconds}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    });
    signed.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with Python's `hmac`, `hashlib` and `base64`.
    #[test]
    fn a_signature_that_another_implementation_made() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signed = sign(std::slice::from_ref(&secret), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        let both = sign(&[secret.clone(), secret], "a", 1, b"");
        assert_eq!(both.split(' ').count(), 2);
    }
}
