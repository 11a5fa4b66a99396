//! Dotenv files.
//!
//! `NAME=value`, one a line, optionally after `export`. A `#` starts a comment only at the start of a line or after white
//! space. Text in single quotes is literal; in double quotes `\n`, `\r`, `\t`, `\"` and `\\` are escapes; both may span
//! lines. Nothing is expanded: `$` and `${…}` are ordinary text.

use std::collections::BTreeMap;

/// Why a dotenv file cannot be read. Values are not repeated: they are secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(super) struct DotenvError {
    /// The line, from 1.
    pub(super) line: usize,
    /// What is wrong there.
    pub(super) what: &'static str,
    /// What to do about it.
    pub(super) remedy: &'static str,
}

/// Reads a whole file. Of a name that is given twice the last value counts, as in a shell.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, String>, DotenvError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = Cursor { text, line: 1 };
    let mut variables = BTreeMap::new();
    while !rest.text.is_empty() {
        rest.skip_blanks();
        if rest.text.starts_with(['\n', '#']) || rest.text.is_empty() {
            rest.skip_line();
            continue;
        }
        let name = rest.name()?;
        let value = rest.value()?;
        variables.insert(name, value);
    }
    Ok(variables)
}

struct Cursor<'a> {
    text: &'a str,
    line: usize,
}

/// White space inside a line. `\r` is one: it only ever stands before `\n`.
const BLANKS: [char; 3] = [' ', '\t', '\r'];

impl Cursor<'_> {
    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start_matches(BLANKS);
    }

    fn skip_line(&mut self) {
        self.text = self.text.split_once('\n').map_or("", |(_, rest)| rest);
        self.line += 1;
    }

    fn error(&self, what: &'static str, remedy: &'static str) -> DotenvError {
        DotenvError {
            line: self.line,
            what,
            remedy,
        }
    }

    fn name(&mut self) -> Result<String, DotenvError> {
        if let Some(rest) = self
            .text
            .strip_prefix("export")
            .filter(|rest| rest.starts_with([' ', '\t']))
        {
            self.text = rest;
            self.skip_blanks();
        }
        let end = self
            .text
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')))
            .unwrap_or(self.text.len());
        let (name, rest) = self.text.split_at(end);
        let value = rest.trim_start_matches(BLANKS).strip_prefix('=');
        match value {
            Some(value) if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                self.text = value;
                Ok(name.to_owned())
            }
            _ => Err(self.error(
                "the line is not `NAME=value`",
                "write NAME=value; a comment starts with `#`, a value of several lines stands in quotes",
            )),
        }
    }

    fn value(&mut self) -> Result<String, DotenvError> {
        let spaced = self.text.starts_with(BLANKS);
        self.skip_blanks();
        match self.text.chars().next() {
            Some('\'') => self.single_quoted(),
            Some('"') => self.double_quoted(),
            Some('#') if spaced => {
                self.skip_line();
                Ok(String::new())
            }
            _ => Ok(self.unquoted()),
        }
    }

    fn unquoted(&mut self) -> String {
        let line = self.text.split('\n').next().unwrap_or_default();
        let comment = line
            .match_indices('#')
            .map(|(at, _)| at)
            .find(|at| line[..*at].ends_with(BLANKS));
        let value = line[..comment.unwrap_or(line.len())].trim().to_owned();
        self.skip_line();
        value
    }

    fn single_quoted(&mut self) -> Result<String, DotenvError> {
        let inside = &self.text[1..];
        let Some((value, rest)) = inside.split_once('\'') else {
            return Err(self.error("the single quote is never closed", "close it with `'`"));
        };
        let lines = value.matches('\n').count();
        let value = value.replace("\r\n", "\n");
        self.text = rest;
        self.line += lines;
        self.after_quote()?;
        Ok(value)
    }

    fn double_quoted(&mut self) -> Result<String, DotenvError> {
        let inside = &self.text[1..];
        let mut value = String::new();
        let mut lines = 0;
        let mut chars = inside.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.text = &inside[at + 1..];
                    self.line += lines;
                    self.after_quote()?;
                    return Ok(value.replace("\r\n", "\n"));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 'r')) => value.push('\r'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                    Some((_, other)) => {
                        lines += usize::from(other == '\n');
                        value.extend(['\\', other]);
                    }
                    None => break,
                },
                c => {
                    lines += usize::from(c == '\n');
                    value.push(c);
                }
            }
        }
        Err(self.error(
            "the double quote is never closed",
            "close it with `\"`; inside, a quote is written `\\\"`",
        ))
    }

    /// Behind a closing quote only white space and a comment may follow.
    fn after_quote(&mut self) -> Result<(), DotenvError> {
        let line = self.text.split('\n').next().unwrap_or_default();
        let rest = line.trim_matches(BLANKS);
        let comment = rest.starts_with('#') && line.starts_with(BLANKS);
        if rest.is_empty() || comment {
            self.skip_line();
            return Ok(());
        }
        Err(self.error(
            "text follows the closing quote",
            "put the whole value in quotes, or a space before the `#` of a comment",
        ))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn one(text: &str) -> String {
        let variables = parse(text).unwrap();
        assert_eq!(variables.len(), 1, "{variables:?}");
        variables.into_values().next().unwrap()
    }

    #[test]
    fn a_comment_starts_only_after_white_space() {
        assert_eq!(one("A=a#b"), "a#b");
        assert_eq!(one("A=#b"), "#b");
        assert_eq!(one("B=x # c"), "x");
        assert_eq!(one("B=x\t# c # d"), "x");
        assert_eq!(one("C=\"p#q\" # c"), "p#q");
        assert_eq!(one("E= # c"), "");
        assert_eq!(one("E="), "");
        assert_eq!(one("# only\n  # comments\n\nA=1\n#B=2"), "1");
    }

    #[test]
    fn nothing_is_expanded() {
        assert_eq!(one("D='45v$AG'"), "45v$AG");
        assert_eq!(one("D=45v$AG"), "45v$AG");
        assert_eq!(one("D=\"${HOME}\""), "${HOME}");
        assert_eq!(one(r"D='a\nb'"), r"a\nb");
    }

    #[test]
    fn double_quotes_know_escapes() {
        assert_eq!(one(r#"A="a\nb\t\"c\" \\ \$x""#), "a\nb\t\"c\" \\ \\$x");
    }

    #[test]
    fn export_and_spaces_around_the_sign_are_accepted() {
        assert_eq!(
            parse("export F=1\n G = two words  \n").unwrap(),
            [
                ("F".to_owned(), "1".to_owned()),
                ("G".to_owned(), "two words".to_owned())
            ]
            .into()
        );
        assert_eq!(one("export=1"), "1");
    }

    #[test]
    fn a_key_of_several_lines_survives_in_quotes_with_either_line_end() {
        let pem = "-----BEGIN KEY-----\nMII#= x\n-----END KEY-----\n";
        assert_eq!(parse(&format!("A=1\nK=\"{pem}\"\nB=2\n")).unwrap()["K"], pem);
        let windows = format!("\u{feff}A=1\r\nK='{}'\r\nB=2\r\n", pem.replace('\n', "\r\n"));
        let variables = parse(&windows).unwrap();
        assert_eq!(variables["K"], pem);
        assert_eq!(variables["A"], "1");
        assert_eq!(variables["B"], "2");
    }

    #[test]
    fn an_open_quote_is_an_error_where_it_opens() {
        let error = parse("A=1\n\nK=\"secret\nmore\n").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(!format!("{error:?}").contains("secret"));
        assert_eq!(parse("A='x\n").unwrap_err().line, 1);
    }

    #[test]
    fn lines_that_mean_nothing_are_errors() {
        assert_eq!(parse("K='a\nb'\nnonsense\n").unwrap_err().line, 3);
        assert_eq!(parse("1A=x").unwrap_err().line, 1);
        assert_eq!(parse("A=\"x\"y").unwrap_err().what, "text follows the closing quote");
        assert_eq!(parse("A=\"x\"#y").unwrap_err().what, "text follows the closing quote");
    }

    #[test]
    fn the_last_of_two_values_counts() {
        assert_eq!(one("A=1\nA=2\n"), "2");
    }
}
