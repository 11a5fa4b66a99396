//! `${VAR}`, the shell and dotenv files.

use super::{Folder, SMALLEST, environment, header_values, http};

fn with_header(value: &str) -> String {
    format!("mcp:\n  url: http://h/mcp\n  headers:\n    - name: x-h\n      value: {value}\ntestcases: {{path: c}}\n")
}

#[test]
fn the_shell_wins_over_the_file_even_with_an_empty_value() {
    let folder = Folder::with(&with_header("'${A}|${B}|${C}'")).and(".env", "A=file\nB=file\nC=file\n");
    let config = folder.load(&environment([("A", "shell"), ("B", "")]));
    assert_eq!(header_values(&config), ["shell||file"]);
}

#[test]
fn a_named_file_is_read_instead_of_the_one_beside_the_config() {
    let folder = Folder::with(&format!("envFile: ./${{STAGE}}.env\n{}", with_header("'${A}'")))
        .and(".env", "A=beside\n")
        .and("test.env", "A=named\n");
    assert_eq!(
        header_values(&folder.load(&environment([("STAGE", "test")]))),
        ["named"]
    );
}

#[test]
fn a_value_cannot_change_the_structure_or_become_a_variable() {
    let folder = Folder::with(&with_header("${A}"));
    let config = folder.load(&environment([("A", "x: y, z: ${B} # {}")]));
    assert_eq!(header_values(&config), ["x: y, z: ${B} # {}"]);
}

#[test]
fn variables_are_filled_in_everywhere_but_in_keys_and_comments() {
    let folder = Folder::with(
        "mcp:\n  url: http://${HOST}:${PORT:-3210}/mcp # ${COMMENT}\n  headers: [{name: 'x-${HOST}', value: '$${HOST} $HOST'}]\n\
         testcases: {path: '${HOST}'}\nrun: {iterations: '${N}', agents: [{kind: claude, args: ['${HOST}']}]}\n",
    );
    let config = folder.load(&environment([("HOST", "h"), ("N", "7")]));
    assert_eq!(http(&config).url, "http://h:3210/mcp");
    assert_eq!(http(&config).headers[0].name, "x-h");
    assert_eq!(header_values(&config), ["${HOST} $HOST"]);
    assert_eq!(config.run.iterations, 7);
    assert_eq!(config.run.agents[0].args, ["h"]);
    let key = Folder::with(&format!(
        "{SMALLEST}run: {{agents: [{{kind: claude, env: {{'${{HOST}}': x}}}}]}}\n"
    ));
    insta::assert_snapshot!(key.report(&environment([("HOST", "h")])), @r#"
    eval.yaml:3:48: run.agents[0].env["${HOST}"]: this is not the name of an environment variable
        accepted: a name such as `API_KEY`; variables are not filled in in keys
    "#);
}

#[test]
fn an_unset_variable_names_every_place_where_it_can_be_set() {
    let folder = Folder::with(&format!(
        "{}run: {{agents: [{{kind: claude, args: ['${{X}}', '${{Y', '${{1}}', '${{ITERATION_ID}}']}}]}}\n",
        with_header("'Bearer ${TOKEN}'")
    ));
    insta::assert_snapshot!(folder.report(&environment([])));
}

#[test]
fn set_but_empty_is_not_unset_but_cannot_be_an_address_or_a_key() {
    let folder =
        Folder::with("mcp: {url: '${URL}'}\ntestcases: {path: c}\nrun: {agents: [{kind: claude, apiKey: '${KEY}'}]}\n");
    insta::assert_snapshot!(folder.report(&environment([("URL", ""), ("KEY", "")])));
}

#[test]
fn a_named_file_has_to_exist() {
    let folder = Folder::with(&format!("envFile: missing.env\n{}", with_header("'${A}'")));
    insta::assert_snapshot!(folder.report(&environment([])));
}

#[test]
fn a_broken_file_is_reported_by_its_own_line_and_without_guesses() {
    let folder = Folder::with(&with_header("'${A}'")).and(".env", "B=1\nA='secret\n");
    let report = folder.report(&environment([]));
    insta::assert_snapshot!(report, @r"
    .env:2:1: the single quote is never closed
        remedy: close it with `'`
    ");
}
