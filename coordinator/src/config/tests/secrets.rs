//! No secret is shown.

use super::{Folder, environment};

const SENTINEL: &str = "s3cr3t-sentinel";

#[test]
fn no_secret_is_in_debug_output_but_all_are_known() {
    let folder = Folder::with(
        "mcp: {url: 'https://h/mcp?token=${S}-token', headers: [{name: a, value: '${S}-header'}]}\ntestcases: {path: c}\n\
         run: {agents: [{kind: claude, apiKey: '${S}-key', args: ['--token=${S}'], env: {A: '${S}-env'}}]}\n\
         judge: {baseUrl: 'http://h/v1?k=${S}-query', model: m, apiKey: '${S}-judge'}\n",
    );
    let environment = environment([("S", SENTINEL)]);
    let config = folder.load(&environment);
    assert!(!format!("{config:#?}").contains(SENTINEL));
    assert!(!format!("{:?}", config.run).contains(SENTINEL));
    assert!(!format!("{environment:?}").contains(SENTINEL));
    let redactor = config.redactor();
    assert!(!format!("{redactor:?}").contains(SENTINEL));
    for suffix in ["header", "token", "env", "key", "judge", "query"] {
        let text = format!("<{SENTINEL}-{suffix}>");
        assert_eq!(redactor.text(text), "<[redacted]>", "{suffix}");
    }
}

#[test]
fn short_secrets_are_known_those_that_are_too_short_are_told_of_and_words_are_none() {
    let folder = Folder::with(
        "mcp: {url: 'https://h/mcp?token=t0k&mode=x', name: m, headers: [{name: X-Tenant, value: acme}, {name: X-Pin, value: 'zzz'}]}\n\
         testcases: {path: c}\nrun: {agents: [{kind: claude, name: a, apiKey: k-1, env: {DEBUG: 'true', LANG: utf-8, \
         DB_PASS: pw-1, SSO_TOKEN: zz9}}]}\njudge: {baseUrl: 'http://h/v1', model: m, apiKey: qx7y}\n",
    );
    let config = folder.load(&environment([]));
    let said = "acme zzz k-1 true utf-8 pw-1 zz9 qx7y t0k".to_owned();
    assert_eq!(
        config.redactor().text(said),
        "[redacted] zzz k-1 true utf-8 [redacted] zz9 [redacted] t0k"
    );
    assert_eq!(
        config.notices,
        [
            "shorter than 4 bytes, so not redacted where it appears: header X-Pin of m, token in the URL of m, env SSO_TOKEN of the agent a, \
          the key of the agent a"
        ]
    );
}

#[test]
fn no_value_of_a_variable_is_in_an_error() {
    let folder = Folder::with(
        "mcp: {name: '${S}!', url: 'http://u:${S}@h', headers: [{name: '${S}:', value: \"${S}\\n\"}]}\n\
         testcases: {source: '${S}', path: \"\"}\n\
         run: {iterations: '${S}', sandbox: '${S}', agents: ['${S}', {kind: claude, name: '${S},', baseUrl: '${S}'}]}\n\
         report: {formats: ['${S}']}\n",
    );
    let report = folder.report(&environment([("S", SENTINEL)]));
    assert_eq!(report.lines().last(), Some("12 problems"), "{report}");
    assert!(!report.contains(SENTINEL), "{report}");
}
