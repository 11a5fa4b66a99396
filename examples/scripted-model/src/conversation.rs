//! A request as every dialect reads it: who said what so far, and which tools are offered.

/// A request for the model's next turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// A stream is to end with its token counts, where the API leaves that to the caller.
    pub(crate) stream_usage: bool,
    /// What the agent itself calls this conversation, if it does.
    pub(crate) session: Option<String>,
    /// The agent asks on its own account (a title, a quota check), outside the conversation.
    pub(crate) side: bool,
    pub(crate) entries: Vec<Entry>,
    pub(crate) tools: Vec<OfferedTool>,
    /// Size of the request, which the token counts derive from.
    pub(crate) bytes: usize,
}

/// One thing said, in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    User(String),
    /// A piece of a turn of the model, with the mark of the turn where one has survived.
    Model(Option<Mark>),
    ToolResult(String),
}

/// Which turn of which conversation a tool call belongs to, carried in the call's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Mark {
    pub(crate) conversation: u64,
    pub(crate) turn: usize,
    /// A search for the turn's tools, which comes before the turn itself.
    pub(crate) search: bool,
}

impl Mark {
    /// The id of the turn's call number `index`.
    pub(crate) fn call_id(self, index: usize) -> String {
        let index = if self.search { "s".to_owned() } else { index.to_string() };
        format!("call_c{}_t{}_{index}", self.conversation, self.turn)
    }

    /// The mark in an id made by [`Mark::call_id`].
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let mut parts = id.strip_prefix("call_c")?.split('_');
        let conversation = parts.next()?.parse().ok()?;
        let turn = parts.next()?.strip_prefix('t')?.parse().ok()?;
        Some(Self {
            conversation,
            turn,
            search: parts.next() == Some("s"),
        })
    }
}

/// A tool the agent offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) kind: ToolKind,
}

/// How a tool has to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolKind {
    Function,
    /// A function in a namespace of the Responses API.
    Namespaced(String),
    /// The Responses API's own shell.
    LocalShell,
    /// The Responses API's search for tools that are offered later.
    ToolSearch,
    /// A JavaScript tool that can call further tools; its description declares some of them.
    JavaScript {
        namespace: Option<String>,
        description: String,
    },
}

impl Conversation {
    /// What the user said before the model first answered, without what agents put around it.
    pub(crate) fn first_message(&self) -> String {
        let texts = self.entries.iter().map_while(|entry| match entry {
            Entry::User(text) => Some(text.as_str()),
            Entry::Model(_) | Entry::ToolResult(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Everything the user said, in order.
    pub(crate) fn user_texts(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::User(text) => Some(text.as_str()),
            Entry::Model(_) | Entry::ToolResult(_) => None,
        })
    }

    /// The newest tool result.
    pub(crate) fn last_result(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::ToolResult(text) => Some(text.as_str()),
            Entry::User(_) | Entry::Model(_) => None,
        })
    }

    /// The newest mark.
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Model(mark) => *mark,
            Entry::User(_) | Entry::ToolResult(_) => None,
        })
    }

    /// How many turns the model has had: by the newest mark, and from there on by counting runs of its pieces.
    pub(crate) fn turns(&self) -> usize {
        let mut turns = 0;
        let mut in_turn = false;
        for entry in &self.entries {
            match entry {
                Entry::Model(Some(mark)) => {
                    turns = if mark.search { mark.turn } else { mark.turn + 1 };
                    in_turn = true;
                }
                Entry::Model(None) if !in_turn => {
                    turns += 1;
                    in_turn = true;
                }
                Entry::Model(None) => {}
                Entry::User(_) | Entry::ToolResult(_) => in_turn = false,
            }
        }
        turns
    }
}

/// Whether a user text is something agents send along rather than what the user wrote.
pub(crate) fn is_preamble(text: &str) -> bool {
    const STARTS: [&str; 5] = [
        "<system-reminder>",
        "<environment_context>",
        "<user_instructions>",
        "<permissions",
        "# AGENTS.md instructions",
    ];
    let text = text.trim_start();
    STARTS.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(entries: Vec<Entry>) -> Conversation {
        Conversation {
            entries,
            ..Conversation::default()
        }
    }

    fn marked(turn: usize) -> Entry {
        Entry::Model(Some(Mark {
            conversation: 1,
            turn,
            search: false,
        }))
    }

    #[test]
    fn a_mark_survives_its_id() {
        let mark = Mark {
            conversation: 12,
            turn: 3,
            search: false,
        };
        assert_eq!(Mark::parse(&mark.call_id(7)), Some(mark));
        let search = Mark { search: true, ..mark };
        assert_eq!(Mark::parse(&search.call_id(0)), Some(search));
        assert_eq!(Mark::parse("call_abc"), None);
    }

    #[test]
    fn turns_are_counted_by_runs_where_no_mark_survived() {
        let said = |text: &str| Entry::User(text.to_owned());
        let result = || Entry::ToolResult(String::new());
        assert_eq!(conversation(vec![said("a")]).turns(), 0);
        assert_eq!(
            conversation(vec![said("a"), Entry::Model(None), Entry::Model(None), result()]).turns(),
            1
        );
        assert_eq!(
            conversation(vec![said("a"), Entry::Model(None), said("b"), Entry::Model(None)]).turns(),
            2
        );
    }

    #[test]
    fn parallel_calls_listed_one_by_one_with_their_results_are_one_turn() {
        let entries = vec![
            Entry::User("a".to_owned()),
            marked(0),
            Entry::ToolResult(String::new()),
            marked(0),
            Entry::ToolResult(String::new()),
        ];
        assert_eq!(conversation(entries).turns(), 1);
    }

    #[test]
    fn a_search_for_tools_is_no_turn() {
        let search = Entry::Model(Some(Mark {
            conversation: 1,
            turn: 1,
            search: true,
        }));
        let entries = vec![
            Entry::User("a".to_owned()),
            marked(0),
            Entry::ToolResult(String::new()),
            search,
        ];
        assert_eq!(conversation(entries).turns(), 1);
    }
}
