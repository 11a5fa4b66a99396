//! Arguments that are expected and found.

use mcproctor_proto::call::CallState;

use super::super::fixtures::Recorded;

fn expecting(arguments: &str) -> Recorded {
    Recorded::under(&format!("expectedArguments: {arguments}"))
}

#[test]
fn further_arguments_are_fine_unless_exactly_these_are_asked_for() {
    let subset = expecting("{t: {city: Vienna, at: {lat: 48}}}");
    assert!(
        subset
            .called("t", r#"{"city":"Vienna","at":{"lat":48.0,"lon":16},"days":3}"#)
            .all_met()
    );
    let exact = expecting("{t: {$exact: {city: Vienna}}}");
    let unmet = exact.called("t", r#"{"city":"Vienna","days":3}"#);
    assert_eq!(
        unmet.unmet(),
        "t called with {\"$exact\":{\"city\":\"Vienna\"}}: no successful call had them; \
         nearest was a call with 3 (number) at /days in place of nothing"
    );
}

#[test]
fn types_are_told_apart_and_shown() {
    let recorded = expecting("{t: {days: '3'}}").called("t", r#"{"days":3}"#);
    let result = recorded.only_unmet();
    assert_eq!(result.differences[0].at, "/days");
    assert_eq!(result.differences[0].expected, "\"3\" (string)");
    assert_eq!(result.differences[0].found, "3 (number)");
    assert_eq!(result.call.as_deref(), Some("call-1"));
    assert_eq!(result.tool.as_deref(), Some("t"));
    assert!(expecting("{t: {days: 3}}").called("t", r#"{"days":3.0}"#).all_met());
    assert!(
        expecting("{t: {on: 2025-10-03}}")
            .called("t", r#"{"on":"2025-10-03"}"#)
            .all_met()
    );
}

#[test]
fn an_empty_mapping_is_met_by_any_arguments_and_none() {
    for arguments in ["", "{}", r#"{"x":1}"#] {
        assert!(expecting("{t: {}}").called("t", arguments).all_met(), "{arguments}");
    }
    assert_eq!(
        expecting("{t: {}}").called("u", "").unmet(),
        "t called with any arguments: it was never called"
    );
    assert!(expecting("{t: {$exact: {}}}").called("t", "").all_met());
    assert!(!expecting("{t: {$exact: {}}}").called("t", r#"{"x":1}"#).all_met());
}

#[test]
fn a_call_that_failed_does_not_count_but_may_be_the_nearest() {
    let recorded = expecting("{t: {city: Vienna}}")
        .called("t", r#"{"city":"Graz"}"#)
        .called_in("t", r#"{"city":"Vienna"}"#, CallState::ToolError);
    assert_eq!(
        recorded.unmet(),
        "t called with {\"city\":\"Vienna\"}: no successful call had them; a call with them failed: no such city"
    );
    assert_eq!(recorded.only_unmet().call.as_deref(), Some("call-2"));
}

#[test]
fn the_nearest_call_is_the_one_with_the_fewest_differences() {
    let recorded = expecting("{t: {a: 1, b: 2, c: 3}}")
        .called("t", r#"{"a":9,"b":9,"c":3}"#)
        .called("t", r#"{"a":1,"b":2}"#)
        .called("t", r#"{"a":1,"b":2,"c":4}"#);
    let result = recorded.only_unmet();
    assert_eq!(result.call.as_deref(), Some("call-2"));
    assert_eq!(result.differences[0].found, "nothing");
}

#[test]
fn a_call_that_another_entry_asks_for_is_not_the_nearest() {
    let recorded = expecting("{t: [{city: Vienna}, {city: Graz, days: 5}]}")
        .called("t", r#"{"city":"Vienna","days":5}"#)
        .called_in("t", r#"{"city":"Graz","days":"5"}"#, CallState::ToolError);
    let result = recorded.only_unmet();
    assert_eq!(result.call.as_deref(), Some("call-2"));
    assert_eq!(result.differences[0].at, "/days");
    let every = expecting("{t: [{$calls: all, days: 5}, {city: Graz, days: 5}]}")
        .called("t", r#"{"city":"Wels","days":5}"#)
        .only_unmet();
    assert_eq!(
        every.call.as_deref(),
        Some("call-1"),
        "what is asked of every call takes none"
    );
    let alone = expecting("{t: [{city: Vienna}, {city: Graz}]}").called("t", r#"{"city":"Vienna"}"#);
    assert_eq!(alone.only_unmet().call.as_deref(), Some("call-1"), "there is no other");
}

#[test]
fn of_calls_with_as_many_differences_the_one_that_is_most_alike_is_nearest() {
    let nearest = |expected: &str, calls: [&str; 2]| {
        let recorded = expecting(expected).called("t", calls[0]).called("t", calls[1]);
        recorded.only_unmet().call
    };
    let second = Some("call-2".to_owned());
    assert_eq!(
        nearest(
            "{t: {city: {$regex: '^vien'}}}",
            [r#"{"city":"Graz"}"#, r#"{"city":"Vienna"}"#]
        ),
        second
    );
    assert_eq!(
        nearest(
            "{t: {order_id: a1, note: x}}",
            [r#"{"order_id":"a2","note":"x"}"#, r#"{"order_id":"a1","note":"long"}"#]
        ),
        second,
        "what says which thing is meant weighs more"
    );
    assert_eq!(
        nearest(
            "{t: {city: Graz, days: 5}}",
            [r#"{"city":"Linz","days":5}"#, r#"{"city":"Graz","days":"5"}"#]
        ),
        second,
        "a value of another type is nearer than another value"
    );
}

#[test]
fn how_many_calls_have_to_have_them_is_a_choice() {
    let twice = |expected: &str| {
        expecting(expected)
            .called("t", r#"{"a":1}"#)
            .called("t", r#"{"a":1}"#)
            .called_in("t", r#"{"a":1}"#, CallState::ToolError)
    };
    assert!(twice("{t: {$calls: {atLeast: 2}, a: 1}}").all_met());
    assert!(twice("{t: {$calls: {exactly: 2}, a: 1}}").all_met());
    assert!(twice("{t: {$calls: all, a: 1}}").all_met());
    assert!(
        twice("{t: {$calls: {atLeast: 3}, a: 1}}")
            .unmet()
            .contains("2 successful calls had them, 3 are needed")
    );
    let surplus = twice("{t: {$calls: {exactly: 1}, a: 1}}");
    assert!(
        surplus.unmet().ends_with("exactly once: 2 successful calls had them"),
        "{}",
        surplus.unmet()
    );
    assert_eq!(surplus.only_unmet().call.as_deref(), Some("call-2"));
    assert!(!surplus.worth_talking_on());
    let never = twice("{t: {$calls: {exactly: 0}, a: 1}}");
    assert!(never.unmet().starts_with("t never called with"), "{}", never.unmet());
    assert!(twice("{t: {$calls: {exactly: 0}, a: 2}}").all_met());
    let other = twice("{t: {$calls: all, a: 1}}").called("t", r#"{"a":2}"#);
    assert_eq!(
        other.unmet(),
        "every call of t with {\"a\":1}: one call had others: 2 (number) at /a in place of 1 (number)"
    );
    assert!(!other.worth_talking_on());
    assert!(
        expecting("{t: {$calls: all, a: 1}}")
            .unmet()
            .contains("it was never called")
    );
}

#[test]
fn a_list_asks_for_each_of_its_arguments() {
    let expected = "{t: [{city: Vienna}, {city: Graz}]}";
    let one = expecting(expected).called("t", r#"{"city":"Graz"}"#);
    assert!(one.unmet().contains("Vienna") && one.worth_talking_on());
    assert!(one.called("t", r#"{"city":"Vienna"}"#).all_met());
}

#[test]
fn arguments_that_are_too_large_are_nobodys_fault() {
    let recorded = expecting("{t: {a: 1}}").called_at_length("t");
    let result = recorded.only_unmet();
    assert!(result.unchecked && result.why.contains("too large"), "{result:?}");
    let small = expecting("{t: {a: 1}}").called("t", r#"{"a":1}"#).called_at_length("t");
    assert!(small.all_met(), "another call has them");
}

#[test]
fn what_cannot_be_read_matters_only_to_who_looks_at_it() {
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    for odd in [r#""\ud800""#, deep.as_str(), r#"{"\udc00":1}"#] {
        let arguments = format!(r#"{{"city":"Vienna","odd":{odd}}}"#);
        let called = |expected: &str| expecting(expected).called("t", &arguments);
        for met in [
            "{t: {}}",
            "{t: {$any: true}}",
            "{t: {$calls: {exactly: 1}}}",
            "{t: {$calls: all}}",
            "{t: {city: Vienna}}",
            "{t: {city: Vienna, odd: {$any: true}}}",
            "{t: {odd: {$oneOf: [{$absent: true}, {$any: true}]}}}",
        ] {
            assert!(called(met).all_met(), "{met} {odd}");
        }
        for unmet in [
            "{t: {city: Graz}}",
            "{t: {odd: {$absent: true}}}",
            "{t: {odd: 3}}",
            "{t: {city: Graz, odd: {$type: [string, array, object]}}}",
        ] {
            assert!(!called(unmet).only_unmet().unchecked, "{unmet} {odd}");
        }
        let unchecked = called("{t: {$schema: {required: [city]}}}").only_unmet();
        assert!(
            unchecked.unchecked && unchecked.why.contains("cannot be compared"),
            "{odd}"
        );
    }
    let text = expecting("{t: {odd: {$regex: x}}}").called("t", r#"{"odd":"\ud800"}"#);
    assert!(text.only_unmet().unchecked);
    assert!(expecting("{t: {}}").called_at_length("t").all_met());
    let nothing = expecting("{t: {x: 1}}").called("t", r#"{"\ud800":1}"#);
    assert!(nothing.only_unmet().unchecked, "no key can be told");
}

#[test]
fn a_schema_that_looks_at_lost_digits_leaves_it_open() {
    let called = |schema: &str, arguments: &str| {
        expecting(&format!("{{t: {{id: {{$schema: {schema}}}}}}}")).called("t", arguments)
    };
    let big = r#"{"id":12345678901234567890124}"#;
    let open = called("{const: 12345678901234567890123}", big).only_unmet();
    assert!(open.unchecked && open.why.contains("more digits"), "{}", open.why);
    assert!(called("{type: integer}", big).all_met());
    assert!(!called("{maximum: 5}", big).only_unmet().unchecked);
}
