//! `run.gateway`: where agents reach their models, and what their tokens are signed with.

use crate::yaml::{Item, Problems, Text};

/// The section.
pub(in crate::config) struct GatewaySection {
    pub(in crate::config) url: Option<Text>,
    pub(in crate::config) token_key: Option<Text>,
    pub(in crate::config) ca_file: Option<Text>,
}

impl GatewaySection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        let url = fields.require("url", problems);
        let token_key = fields.require("tokenKey", problems);
        let ca_file = fields.get("caFile");
        fields.finish(problems);
        let mut text = |item: Option<Item<'_>>| item.and_then(|item| item.filled_text(problems));
        Some(Self {
            url: text(url),
            token_key: text(token_key),
            ca_file: text(ca_file),
        })
    }
}
