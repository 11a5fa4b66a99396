//! Environments of child processes.

use std::collections::BTreeMap;

use secrecy::SecretString;

use crate::yaml::{Problems, Text};

/// Names and values that a process can be given as its environment.
pub(super) fn resolve_env(
    entries: &[(String, Text)],
    problems: &mut Problems,
) -> Option<BTreeMap<String, SecretString>> {
    let mut env = BTreeMap::new();
    let mut complete = true;
    for (name, value) in entries {
        let valid =
            !name.is_empty() && !name.contains(['=', '\0', '$', '{', '}']) && !name.contains(char::is_whitespace);
        if !valid {
            let problem = value.problem(problems, "this is not the name of an environment variable");
            problems.add(problem.accepted("a name such as `API_KEY`; variables are not filled in in keys"));
        } else if value.value.contains('\0') {
            problems.add(value.problem(problems, "the value holds a NUL character"));
        } else {
            env.insert(name.clone(), SecretString::from(value.value.clone()));
            continue;
        }
        complete = false;
    }
    complete.then_some(env)
}
