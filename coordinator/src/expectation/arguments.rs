//! `expectedArguments`: with which arguments tools are called.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fault::{Fault, Faults};
use super::json::Json;
use super::number::Number;
use super::pattern::Pattern;
use super::read_arguments;

/// All of `expectedArguments`, the tools in the order of their names. It is stored as a test case has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedArguments(Vec<ToolArguments>);

/// With which arguments one tool is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolArguments {
    /// The tool.
    pub tool: String,
    /// What its arguments are like.
    pub arguments: Pattern,
    /// In how many of its calls.
    pub calls: HowMany,
}

/// How many successful calls of a tool have the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowMany {
    /// `$calls: {atLeast: N}`; one without `$calls`.
    AtLeast(u32),
    /// `$calls: {exactly: N}`.
    Exactly(u32),
    /// `$calls: all`: every one, and there is at least one.
    All,
}

impl HowMany {
    /// The fewest successful calls with which it can be met.
    pub fn least(self) -> u32 {
        match self {
            Self::AtLeast(count) | Self::Exactly(count) => count,
            Self::All => 1,
        }
    }
}

impl ExpectedArguments {
    /// Reads the value of `expectedArguments`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(value: &Json) -> Result<Self, Vec<Fault>> {
        let mut faults = Faults::default();
        let tools = read_arguments::tools(value, &mut faults);
        faults.unless_any(tools.map(Self))
    }

    /// The value that reads as this.
    pub fn to_json(&self) -> Json {
        let mut tools: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for entry in &self.0 {
            tools.entry(entry.tool.clone()).or_default().push(entry.to_json());
        }
        let tools = tools.into_iter().map(|(tool, mut entries)| {
            let value = match (entries.len(), entries.pop()) {
                (1, Some(only)) => only,
                (_, last) => {
                    entries.extend(last);
                    Json::List(entries)
                }
            };
            (tool, value)
        });
        Json::Object(tools.collect())
    }

    /// One after another.
    pub fn iter(&self) -> std::slice::Iter<'_, ToolArguments> {
        self.0.iter()
    }

    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> IntoIterator for &'a ExpectedArguments {
    type Item = &'a ToolArguments;
    type IntoIter = std::slice::Iter<'a, ToolArguments>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ToolArguments {
    fn to_json(&self) -> Json {
        let calls = match self.calls {
            HowMany::AtLeast(1) => return self.arguments.to_json(),
            HowMany::AtLeast(count) => Json::entry("atLeast", Json::Number(Number::from(count))),
            HowMany::Exactly(count) => Json::entry("exactly", Json::Number(Number::from(count))),
            HowMany::All => Json::text("all"),
        };
        let mut entries = match self.arguments.to_json() {
            Json::Object(entries) => entries,
            other => BTreeMap::from([("$exact".to_owned(), other)]),
        };
        entries.insert("$calls".to_owned(), calls);
        Json::Object(entries)
    }
}

impl Serialize for ExpectedArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExpectedArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        Self::read(&value).map_err(|faults| {
            let first = faults.first().map(ToString::to_string);
            serde::de::Error::custom(first.unwrap_or_default())
        })
    }
}
