//! Where a coordinator listens.

use std::path::PathBuf;
use std::str::FromStr;

/// Where a coordinator listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket of this machine.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some(path) if path.starts_with('/') => Ok(Self::Unix(PathBuf::from(path))),
            _ => Err(format!(
                "`{text}` is no address of a coordinator; write `unix:/absolute/path`"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_absolute_unix_sockets_are_taken() {
        assert_eq!("unix:/run/c.sock".parse(), Ok(Address::Unix("/run/c.sock".into())));
        assert!("unix:c.sock".parse::<Address>().is_err());
        assert!("http://127.0.0.1:1".parse::<Address>().is_err());
    }
}
