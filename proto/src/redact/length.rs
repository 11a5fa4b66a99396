//! How long a value has to be to be looked for.

/// Values with fewer bytes are not looked for: hiding each of their appearances would destroy the record.
pub const SHORTEST_SECRET: usize = 4;
/// The same for a plain setting, which may well be an ordinary word: `true`, `utf-8`.
const SHORTEST_SETTING: usize = 6;
/// Parts of names that say that the value is a credential.
const CREDENTIAL_NAMES: [&str; 8] = [
    "auth",
    "key",
    "token",
    "secret",
    "cookie",
    "pass",
    "credential",
    "signature",
];

/// Whether the name of a header, a variable or a parameter says that its value is a credential.
pub(super) fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL_NAMES.iter().any(|part| name.contains(part))
}

/// The fewest bytes of a value that is looked for, of a variable or a parameter with this name.
pub(super) fn shortest_setting(name: &str) -> usize {
    if is_credential(name) {
        SHORTEST_SECRET
    } else {
        SHORTEST_SETTING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_credentials_from_settings() {
        for name in [
            "API_KEY",
            "X-Auth",
            "DB_PASS",
            "PASSWORD",
            "GitHub_Token",
            "CREDENTIALS",
            "client_secret",
        ] {
            assert_eq!(shortest_setting(name), 4, "{name}");
        }
        for name in ["LANG", "DEBUG", "MODE"] {
            assert_eq!(shortest_setting(name), 6, "{name}");
        }
    }
}
