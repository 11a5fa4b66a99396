//! Why a comparison is refused.

/// Why a comparison is refused: it would say nothing, or something wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Both sides are one agent of one run.
    #[error("compare {0} with itself: name two runs, or two agents")]
    Same(String),
    /// One run was graded from the other, or both from a third.
    #[error(
        "compare {a} with {b}: both judge the same recordings, so there is nothing independent to compare; \
             `mcproctor grade` says what it changed"
    )]
    SameRecordings {
        /// The first side.
        a: String,
        /// The second side.
        b: String,
    },
    /// A run has no agent of that name.
    #[error("find agent {agent:?} in run {run}: it has {known}")]
    NoSuchAgent {
        /// The name asked for.
        agent: String,
        /// The run.
        run: String,
        /// The agents that it has.
        known: String,
    },
    /// One run was named, and not which two of its agents.
    #[error("choose two agents of run {run}: it has {known}; name two with --agent, or a second run")]
    WhichAgents {
        /// The run.
        run: String,
        /// The agents that it has.
        known: String,
    },
    /// More than two agents were named.
    #[error("compare {0} agents: name two at most")]
    TooManyAgents(usize),
    /// The runs have no agent in common.
    #[error("match agents: {a} has {known_a}, {b} has {known_b}; name one of each with --agent")]
    NoCommonAgent {
        /// The first run.
        a: String,
        /// The agents of the first run.
        known_a: String,
        /// The second run.
        b: String,
        /// The agents of the second run.
        known_b: String,
    },
    /// No test case is the same on both sides and has valid iterations on both.
    #[error("compare {a} with {b}: they have no test case in common{}", because(.reasons))]
    NoCommonCase {
        /// The first side.
        a: String,
        /// The second side.
        b: String,
        /// Why test cases were left out, a few of them.
        reasons: Vec<String>,
    },
}

fn because(reasons: &[String]) -> String {
    if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join("; "))
    }
}
