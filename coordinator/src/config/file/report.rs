//! `report`: what is written after a run, and where.

use crate::config::settings::ReportFormat;
use crate::yaml::{Item, Problems, Text};

/// The section.
#[derive(Default)]
pub(in crate::config) struct ReportSection {
    pub(in crate::config) out_dir: Option<Text>,
    pub(in crate::config) formats: Option<Vec<ReportFormat>>,
}

impl ReportSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&["s3"]);
        let out_dir = fields.get("outDir").and_then(|item| item.filled_text(problems));
        let formats = fields.get("formats").and_then(|item| read_formats(&item, problems));
        fields.finish(problems);
        Some(Self { out_dir, formats })
    }
}

fn read_formats(item: &Item<'_>, problems: &mut Problems) -> Option<Vec<ReportFormat>> {
    let words = ReportFormat::ALL.map(|format| (format.name(), format));
    let mut formats = Vec::new();
    let items = item.list(problems)?;
    if items.is_empty() {
        let problem = item.problem(problems, "the list is empty");
        problems.add(problem.remedy("name at least one form, or leave the key out for all of them"));
    }
    for item in items {
        if let Some(format) = item.word(&words, &[], problems)
            && !formats.contains(&format)
        {
            formats.push(format);
        }
    }
    Some(formats)
}
