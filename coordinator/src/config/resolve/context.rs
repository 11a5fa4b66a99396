//! What resolving needs besides the file.

use std::path::Path;

use url::Url;

use crate::config::interpolate::Variables;
use crate::yaml::{Number, Problems, Text};

/// Where the config lies and what its variables are.
pub(in crate::config) struct Context<'a> {
    /// The config file as the user named it.
    pub(in crate::config) file: &'a Path,
    /// The folder that relative paths start from, absolute.
    pub(in crate::config) base: &'a Path,
    /// The shell's variables and those of the dotenv file.
    pub(in crate::config) variables: &'a Variables<'a>,
}

/// An unsigned number in a range.
pub(super) fn ranged<T>(number: &Number, range: std::ops::RangeInclusive<T>, problems: &mut Problems) -> Option<T>
where
    T: Copy + Into<i128> + TryFrom<i128> + std::fmt::Display,
{
    let (low, high) = (*range.start(), *range.end());
    if (low.into()..=high.into()).contains(&number.value) {
        return T::try_from(number.value).ok();
    }
    let shown = if number.value.unsigned_abs() > u128::from(u64::MAX) {
        "the number".to_owned()
    } else {
        number.value.to_string()
    };
    let problem = problems.new_problem(format!("{shown} is out of range"));
    let problem = problem.at(number.place).key(&number.path);
    problems.add(problem.accepted(format!("a whole number from {low} to {high}")));
    None
}

/// An `http` or `https` URL with a host.
pub(super) fn http_url(text: &Text, problems: &mut Problems) -> Option<Url> {
    let example = "an http or https URL such as `http://127.0.0.1:3210/mcp`";
    let what = match Url::parse(&text.value) {
        Ok(url) if !matches!(url.scheme(), "http" | "https") => "the URL is neither http nor https".to_owned(),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            let problem = text.problem(problems, "the URL holds a user name or password, which are not sent");
            problems.add(problem.remedy("remove them; credentials belong into `headers` or `apiKey`"));
            return None;
        }
        Ok(_) if text.value.trim() != text.value => "the URL has white space around it".to_owned(),
        Ok(url) => return Some(url),
        Err(error) => format!("`{}` is not a URL: {error}", text.shown),
    };
    problems.add(text.problem(problems, what).accepted(example));
    None
}
