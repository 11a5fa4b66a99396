//! An entry of `run.agents`: a name, or a mapping with everything about the agent.

use mcproctor_proto::agent::{AgentKind, BuiltinTools, ModelApi, PromptInput, ToolLoading};
use mcproctor_proto::assignment::SandboxLevel;

use super::sandbox::read_level;
use crate::yaml::{Fields, Item, KeyPath, Place, Problems, Text, Value};

/// One entry.
pub(in crate::config) enum AgentEntry {
    /// `claude` or `codex`, with nothing changed about it.
    Named(AgentKind),
    /// A mapping.
    Full(Box<AgentSection>),
}

/// An agent in full.
pub(in crate::config) struct AgentSection {
    pub(in crate::config) place: Place,
    pub(in crate::config) path: KeyPath,
    pub(in crate::config) kind: AgentKind,
    pub(in crate::config) name: Option<Text>,
    pub(in crate::config) model: Option<Text>,
    pub(in crate::config) api_key: Option<Text>,
    pub(in crate::config) base_url: Option<Text>,
    /// Only with `run.gateway`.
    pub(in crate::config) gateway_model: Option<Text>,
    pub(in crate::config) args: Vec<Text>,
    pub(in crate::config) env: Vec<(String, Text)>,
    pub(in crate::config) builtin_tools: BuiltinTools,
    pub(in crate::config) tool_loading: Option<ToolLoading>,
    pub(in crate::config) sandbox: Option<SandboxLevel>,
    /// Only, and always, for `kind: command`.
    pub(in crate::config) command: Option<CommandSection>,
}

/// What only an agent of kind `command` has.
pub(in crate::config) struct CommandSection {
    pub(in crate::config) program: Text,
    pub(in crate::config) resume_args: Option<Vec<Text>>,
    pub(in crate::config) prompt: PromptInput,
    pub(in crate::config) answer: AnswerSection,
    pub(in crate::config) model_api: Option<ModelApi>,
}

/// How the answer is read.
pub(in crate::config) enum AnswerSection {
    Text,
    Json(Text),
    JsonLines(Text),
}

const NAMED: [(&str, AgentKind); 2] = [("claude", AgentKind::Claude), ("codex", AgentKind::Codex)];
const KINDS: [(&str, AgentKind); 3] = [
    ("claude", AgentKind::Claude),
    ("codex", AgentKind::Codex),
    ("command", AgentKind::Command),
];
const LATER_KINDS: [&str; 3] = ["api", "opencode", "pi"];
const BUILTIN_TOOLS: [(&str, BuiltinTools); 2] = [("none", BuiltinTools::None), ("default", BuiltinTools::Default)];
const TOOL_LOADING: [(&str, ToolLoading); 2] = [("upfront", ToolLoading::Upfront), ("deferred", ToolLoading::Deferred)];
const MODEL_APIS: [(&str, ModelApi); 3] = [
    ("chatCompletions", ModelApi::ChatCompletions),
    ("responses", ModelApi::Responses),
    ("messages", ModelApi::Messages),
];
const PROMPT_INPUTS: [(&str, PromptInput); 2] = [("stdin", PromptInput::Stdin), ("argument", PromptInput::Argument)];

impl AgentEntry {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        match &item.node.value {
            Value::Scalar(_) => item.word(&NAMED, &LATER_KINDS, problems).map(Self::Named),
            Value::Mapping(_) => AgentSection::read(item, problems).map(|section| Self::Full(Box::new(section))),
            Value::Sequence(_) => {
                problems.add(item.unexpected("`claude`, `codex`, or a mapping with a `kind`", problems));
                None
            }
        }
    }
}

impl AgentSection {
    fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&["variant", "variants", "limits"]);
        let kind = fields
            .require("kind", problems)
            .and_then(|item| item.word(&KINDS, &LATER_KINDS, problems));
        let mut text = |key, problems: &mut Problems| fields.get(key).and_then(|item| item.filled_text(problems));
        let name = text("name", problems);
        let model = text("model", problems);
        let api_key = text("apiKey", problems);
        let base_url = text("baseUrl", problems);
        let gateway_model = text("gatewayModel", problems);
        let args = fields
            .get("args")
            .and_then(|item| item.texts(problems))
            .unwrap_or_default();
        let env = fields
            .get("env")
            .and_then(|item| item.named_texts(problems))
            .unwrap_or_default();
        let builtin_tools = fields.get("builtinTools");
        let tool_loading = fields.get("toolLoading");
        let sandbox = fields.get("sandbox").and_then(|item| read_level(&item, problems));
        let command = read_command(&mut fields, kind, problems);
        let place = fields.place();
        fields.finish(problems);
        let kind = kind?;
        if kind == AgentKind::Command {
            refuse(
                &builtin_tools,
                "a command brings the tools that its arguments give it",
                problems,
            );
        }
        if kind != AgentKind::Claude {
            refuse(&tool_loading, "only an agent of kind `claude` has the choice", problems);
        }
        Some(Self {
            place,
            path: item.path.clone(),
            kind,
            name,
            model,
            api_key,
            base_url,
            gateway_model,
            args,
            env,
            builtin_tools: builtin_tools
                .and_then(|item| item.word(&BUILTIN_TOOLS, &[], problems))
                .unwrap_or_default(),
            tool_loading: tool_loading.and_then(|item| item.word(&TOOL_LOADING, &[], problems)),
            sandbox,
            command,
        })
    }
}

impl AgentSection {
    /// The name in reports: the one that is given, else the kind's.
    pub(in crate::config) fn shown_name(&self) -> &str {
        self.name.as_ref().map_or(self.kind.name(), |text| text.value.as_str())
    }
}

fn refuse(item: &Option<Item<'_>>, why: &str, problems: &mut Problems) {
    if let Some(item) = item {
        problems.add(item.problem(problems, why).remedy("remove the key"));
    }
}

fn read_command(fields: &mut Fields<'_>, kind: Option<AgentKind>, problems: &mut Problems) -> Option<CommandSection> {
    if kind == Some(AgentKind::Command) {
        let program = fields
            .require("command", problems)
            .and_then(|item| item.filled_text(problems));
        let resume_args = fields.get("resumeArgs").and_then(|item| item.texts(problems));
        let prompt = fields
            .get("prompt")
            .and_then(|item| item.word(&PROMPT_INPUTS, &[], problems));
        let answer = fields.get("answer").map(|item| AnswerSection::read(&item, problems));
        let model_api = fields
            .get("modelApi")
            .and_then(|item| item.word(&MODEL_APIS, &[], problems));
        return Some(CommandSection {
            program: program?,
            resume_args,
            prompt: prompt.unwrap_or_default(),
            answer: answer.unwrap_or(Some(AnswerSection::Text))?,
            model_api,
        });
    }
    for key in ["command", "resumeArgs", "prompt", "answer", "modelApi"] {
        let item = fields.get(key);
        // With an unknown kind there is a problem already.
        if kind.is_some() {
            refuse(&item, "only an agent of kind `command` has it", problems);
        }
    }
    None
}

impl AnswerSection {
    fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        const ACCEPTED: &str = "`text`, `{json: /pointer}` or `{jsonLines: /pointer}`";
        if let Value::Scalar(_) = &item.node.value {
            return item.word(&[("text", ())], &[], problems).map(|()| Self::Text);
        }
        let mut fields = item.fields(problems)?;
        let json = fields.get("json");
        let json_lines = fields.get("jsonLines");
        fields.finish(problems);
        match (json, json_lines) {
            (Some(pointer), None) => pointer.text(problems).map(Self::Json),
            (None, Some(pointer)) => pointer.text(problems).map(Self::JsonLines),
            (None, None) | (Some(_), Some(_)) => {
                problems.add(
                    item.problem(problems, "not exactly one way of reading the answer")
                        .accepted(ACCEPTED),
                );
                None
            }
        }
    }
}
