//! `run.limits`.

use std::fmt;

use crate::words::counted;

/// What a run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// US dollars, above 0.
    pub max_cost_usd: Option<f64>,
    /// Tokens read and written, at least 1.
    pub max_tokens: Option<u64>,
    /// Requests to the models, over all agents, at least 1.
    pub requests_per_minute: Option<u32>,
}

impl Limits {
    /// Whether anything is limited.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }

    /// The limits in words: `at most $2.50 and 60 requests a minute`; empty without any.
    pub fn in_words(&self) -> String {
        let cost = self.max_cost_usd.map(|usd| Limit::Cost { usd }.to_string());
        let tokens = self.max_tokens.map(|tokens| Limit::Tokens { tokens }.to_string());
        let rate = self
            .requests_per_minute
            .map(|requests| format!("{} a minute", counted(requests, "request")));
        let parts: Vec<String> = [cost, tokens, rate].into_iter().flatten().collect();
        match parts.split_last() {
            None => String::new(),
            Some((only, [])) => format!("at most {only}"),
            Some((last, others)) => format!("at most {} and {last}", others.join(", ")),
        }
    }
}

/// A limit that can be used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// `run.limits.maxTokens`.
    Tokens {
        /// Tokens read and written.
        tokens: u64,
    },
    /// `run.limits.maxCostUsd`.
    Cost {
        /// US dollars.
        usd: f64,
    },
}

impl Limit {
    /// Its key in the config.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tokens { .. } => "run.limits.maxTokens",
            Self::Cost { .. } => "run.limits.maxCostUsd",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Tokens { tokens } => f.write_str(&counted(tokens, "token")),
            // Never nothing: two digits that count, of amounts that are accounted for (nanodollars).
            Self::Cost { usd } if usd > 0.0 && usd < 0.0001 => {
                let shown = format!("{:.9}", usd.max(1e-9));
                let leading = shown.len() - shown.trim_start_matches(['0', '.']).len();
                let cut = shown.len().min(leading + 2);
                write!(f, "${}", shown[..cut].trim_end_matches('0'))
            }
            // Four digits show what a single cheap request costs.
            Self::Cost { usd } if (usd * 100.0 - (usd * 100.0).round()).abs() > 1e-9 => write!(f, "${usd:.4}"),
            Self::Cost { usd } => write!(f, "${usd:.2}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_said_in_one_phrase() {
        let mut limits = Limits::default();
        assert_eq!(limits.in_words(), "");
        limits.max_cost_usd = Some(2.5);
        assert_eq!(limits.in_words(), "at most $2.50");
        limits.requests_per_minute = Some(60);
        assert_eq!(limits.in_words(), "at most $2.50 and 60 requests a minute");
        limits.max_tokens = Some(1_000);
        assert_eq!(limits.in_words(), "at most $2.50, 1000 tokens and 60 requests a minute");
        assert_eq!(Limit::Cost { usd: 0.0125 }.to_string(), "$0.0125");
        assert_eq!(Limit::Cost { usd: 0.29 }.to_string(), "$0.29");
        limits = Limits {
            max_cost_usd: Some(0.000_012_34),
            max_tokens: Some(1),
            requests_per_minute: Some(1),
        };
        assert_eq!(limits.in_words(), "at most $0.000012, 1 token and 1 request a minute");
        for (usd, said) in [
            (0.0001, "$0.0001"),
            (0.000_05, "$0.00005"),
            (1e-9, "$0.000000001"),
            (1e-300, "$0.000000001"),
        ] {
            assert_eq!(Limit::Cost { usd }.to_string(), said);
        }
    }
}
