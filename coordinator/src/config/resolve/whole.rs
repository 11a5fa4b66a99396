//! The file as a whole.

use super::context::Context;
use super::judge::resolve_judge;
use super::mcp::resolve_server;
use super::path::resolve_path;
use super::run::resolve_run;
use crate::config::file::{EvalFile, ReportSection, TestcasesSection};
use crate::config::settings::{Config, ReportFormat, ReportSettings, Source};
use crate::price::Prices;
use crate::yaml::Problems;

/// `None` means that there is something in `problems`.
pub(in crate::config) fn resolve(file: &EvalFile, context: &Context<'_>, problems: &mut Problems) -> Option<Config> {
    let server = file.mcp.as_ref().and_then(|mcp| resolve_server(mcp, context, problems));
    let source = file
        .testcases
        .as_ref()
        .and_then(|section| resolve_source(section, context, problems));
    let run = resolve_run(&file.run, context, problems);
    let report = resolve_report(&file.report, context, problems);
    let judge = file.judge.as_ref().map(|section| resolve_judge(section, problems));
    if !problems.is_empty() {
        return None;
    }
    let mut config = Config {
        file: context.file.to_owned(),
        servers: vec![server?],
        source: source?,
        run: run?,
        report: report?,
        judge: judge.map_or(Some(None), |judge| judge.map(Some))?,
        prices: Prices::new(file.prices.clone()),
        notices: Vec::new(),
    };
    config.notices.extend(config.too_short());
    Some(config)
}

fn resolve_source(section: &TestcasesSection, context: &Context<'_>, problems: &mut Problems) -> Option<Source> {
    let path = section.path.as_ref()?;
    let path = resolve_path(path, context.base, context.variables.shell, problems)?;
    Some(Source::Filesystem { path })
}

fn resolve_report(section: &ReportSection, context: &Context<'_>, problems: &mut Problems) -> Option<ReportSettings> {
    let out_dir = match &section.out_dir {
        Some(text) => resolve_path(text, context.base, context.variables.shell, problems)?,
        None => context.base.join("reports"),
    };
    let formats = section.formats.clone().unwrap_or_else(|| ReportFormat::ALL.to_vec());
    Some(ReportSettings { out_dir, formats })
}
