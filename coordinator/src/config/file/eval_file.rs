//! The file as a whole.

use std::collections::BTreeMap;

use super::judge::JudgeSection;
use super::mcp::McpSection;
use super::prices;
use super::report::ReportSection;
use super::run::RunSection;
use super::testcases::TestcasesSection;
use mcproctor_proto::price::Price;

use crate::yaml::{Item, KeyPath, Node, Problems};

/// Everything in the file. A section that is missing although it is needed, or cannot be read, is `None`.
pub(in crate::config) struct EvalFile {
    pub(in crate::config) mcp: Option<McpSection>,
    pub(in crate::config) testcases: Option<TestcasesSection>,
    pub(in crate::config) run: RunSection,
    pub(in crate::config) report: ReportSection,
    pub(in crate::config) judge: Option<JudgeSection>,
    pub(in crate::config) prices: BTreeMap<String, Price>,
}

impl EvalFile {
    /// Reads a tree whose variables are filled in.
    pub(in crate::config) fn read(root: &Node, problems: &mut Problems) -> Option<Self> {
        let item = Item {
            node: root,
            path: KeyPath::root(),
        };
        let mut fields = item.fields(problems)?;
        fields.later(&["telemetry", "variants"]);
        // Read before everything else: it says where variables come from.
        fields.get("envFile");
        let mcp = fields.require("mcp", problems);
        let testcases = fields.require("testcases", problems);
        let run = fields.get("run");
        let report = fields.get("report");
        let judge = fields.get("judge");
        let prices = fields.get("prices");
        fields.finish(problems);
        Some(Self {
            mcp: mcp.and_then(|item| McpSection::read(&item, problems)),
            testcases: testcases.and_then(|item| TestcasesSection::read(&item, problems)),
            run: run
                .and_then(|item| RunSection::read(&item, problems))
                .unwrap_or_default(),
            report: report
                .and_then(|item| ReportSection::read(&item, problems))
                .unwrap_or_default(),
            judge: judge.and_then(|item| JudgeSection::read(&item, problems)),
            prices: prices
                .and_then(|item| prices::read(&item, problems))
                .unwrap_or_default(),
        })
    }
}
