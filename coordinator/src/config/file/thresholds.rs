//! `run.thresholds`: what a run has to reach.

use crate::threshold::{Measure, Share, Thresholds};
use crate::yaml::{Item, Problems};

/// Reads the section. Nothing in it depends on anything else in the file.
pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Thresholds> {
    let mut fields = item.fields(problems)?;
    let mut share = |key, problems: &mut Problems| fields.get(key).and_then(|item| read_share(&item, problems));
    let suite = share("suite", problems);
    let test_case = share("testCase", problems);
    let on = fields
        .get("on")
        .and_then(|item| item.word(&Measure::NAMES, &[], problems));
    fields.finish(problems);
    Some(Thresholds {
        suite,
        test_case,
        on: on.unwrap_or_default(),
    })
}

fn read_share(item: &Item<'_>, problems: &mut Problems) -> Option<Share> {
    let text = item.filled_text(problems)?;
    match text.value.parse() {
        Ok(share) => Some(share),
        Err(_) => {
            let problem = text.problem(problems, format!("`{}` is not a share", text.shown));
            problems.add(problem.accepted("a number from 0 to 1 such as `0.9`, or a percentage such as `90%`"));
            None
        }
    }
}
