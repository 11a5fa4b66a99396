//! `gateway.yaml`.

use std::collections::BTreeMap;

use mcproctor_proto::agent::Dialect;
use mcproctor_proto::price::Price;

use super::{limits, prices};
use crate::limits::Limits;
use crate::yaml::{Item, KeyPath, Node, Problems, Text};

/// Everything in the file. What is missing although it is needed, or cannot be read, is `None`.
pub(in crate::config) struct GatewayFile {
    pub(in crate::config) listen: Option<Text>,
    pub(in crate::config) tls: Option<TlsSection>,
    pub(in crate::config) token_key: Option<Text>,
    pub(in crate::config) models: Vec<(String, GatewayModelSection)>,
    pub(in crate::config) limits: Limits,
    pub(in crate::config) prices: BTreeMap<String, Price>,
}

/// `tls`.
pub(in crate::config) struct TlsSection {
    pub(in crate::config) cert_file: Option<Text>,
    pub(in crate::config) key_file: Option<Text>,
}

/// An entry of `models`.
pub(in crate::config) struct GatewayModelSection {
    pub(in crate::config) api: Dialect,
    pub(in crate::config) base_url: Option<Text>,
    pub(in crate::config) api_key: Option<Text>,
    pub(in crate::config) oauth_token: Option<Text>,
}

impl GatewayFile {
    /// Reads a tree whose variables are filled in.
    pub(in crate::config) fn read(root: &Node, problems: &mut Problems) -> Option<Self> {
        let item = Item {
            node: root,
            path: KeyPath::root(),
        };
        let mut fields = item.fields(problems)?;
        // Read before everything else: it says where variables come from.
        fields.get("envFile");
        let listen = fields.get("listen");
        let tls = fields.get("tls");
        let token_key = fields.require("tokenKey", problems);
        let models = fields.require("models", problems);
        let limits = fields.get("limits");
        let prices = fields.get("prices");
        fields.finish(problems);
        Some(Self {
            listen: listen.and_then(|item| item.filled_text(problems)),
            tls: tls.and_then(|item| TlsSection::read(&item, problems)),
            token_key: token_key.and_then(|item| item.filled_text(problems)),
            models: models.map(|item| read_models(&item, problems)).unwrap_or_default(),
            limits: limits
                .and_then(|item| limits::read(&item, problems))
                .map(|(limits, _)| limits)
                .unwrap_or_default(),
            prices: prices
                .and_then(|item| prices::read(&item, problems))
                .unwrap_or_default(),
        })
    }
}

impl TlsSection {
    fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        let cert_file = fields.require("certFile", problems);
        let key_file = fields.require("keyFile", problems);
        fields.finish(problems);
        Some(Self {
            cert_file: cert_file.and_then(|item| item.filled_text(problems)),
            key_file: key_file.and_then(|item| item.filled_text(problems)),
        })
    }
}

fn read_models(item: &Item<'_>, problems: &mut Problems) -> Vec<(String, GatewayModelSection)> {
    let named = item
        .named("a mapping of names to model APIs", problems)
        .unwrap_or_default();
    if let crate::yaml::Value::Mapping(entries) = &item.node.value
        && entries.is_empty()
    {
        problems.add(
            item.problem(problems, "there is no model API")
                .remedy("add one: `anthropic: {api: anthropic, apiKey: …}`"),
        );
    }
    let mut models = Vec::new();
    for (name, item) in named {
        // Names go into tokens, and are shown.
        let valid = name.len() <= 64
            && !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !valid {
            let problem = item.problem(problems, "this cannot name a model entry");
            problems.add(problem.accepted("up to 64 letters, digits, `-`, `_` and `.`"));
            continue;
        }
        if let Some(section) = GatewayModelSection::read(&item, problems) {
            models.push((name, section));
        }
    }
    models
}

impl GatewayModelSection {
    fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        let api = fields.require("api", problems);
        let base_url = fields.get("baseUrl");
        let api_key = fields.get("apiKey");
        let oauth_token = fields.get("oauthToken");
        fields.finish(problems);
        let api = api.and_then(|item| item.word(&Dialect::ALL.map(|api| (api.name(), api)), &[], problems))?;
        match (&api_key, &oauth_token) {
            (Some(_), Some(token)) => problems.add(
                token
                    .problem(problems, "both `apiKey` and `oauthToken` are given")
                    .remedy("keep one of them"),
            ),
            (None, Some(token)) if api == Dialect::OpenAi => problems.add(
                token
                    .problem(problems, "only an API of the kind `anthropic` takes an OAuth token")
                    .remedy("use `apiKey`"),
            ),
            (None, None) if base_url.is_none() => problems.add(
                item.problem(problems, "the maker's own API takes a key, and there is none")
                    .remedy("add `apiKey`, or the `baseUrl` of an API that asks for none"),
            ),
            _ => {}
        }
        let mut text = |item: Option<Item<'_>>| item.and_then(|item| item.filled_text(problems));
        Some(Self {
            api,
            base_url: text(base_url),
            api_key: text(api_key),
            oauth_token: text(oauth_token),
        })
    }
}
