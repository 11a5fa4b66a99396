//! What only an agent of kind `command` has.

use mcproctor_proto::agent::{AnswerFormat, CommandAgent, PromptInput};

use super::context::Context;
use super::path::resolve_program;
use crate::config::file::{AgentSection, AnswerSection, CommandSection};
use crate::yaml::{Problems, Text};

pub(super) fn resolve_command(
    agent: &AgentSection,
    section: &CommandSection,
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<CommandAgent> {
    let program = resolve_program(&section.program, context.base, context.variables.shell, problems);
    let answer = match &section.answer {
        AnswerSection::Text => Some(AnswerFormat::Text),
        AnswerSection::Json(pointer) => resolve_pointer(pointer, problems).map(AnswerFormat::Json),
        AnswerSection::JsonLines(pointer) => resolve_pointer(pointer, problems).map(AnswerFormat::JsonLines),
    };
    if section.model_api.is_none() {
        for text in [&agent.base_url, &agent.api_key].into_iter().flatten() {
            let problem = text.problem(problems, "without `modelApi` the command has no model to use it with");
            problems.add(problem.remedy("add `modelApi`, or remove the key"));
        }
    }
    let prompt_fits = check_prompt(section.prompt, &agent.args, &section.program, problems)
        & section
            .resume_args
            .as_ref()
            .is_none_or(|args| check_prompt(section.prompt, args, &section.program, problems));
    Some(CommandAgent {
        program: program?,
        prompt: prompt_fits.then_some(section.prompt)?,
        answer: answer?,
        resume_args: section
            .resume_args
            .as_ref()
            .map(|args| args.iter().map(|text| text.value.clone()).collect()),
        model_api: section.model_api,
    })
}

/// RFC 6901 section 3: empty, or reference tokens that each start with `/`.
fn resolve_pointer(pointer: &Text, problems: &mut Problems) -> Option<String> {
    if pointer.value.is_empty() || pointer.value.starts_with('/') {
        return Some(pointer.value.clone());
    }
    let problem = pointer.problem(problems, format!("`{}` is not a JSON pointer", pointer.shown));
    problems.add(problem.accepted("`\"\"` for the whole document, or a path such as `/result/text`"));
    None
}

/// `{prompt}` stands in the arguments exactly when the prompt is an argument.
fn check_prompt(input: PromptInput, args: &[Text], program: &Text, problems: &mut Problems) -> bool {
    let placed = args.iter().find(|arg| arg.value.contains("{prompt}"));
    let problem = match (input, placed) {
        (PromptInput::Argument, Some(_)) | (PromptInput::Stdin, None) => return true,
        (PromptInput::Argument, None) => program
            .problem(problems, "no argument of the command holds `{prompt}`")
            .remedy("add it to the arguments, or use `prompt: stdin`"),
        (PromptInput::Stdin, Some(arg)) => arg
            .problem(
                problems,
                "`{prompt}` stands in an argument, but the prompt goes to standard input",
            )
            .remedy("use `prompt: argument`, or remove `{prompt}`"),
    };
    problems.add(problem);
    false
}
