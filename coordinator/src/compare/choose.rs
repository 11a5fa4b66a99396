//! Which agents of which runs are compared.

use super::CompareError;
use super::results::Results;
use super::side::Side;

/// Two sides, the first of which the second is compared with.
pub type Sides<'a> = (Side<'a>, Side<'a>);

/// The sides to compare, and what is to be said about agents that have no counterpart.
///
/// With one run: the two agents named, or its only two. With two runs: the two agents named, one of each; the agent named, in
/// both; every agent that both have; or their only ones, whatever their names.
///
/// # Errors
///
/// [`CompareError`] when that leaves no two sides, or more than two agents are named.
pub fn choose<'a>(
    a: &'a Results,
    b: Option<&'a Results>,
    agents: &[String],
) -> Result<(Vec<Sides<'a>>, Vec<String>), CompareError> {
    let Some(b) = b else {
        return within(a, agents).map(|sides| (vec![sides], Vec::new()));
    };
    match agents {
        [] => across(a, b),
        [agent] => Ok((vec![(find(a, agent)?, find(b, agent)?)], Vec::new())),
        [one, other] => Ok((vec![(find(a, one)?, find(b, other)?)], Vec::new())),
        more => Err(CompareError::TooManyAgents(more.len())),
    }
}

fn within<'a>(run: &'a Results, agents: &[String]) -> Result<Sides<'a>, CompareError> {
    match agents {
        [one, other] => Ok((find(run, one)?, find(run, other)?)),
        [] | [_] => {
            if let (2, Some(one), Some(other)) = (run.run.agents.len(), Side::of(run, 0), Side::of(run, 1)) {
                if let [named] = agents {
                    let named = find(run, named)?;
                    return Ok(if named.is(&one) { (one, other) } else { (other, one) });
                }
                return Ok((one, other));
            }
            Err(CompareError::WhichAgents {
                run: run.run.id.to_string(),
                known: known(run),
            })
        }
        more => Err(CompareError::TooManyAgents(more.len())),
    }
}

fn across<'a>(a: &'a Results, b: &'a Results) -> Result<(Vec<Sides<'a>>, Vec<String>), CompareError> {
    let only = |run: &'a Results| (run.run.agents.len() == 1).then(|| Side::of(run, 0)).flatten();
    if let (Some(a), Some(b)) = (only(a), only(b)) {
        return Ok((vec![(a, b)], Vec::new()));
    }
    let mut sides = Vec::new();
    let mut notices = Vec::new();
    for agent in &a.run.agents {
        match (find(a, &agent.name), find(b, &agent.name)) {
            (Ok(one), Ok(other)) => sides.push((one, other)),
            _ => notices.push(format!("agent {} is only in run {}", agent.name, a.run.id)),
        }
    }
    for agent in &b.run.agents {
        if find(a, &agent.name).is_err() {
            notices.push(format!("agent {} is only in run {}", agent.name, b.run.id));
        }
    }
    if sides.is_empty() {
        return Err(CompareError::NoCommonAgent {
            a: a.run.id.to_string(),
            known_a: known(a),
            b: b.run.id.to_string(),
            known_b: known(b),
        });
    }
    Ok((sides, notices))
}

fn find<'a>(run: &'a Results, name: &str) -> Result<Side<'a>, CompareError> {
    run.run
        .agents
        .iter()
        .position(|agent| agent.name == name)
        .and_then(|agent| Side::of(run, agent))
        .ok_or_else(|| CompareError::NoSuchAgent {
            agent: name.to_owned(),
            run: run.run.id.to_string(),
            known: known(run),
        })
}

fn known(run: &Results) -> String {
    let names: Vec<&str> = run.run.agents.iter().map(|agent| agent.name.as_str()).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
