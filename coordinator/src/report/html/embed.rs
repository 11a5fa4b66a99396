//! Data inside the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::report::ReportError;

/// JSON that cannot end the script element it stands in, nor be anything else than JSON there.
pub(super) fn json_for_script(value: &impl Serialize) -> Result<String, ReportError> {
    let json = serde_json::to_string(value)?;
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for character in json.chars() {
        match character {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    Ok(safe)
}

/// The source expression that allows exactly this inline script or style (CSP Level 3, section 2.3.1).
pub(super) fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn embedded_json_cannot_leave_its_script_element_and_means_the_same() {
        let nasty = "</script><!-- <script> ]]> & \u{2028}\u{2029} \"q\" \\";
        let safe = json_for_script(&nasty).unwrap();
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), nasty);
    }
}
