//! `testcases`: where test cases come from.

use crate::yaml::{Item, Problems, Text};

/// The section. `filesystem` is the only source of this version.
pub(in crate::config) struct TestcasesSection {
    pub(in crate::config) path: Option<Text>,
}

impl TestcasesSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&[
            "bucket",
            "prefix",
            "region",
            "endpoint",
            "forcePathStyle",
            "url",
            "ref",
            "token",
            "sshKeyFile",
            "knownHostsFile",
            "format",
        ]);
        if let Some(item) = fields.get("source") {
            item.word(&[("filesystem", ())], &["s3", "git"], problems);
        }
        let path = fields.require("path", problems).and_then(|item| {
            // An unquoted `~` is the home folder, as in a shell, and not YAML's null.
            item.text(problems)
        });
        fields.finish(problems);
        Some(Self { path })
    }
}
