//! Made-up runs for tests and for looking at the output: the same events every time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::call::CallState;
use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;

use crate::event::{AttemptKey, Envelope, Event};
use crate::judge::{Agreement, JudgeVerdict};
use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::record::{AgentRecord, AnswerChoice, JudgeRecord, RunRecord, RunState, TestCaseRecord};

/// When every sample starts: 2026-11-30 06:54:57 UTC.
pub(crate) const START: i64 = 1_796_021_697_000;

const TOOLS: [&str; 4] = ["get_current_weather", "get_forecast", "list_cities", "compare"];

/// What a sample is made of.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Names of the agents.
    pub(crate) agents: Vec<String>,
    /// Names of the test cases.
    pub(crate) cases: Vec<String>,
    /// Iterations of each cell.
    pub(crate) iterations: u32,
    /// Iterations at once.
    pub(crate) slots: u32,
    /// Of a thousand iterations so many fail.
    pub(crate) failing: u64,
    /// Of a thousand attempts so many are invalid.
    pub(crate) invalid: u64,
    /// Whether there is a judge; it agrees with most of what was measured.
    pub(crate) judge: bool,
}

impl Sample {
    /// A run of one agent over so many test cases, of which most pass.
    pub(crate) fn new(cases: usize, iterations: u32, slots: u32) -> Self {
        const NAMES: [&str; 5] = [
            "compare two forecasts",
            "current weather lookup",
            "list supported cities",
            "weekend plan with an unusually long name that has to be cut somewhere",
            "unknown city",
        ];
        let name = |index: usize| match (index / NAMES.len(), NAMES.get(index % NAMES.len())) {
            (0, Some(name)) => (*name).to_owned(),
            (round, Some(name)) => format!("{name} {}", round + 1),
            (_, None) => String::new(),
        };
        Self {
            agents: vec!["claude".to_owned()],
            cases: (0..cases).map(name).collect(),
            iterations,
            slots,
            failing: 80,
            invalid: 30,
            judge: false,
        }
    }

    /// The plan.
    pub(crate) fn run(&self) -> RunRecord {
        RunRecord {
            id: RunId::new("2026-11-30T06-54-57-3fa9"),
            version: "0.1.0".to_owned(),
            started_at_unix_ms: START,
            config_file: "examples/eval.yaml".to_owned(),
            config_sha256: String::new(),
            servers: Vec::new(),
            agents: self.agents.iter().map(|name| agent(name)).collect(),
            test_cases: self.cases.iter().map(|name| case(name)).collect(),
            iterations: self.iterations,
            max_attempts: 3,
            seed: 7,
            notices: Vec::new(),
            thresholds: Default::default(),
            judge: self.judge.then(judge),
            graded_from: None,
            stopped: None,
        }
    }

    /// Everything that happens, in order of time, from the plan to the end.
    pub(crate) fn events(&self) -> Vec<Envelope> {
        let cells = u32::try_from(self.agents.len() * self.cases.len()).unwrap_or(u32::MAX);
        let mut waiting: VecDeque<(AttemptKey, i64)> = VecDeque::new();
        for iteration in 1..=self.iterations {
            for cell in 0..cells {
                // Each block of one iteration per cell starts at another cell.
                let cell = (cell + iteration * 7) % cells;
                waiting.push_back((
                    AttemptKey {
                        cell,
                        iteration,
                        attempt: 1,
                    },
                    START,
                ));
            }
        }
        let mut events = vec![
            Envelope {
                at: START,
                event: Event::RunStarted {
                    run: Box::new(self.run()),
                    already: 0,
                },
            },
            Envelope {
                at: START,
                event: Event::ReportWritten {
                    path: "/home/user/weather/reports/latest/report.html".to_owned(),
                },
            },
        ];
        let mut free: BinaryHeap<Reverse<(i64, u32)>> = (0..self.slots).map(|slot| Reverse((START, slot))).collect();
        let mut end = START;
        while let (Some((key, ready)), Some(Reverse((at, slot)))) = (waiting.pop_front(), free.pop()) {
            let done = self.attempt(key, at.max(ready), slot, &mut events);
            if matches!(
                &events.last(),
                Some(Envelope {
                    event: Event::AttemptFinished { last: false, .. },
                    ..
                })
            ) {
                waiting.push_back((
                    AttemptKey {
                        attempt: key.attempt + 1,
                        ..key
                    },
                    done + 1000,
                ));
            }
            free.push(Reverse((done + 40, slot)));
            end = end.max(done);
        }
        events.sort_by_key(|envelope| envelope.at);
        let finished = Event::RunFinished {
            run: self.run().id,
            state: RunState::Completed,
        };
        events.push(Envelope {
            at: end + 200,
            event: finished,
        });
        events
    }

    /// The events of one attempt; gives back when it ended.
    fn attempt(&self, key: AttemptKey, at: i64, slot: u32, events: &mut Vec<Envelope>) -> i64 {
        let chance = mix(u64::from(key.cell) << 40 | u64::from(key.iteration) << 8 | u64::from(key.attempt));
        let duration = 3_000 + i64::try_from(chance % 9_000).unwrap_or(0);
        let mut say = |after: i64, event: Event| events.push(Envelope { at: at + after, event });
        say(
            0,
            Event::AttemptStarted {
                key,
                worker: format!("worker-{}", slot / 4 + 1),
            },
        );
        say(200, Event::TurnStarted { key, turn: 0 });
        let calls = 1 + chance / 7 % 3;
        for call in 0..calls {
            let tool = TOOLS
                .get((chance / 11 + call) as usize % TOOLS.len())
                .copied()
                .unwrap_or("tool")
                .to_owned();
            let start = 800 + i64::try_from(call).unwrap_or(0) * (duration - 900) / 3;
            let id = call.to_string();
            say(
                start,
                Event::CallStarted {
                    key,
                    call: id.clone(),
                    tool: tool.clone(),
                },
            );
            let state = if chance / 13 % 20 == call {
                CallState::ToolError
            } else {
                CallState::Ok
            };
            say(
                start + 350,
                Event::CallEnded {
                    key,
                    call: id,
                    tool,
                    state,
                    duration_ms: 350,
                },
            );
        }
        let (outcome, reason) = self.outcome(chance);
        let last = !matches!(outcome, Outcome::Invalid(_)) || key.attempt == 3 || chance.is_multiple_of(5);
        let duration_ms = u64::try_from(duration).unwrap_or(0);
        let finished = Event::AttemptFinished {
            key,
            outcome,
            reason: reason.to_owned(),
            last,
            duration_ms,
        };
        say(duration, finished);
        if self.judge && last && matches!(outcome, Outcome::Passed | Outcome::Failed(_)) {
            say(duration + 30, judged(key, outcome, chance));
        }
        at + duration
    }

    fn outcome(&self, chance: u64) -> (Outcome, &'static str) {
        let dice = chance / 17 % 1000;
        if dice < self.failing {
            return match chance % 6 {
                0 => (Outcome::Failed(FailureClass::RanOutOfTime), "no answer within 300 s"),
                _ => (
                    Outcome::Failed(FailureClass::WrongTool),
                    "get_forecast: 1 of 2 successful calls",
                ),
            };
        }
        if dice < self.failing + self.invalid {
            return match chance % 3 {
                0 => (
                    Outcome::Invalid(InvalidCause::Server),
                    "tools/call get_forecast: HTTP 503",
                ),
                _ => (Outcome::Invalid(InvalidCause::Model), "model answered 529"),
            };
        }
        (Outcome::Passed, "")
    }
}

fn judge() -> JudgeRecord {
    JudgeRecord {
        base_url: "http://127.0.0.1:11434/v1".to_owned(),
        model: "qwen2.5:7b".to_owned(),
    }
}

fn judged(key: AttemptKey, outcome: Outcome, chance: u64) -> Event {
    let passed = outcome == Outcome::Passed;
    let verdict = match (chance / 19 % 8, passed) {
        (0, _) => JudgeVerdict::Uncertain,
        (1, _) => JudgeVerdict::Error,
        (2, true) | (3.., false) => JudgeVerdict::Fail,
        (2, false) | (3.., true) => JudgeVerdict::Pass,
    };
    Event::Judged {
        key,
        verdict,
        agreement: Agreement::between(outcome, verdict),
        reasoning: "Names a temperature that no tool returned.".to_owned(),
        tone: None,
        model: judge().model,
        usage: Usage {
            input_tokens: Some(1_200),
            output_tokens: Some(60),
            ..Usage::default()
        },
        duration_ms: 900,
    }
}

fn agent(name: &str) -> AgentRecord {
    AgentRecord {
        name: name.to_owned(),
        kind: "claude".to_owned(),
        model: Some("a-model-4".to_owned()),
        version: Some("2.1.197".to_owned()),
        sandbox: SandboxLevel::Process,
        image: None,
        builtin_tools: "none".to_owned(),
        tool_loading: None,
        own_login: false,
        price: None,
    }
}

fn case(name: &str) -> TestCaseRecord {
    TestCaseRecord {
        name: name.to_owned(),
        file: format!("{name}.yaml"),
        prompt: "What is the weather in Vienna?".to_owned(),
        expected_tools: vec!["get_forecast".to_owned()],
        expectations: Default::default(),
        answers: Vec::new(),
        expected_outcome: None,
        answer_choice: AnswerChoice::InOrder,
        tone: None,
    }
}

/// SplitMix64: well mixed numbers without a random source.
fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) >> 1
}
