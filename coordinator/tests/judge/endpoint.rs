//! Faults of the endpoint, each over a real socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcproctor::clock::ManualClock;
use mcproctor::config::JudgeSettings;
use mcproctor::judge::{Judge, JudgeVerdict, Opinion};
use mcproctor_proto::redact::{Named, Redactor};
use secrecy::ExposeSecret;
use serde_json::json;
use url::Url;

use crate::support::{FakeJudge, Question, Verdict, unused_address};

const RUBRIC: &str = "Kind.";

fn settings(base_url: &str) -> JudgeSettings {
    JudgeSettings {
        base_url: Url::parse(base_url).unwrap(),
        model: "judge-1".to_owned(),
        api_key: Some("key-of-the-judge".to_owned().into()),
        timeout: Duration::from_secs(20),
    }
}

fn judge(settings: &JudgeSettings) -> Judge {
    let key = settings.api_key.clone().unwrap();
    let redaction = Redactor::new([Named::key(key.expose_secret())].into_iter());
    Judge::new(settings, redaction, Arc::new(ManualClock::at(7))).unwrap()
}

/// What a judge says whose endpoint answers with these, one after another, the last one again and again.
async fn opinion(answers: Vec<Verdict>) -> (Opinion, Vec<Question>) {
    let count = AtomicUsize::new(0);
    let answers: Vec<_> = answers.into_iter().map(Arc::new).collect();
    let endpoint = FakeJudge::start(move |_| {
        let at = count.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
        match &*answers[at] {
            Verdict::Says(text) => Verdict::Says(text.clone()),
            Verdict::Choice(choice) => Verdict::Choice(choice.clone()),
            Verdict::Status(status, headers, body) => Verdict::Status(*status, headers.clone(), body.clone()),
            Verdict::Silence => Verdict::Silence,
            Verdict::Half => Verdict::Half,
        }
    })
    .await;
    let opinion = judge(&settings(&endpoint.url())).tone(RUBRIC, &[]).await;
    (opinion, endpoint.asked())
}

fn status(status: u16, body: &str) -> Verdict {
    Verdict::Status(status, Vec::new(), body.to_owned())
}

#[tokio::test]
async fn a_question_is_what_openai_documents_and_its_answer_is_kept_with_its_price() {
    let (opinion, asked) = opinion(vec![Verdict::of("pass", "It is kind.")]).await;
    assert_eq!(
        (opinion.verdict, opinion.reasoning.as_str()),
        (JudgeVerdict::Pass, "It is kind.")
    );
    assert_eq!((opinion.model.as_str(), opinion.at_unix_ms), ("judge-1-2026", 7));
    assert_eq!(
        (
            opinion.usage.input_tokens,
            opinion.usage.output_tokens,
            opinion.usage.cost_usd
        ),
        (Some(1_000), Some(50), Some(0.002))
    );
    let [question] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(question.uri, "/v1/chat/completions");
    assert_eq!(question.headers["authorization"], "Bearer key-of-the-judge");
    assert_eq!(question.body["model"], "judge-1");
    assert_eq!(question.body["temperature"], 0);
    assert_eq!(question.body["response_format"], json!({ "type": "json_object" }));
    assert_eq!(question.body["messages"][0]["role"], "system");
    assert!(question.message(1).contains(RUBRIC));
}

#[tokio::test]
async fn the_path_before_and_the_query_of_an_address_are_kept() {
    let endpoint = FakeJudge::start(|_| Verdict::of("pass", "")).await;
    let mut settings = settings(&format!("{}/openai/?api-version=3", endpoint.url()));
    settings.api_key = None;
    let judge = Judge::new(&settings, Redactor::default(), Arc::new(ManualClock::at(7))).unwrap();
    assert_eq!(judge.tone(RUBRIC, &[]).await.verdict, JudgeVerdict::Pass);
    let asked = endpoint.asked();
    assert_eq!(asked[0].uri, "/v1/openai/chat/completions?api-version=3");
    assert!(!asked[0].headers.contains_key("authorization"), "there is no key");
}

#[tokio::test]
async fn a_model_that_answers_in_another_form_is_asked_once_more_with_its_own_words() {
    let drifted = Verdict::Says("{\"error_percentage\": \"0.08%\"}".to_owned());
    let (opinion, asked) = opinion(vec![drifted, Verdict::of("FAILED", "It is rude.")]).await;
    assert_eq!(opinion.verdict, JudgeVerdict::Fail);
    assert_eq!(opinion.usage.input_tokens, Some(2_000), "both were paid for");
    let [first, second] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!((first.messages(), second.messages()), (2, 4));
    assert!(second.message(2).contains("error_percentage"));
    assert!(second.message(3).contains("not the form"));
}

#[tokio::test]
async fn a_second_answer_in_another_form_is_an_error_and_no_verdict() {
    let (opinion, asked) = opinion(vec![Verdict::Says("It went well.".to_owned())]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Error, 2));
    assert!(opinion.reasoning.contains("not in the form") && opinion.reasoning.contains("It went well."));
}

#[tokio::test]
async fn an_answer_without_content_is_an_error_with_its_cause_and_is_not_asked_for_again() {
    for (choice, cause) in [
        (json!({ "message": { "content": null } }), "no content"),
        (
            json!({ "message": { "content": null, "reasoning_content": "{\"verdict\": \"fail\"}" } }),
            "only thoughts",
        ),
        (
            json!({ "message": { "content": null, "refusal": "I would rather not." } }),
            "I would rather not.",
        ),
        (
            json!({ "finish_reason": "length", "message": { "content": "{\"verdict\": \"fail\", \"reaso" } }),
            "finish_reason length",
        ),
    ] {
        let (opinion, asked) = opinion(vec![Verdict::Choice(choice.clone())]).await;
        assert_eq!(opinion.verdict, JudgeVerdict::Error, "{choice}");
        assert!(opinion.reasoning.contains(cause), "{choice}: {}", opinion.reasoning);
        assert_eq!(asked.len(), 1, "{choice}");
    }
}

#[tokio::test]
async fn thoughts_in_the_content_are_passed_over() {
    let text =
        "<think>Perhaps {\"verdict\": \"fail\"}?</think>\n```json\n{\"verdict\": \"pass\", \"reasoning\": \"ok\"}\n```";
    let (opinion, _) = opinion(vec![Verdict::Says(text.to_owned())]).await;
    assert_eq!(opinion.verdict, JudgeVerdict::Pass);
}

#[tokio::test]
async fn an_overloaded_endpoint_is_asked_again_after_the_pause_that_it_asks_for() {
    let busy = Verdict::Status(429, vec![("retry-after-ms", "20".to_owned())], String::new());
    let (opinion, asked) = opinion(vec![busy, status(503, "overloaded"), Verdict::of("pass", "ok")]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Pass, 3));
    assert!(opinion.duration_ms >= 20);
}

#[tokio::test]
async fn a_pause_that_is_longer_than_there_is_time_for_is_not_waited_for() {
    let busy = Verdict::Status(429, vec![("Retry-After", "3600".to_owned())], "slow down".to_owned());
    let (opinion, asked) = opinion(vec![busy]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Error, 1));
    assert!(
        opinion.reasoning.contains("429") && opinion.reasoning.contains("3600 s"),
        "{}",
        opinion.reasoning
    );
}

#[tokio::test]
async fn a_parameter_that_the_model_refuses_is_left_out_for_the_rest_of_the_run() {
    let endpoint = FakeJudge::start(|question| {
        for parameter in ["temperature", "max_tokens"] {
            if !question.body[parameter].is_null() {
                let error = json!({ "error": {
                    "message": format!("Unsupported parameter: '{parameter}' is not supported with this model."),
                    "type": "invalid_request_error", "param": parameter, "code": "unsupported_parameter",
                } });
                return status(400, &error.to_string());
            }
        }
        Verdict::of("pass", "ok")
    })
    .await;
    let judge = judge(&settings(&endpoint.url()));
    assert_eq!(judge.tone(RUBRIC, &[]).await.verdict, JudgeVerdict::Pass);
    assert_eq!(endpoint.asked().len(), 3);
    assert_eq!(judge.tone(RUBRIC, &[]).await.verdict, JudgeVerdict::Pass);
    assert_eq!(endpoint.asked().len(), 4, "it was remembered");
    assert!(endpoint.asked()[3].body["response_format"].is_object());
}

#[tokio::test]
async fn another_bad_request_is_an_error_at_once() {
    let (opinion, asked) = opinion(vec![status(400, "{\"error\":{\"message\":\"prompt is too long\"}}")]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Error, 1));
    assert_eq!(opinion.reasoning, "the endpoint answered 400: prompt is too long");
}

#[tokio::test]
async fn of_a_key_that_stands_where_words_are_cut_nothing_is_left() {
    for before in 370..400 {
        let words = format!("{}key-of-the-judge", "x".repeat(before));
        let body = serde_json::json!({ "error": { "message": words } }).to_string();
        let (opinion, _) = opinion(vec![status(400, &body)]).await;
        assert!(!opinion.reasoning.contains("key"), "{}", opinion.reasoning);
    }
    let words = format!("{}key-of-the-judge{}", "x".repeat(1_990), "y".repeat(5_000));
    let (opinion, _) = opinion(vec![Verdict::of("pass", &words)]).await;
    assert!(!opinion.reasoning.contains("key"), "{}", opinion.reasoning);
    assert!(opinion.reasoning.len() < 2_010, "{}", opinion.reasoning.len());
}

#[tokio::test]
async fn a_refused_key_is_an_error_that_does_not_show_it() {
    let body =
        "{\"error\":{\"message\":\"Incorrect API key provided: key-of-the-judge.\",\"code\":\"invalid_api_key\"}}";
    let (opinion, asked) = opinion(vec![status(401, body)]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Error, 1));
    assert_eq!(
        opinion.reasoning,
        "the endpoint answered 401: Incorrect API key provided: [redacted]."
    );
}

#[tokio::test]
async fn a_silent_endpoint_costs_its_time_and_no_more() {
    let endpoint = FakeJudge::start(|_| Verdict::Silence).await;
    let mut settings = settings(&endpoint.url());
    settings.timeout = Duration::from_millis(100);
    let opinion = judge(&settings).tone(RUBRIC, &[]).await;
    assert_eq!(opinion.verdict, JudgeVerdict::Error);
    assert!(opinion.reasoning.contains("no answer within"), "{}", opinion.reasoning);
    assert_eq!(endpoint.asked().len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let (opinion, asked) = opinion(vec![Verdict::Half, Verdict::of("pass", "ok")]).await;
    assert_eq!((opinion.verdict, asked.len()), (JudgeVerdict::Pass, 2));
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_tried_in_full_once_and_then_briefly() {
    let judge = judge(&settings(&format!("http://{}/v1", unused_address())));
    let first = judge.tone(RUBRIC, &[]).await;
    assert_eq!(first.verdict, JudgeVerdict::Error);
    assert!(first.reasoning.contains("cannot be reached"), "{}", first.reasoning);
    let second = judge.tone(RUBRIC, &[]).await;
    assert_eq!(second.verdict, JudgeVerdict::Error);
    assert!(
        second.duration_ms < 500,
        "a dead endpoint must not hold up every iteration: {} ms",
        second.duration_ms
    );
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_an_error() {
    for body in ["<html>Welcome</html>", "", "{\"object\": \"list\"}", "null"] {
        let (opinion, _) = opinion(vec![status(200, body)]).await;
        assert_eq!(opinion.verdict, JudgeVerdict::Error, "{body}");
        assert!(
            opinion.reasoning.contains("cannot be read"),
            "{body}: {}",
            opinion.reasoning
        );
    }
}
