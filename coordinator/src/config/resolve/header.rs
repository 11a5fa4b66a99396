//! Headers that the proxy injects.

use mcproctor_proto::server::Header;
use secrecy::SecretString;

use crate::yaml::{Problems, Text};

/// Headers that belong to the connection (RFC 9110 section 7.6.1) or frame the message; the proxy sets them itself.
const OWN_HEADERS: [&str; 9] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn resolve_header(name: &Text, value: &Text, problems: &mut Problems) -> Option<Header> {
    // RFC 9110 section 5.6.2: token.
    let token = name
        .value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    let own = OWN_HEADERS.contains(&name.value.to_ascii_lowercase().as_str());
    if !token {
        let problem = name.problem(problems, format!("`{}` is not the name of a header", name.shown));
        problems.add(problem.accepted("letters, digits and the signs of an HTTP token"));
    } else if own {
        problems.add(
            name.problem(problems, "the proxy sets this header itself")
                .remedy("remove the entry"),
        );
    }
    // RFC 9110 section 5.5: visible characters, spaces and tabs. The value is not repeated: it is secret.
    let clean = value
        .value
        .bytes()
        .all(|byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f));
    if !clean {
        let problem = value.problem(problems, "the value holds a line break or another control character");
        problems.add(problem.remedy("check the value, or the variable that it comes from, for a trailing line break"));
    }
    (token && !own && clean).then(|| Header {
        name: name.value.clone(),
        value: SecretString::from(value.value.clone()),
    })
}
