//! `mcp`: the server under test.

use crate::yaml::{Fields, Item, Problems, Text};

/// The section.
pub(in crate::config) struct McpSection {
    pub(in crate::config) name: Option<Text>,
    pub(in crate::config) transport: Option<TransportSection>,
}

/// Which of the two kinds of server it is.
pub(in crate::config) enum TransportSection {
    Http(HttpSection),
    Stdio(StdioSection),
}

/// A server at a URL.
pub(in crate::config) struct HttpSection {
    pub(in crate::config) url: Text,
    pub(in crate::config) headers: Vec<HeaderEntry>,
    pub(in crate::config) ca_file: Option<Text>,
}

/// One injected header.
pub(in crate::config) struct HeaderEntry {
    pub(in crate::config) name: Text,
    pub(in crate::config) value: Text,
}

/// A server that is started as a child.
pub(in crate::config) struct StdioSection {
    pub(in crate::config) command: Text,
    pub(in crate::config) args: Vec<Text>,
    pub(in crate::config) env: Vec<(String, Text)>,
    pub(in crate::config) cwd: Option<Text>,
}

impl McpSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&["oauth", "servers", "isolation", "reset", "maxConcurrency"]);
        let name = fields.get("name").and_then(|item| item.filled_text(problems));
        let transport = read_transport(&mut fields, problems);
        fields.finish(problems);
        Some(Self { name, transport })
    }
}

fn read_transport(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<TransportSection> {
    let url = fields.get("url");
    let command = fields.get("command");
    let over_http = [fields.get("headers"), fields.get("caFile")];
    let as_child = [fields.get("args"), fields.get("env"), fields.get("cwd")];
    match (url, command) {
        (Some(_), Some(command)) => {
            let problem = command.problem(problems, "both `url` and `command` are given");
            problems.add(problem.remedy("keep `url` for a server that runs already, `command` for one to be started"));
            None
        }
        (None, None) => {
            let problem = problems.new_problem("the key is missing").at(fields.place());
            let problem = problem.key(&fields.path().key("url"));
            problems
                .add(problem.remedy("add `url`, or `command` for a server that is started and spoken to over stdio"));
            None
        }
        (Some(url), None) => {
            refuse(&as_child, "only a server with `command` has it", problems);
            let [headers, ca_file] = over_http;
            let headers = headers.map_or_else(Vec::new, |item| read_headers(&item, problems));
            let ca_file = ca_file.and_then(|item| item.filled_text(problems));
            Some(TransportSection::Http(HttpSection {
                url: url.filled_text(problems)?,
                headers,
                ca_file,
            }))
        }
        (None, Some(command)) => {
            refuse(&over_http, "only a server with `url` has it", problems);
            let [args, env, cwd] = as_child;
            let args = args.and_then(|item| item.texts(problems)).unwrap_or_default();
            let env = env.and_then(|item| item.named_texts(problems)).unwrap_or_default();
            let cwd = cwd.and_then(|item| item.filled_text(problems));
            Some(TransportSection::Stdio(StdioSection {
                command: command.filled_text(problems)?,
                args,
                env,
                cwd,
            }))
        }
    }
}

fn refuse(items: &[Option<Item<'_>>], why: &str, problems: &mut Problems) {
    for item in items.iter().flatten() {
        problems.add(item.problem(problems, why).remedy("remove the key"));
    }
}

fn read_headers(item: &Item<'_>, problems: &mut Problems) -> Vec<HeaderEntry> {
    let items = item.list(problems).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| HeaderEntry::read(item, problems))
        .collect()
}

impl HeaderEntry {
    fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        let name = fields
            .require("name", problems)
            .and_then(|item| item.filled_text(problems));
        let value = fields.require("value", problems).and_then(|item| item.text(problems));
        fields.finish(problems);
        Some(Self {
            name: name?,
            value: value?,
        })
    }
}
