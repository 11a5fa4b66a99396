//! One test case.

use sha2::{Digest, Sha256};

use crate::expectation::Expectations;
use crate::record::{AnswerChoice, TestCaseRecord, Tone};

/// A prompt, and what an agent should do with it.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// Its name, unique in its source.
    pub name: String,
    /// Its file, relative to the source.
    pub file: String,
    /// The first message to the agent, exactly as written.
    pub prompt: String,
    /// Tools that must be called; a name N times means at least N successful calls.
    pub expected_tools: Vec<String>,
    /// What is expected beside them.
    pub expectations: Expectations,
    /// Scripted replies, sent one after another while expectations are unmet.
    pub answers: Vec<String>,
    /// What a right answer says, for the judge and for readers.
    pub expected_outcome: Option<String>,
    /// Who picks among `answers`.
    pub answer_choice: AnswerChoice,
    /// How the agent is to speak.
    pub tone: Option<Tone>,
}

impl TestCase {
    /// Why it cannot be used without a judge, if so: the key that needs one.
    pub fn needs_judge(&self) -> Option<&'static str> {
        if self.answer_choice == AnswerChoice::Judge {
            return Some("answers.choose");
        }
        self.tone.as_ref().map(|_| "tone")
    }

    /// Whether `--filter` names it: `part` is in its name or in its file.
    pub fn matches(&self, part: &str) -> bool {
        self.name.contains(part) || self.file.contains(part)
    }
}

impl From<&TestCase> for TestCaseRecord {
    fn from(case: &TestCase) -> Self {
        Self {
            name: case.name.clone(),
            file: case.file.clone(),
            prompt: case.prompt.clone(),
            expected_tools: case.expected_tools.clone(),
            expectations: case.expectations.clone(),
            answers: case.answers.clone(),
            expected_outcome: case.expected_outcome.clone(),
            answer_choice: case.answer_choice,
            tone: case.tone.clone(),
        }
    }
}

/// SHA-256, in hex, of test cases in their order: of everything that decides what an iteration is.
pub fn fingerprint(cases: &[TestCase]) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    for case in cases {
        part(&case.name);
        part(&case.file);
        part(&case.prompt);
        for list in [&case.expected_tools, &case.answers] {
            part(&list.len().to_string());
            list.iter().for_each(|text| part(text));
        }
        // Texts and numbers only, so there is nothing that could not be written.
        part(&serde_json::to_string(&case.expectations).unwrap_or_default());
        part(if case.expected_outcome.is_some() { "1" } else { "0" });
        part(case.expected_outcome.as_deref().unwrap_or_default());
        part(if case.answer_choice == AnswerChoice::Judge {
            "judge"
        } else {
            ""
        });
        if let Some(tone) = &case.tone {
            part(&tone.rubric);
            part(if tone.gate { "gate" } else { "" });
        }
    }
    hex::encode(hash.finalize())
}
