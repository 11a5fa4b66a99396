//! Placeholders in the arguments of a command agent.

/// Replaces every `{name}` for which `value` knows one, in one pass: what was put in is not looked at again, and braces
/// around anything else stay as they are.
///
/// # Errors
///
/// What `value` says of a name it knows but cannot fill in.
pub(super) fn fill<E>(template: &str, mut value: impl FnMut(&str) -> Option<Result<String, E>>) -> Result<String, E> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let name = after
            .find(['{', '}'])
            .filter(|&end| after[end..].starts_with('}'))
            .map(|end| &after[..end]);
        match name.and_then(|name| Some((name, value(name)?))) {
            Some((name, replacement)) => {
                filled.push_str(&replacement?);
                rest = &after[name.len() + 1..];
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::fill;

    fn filled(template: &str) -> Result<String, String> {
        fill(template, |name| match name {
            "model" => Some(Ok("m-1".to_owned())),
            "prompt" => Some(Ok("say {model} and {".to_owned())),
            "model_url" => Some(Err("no model_url here".to_owned())),
            _ => None,
        })
    }

    #[test]
    fn what_was_put_in_is_not_expanded_again() {
        assert_eq!(filled("-p {prompt} -m {model}").unwrap(), "-p say {model} and { -m m-1");
    }

    #[test]
    fn other_braces_stay() {
        let json = r#"{"a": {"b": "{unknown}", "m": "{model}"}} {{model}} {"#;
        assert_eq!(
            filled(json).unwrap(),
            r#"{"a": {"b": "{unknown}", "m": "m-1"}} {m-1} {"#
        );
    }

    #[test]
    fn a_name_without_a_value_is_an_error() {
        assert_eq!(filled("--url={model_url}").unwrap_err(), "no model_url here");
    }
}
