//! The judge.

use std::time::Duration;

use secrecy::SecretString;

use super::context::{http_url, ranged};
use crate::config::file::JudgeSection;
use crate::config::settings::JudgeSettings;
use crate::yaml::Problems;

/// An hour; an answer that takes longer never comes.
const TIMEOUT_SECONDS: std::ops::RangeInclusive<u32> = 1..=3_600;
const DEFAULT_TIMEOUT_SECONDS: u32 = 60;

pub(super) fn resolve_judge(section: &JudgeSection, problems: &mut Problems) -> Option<JudgeSettings> {
    let base_url = section.base_url.as_ref().and_then(|text| http_url(text, problems));
    let timeout = match &section.timeout_seconds {
        Some(number) => ranged(number, TIMEOUT_SECONDS, problems),
        None => Some(DEFAULT_TIMEOUT_SECONDS),
    };
    let api_key = section.api_key.as_ref().map(|text| text.value.trim().to_owned());
    if let (Some(text), Some(key)) = (&section.api_key, &api_key)
        && key.contains(|c: char| !c.is_ascii_graphic())
    {
        let problem = text.problem(problems, "the key holds characters that no HTTP header can carry");
        problems.add(problem.accepted("printable ASCII characters without spaces"));
    }
    Some(JudgeSettings {
        base_url: base_url?,
        model: section.model.as_ref()?.value.clone(),
        api_key: api_key.filter(|key| !key.is_empty()).map(SecretString::from),
        timeout: Duration::from_secs(timeout?.into()),
    })
}
