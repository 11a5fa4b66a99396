//! The report in a real browser. Slow: every test starts a Chromium (`apt-get install chromium`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "report_browser/browser.rs"]
mod browser;
#[path = "../examples/report_sample/sample/mod.rs"]
mod sample;

use sample::write_all;
use std::path::PathBuf;

use browser::Browser;
use mcproctor::record::RunState;
use mcproctor::report::MemoryRun;
use serde_json::json;

fn written(run: &MemoryRun) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let html = write_all(run, folder.path()).unwrap().html;
    (folder, html)
}

#[test]
fn nothing_that_was_said_runs_however_much_is_opened() {
    let nasty = "</script><img src=x onerror=\"window.smuggled=1\"><script>window.smuggled=1</script>";
    let (_folder, page) = written(&sample::hostile(nasty));
    let mut browser = Browser::start();
    browser.open(&page, "", 1280);
    for opener in [".group-head", ".row-head", ".call-head", ".plain-button.small"] {
        browser.eval(&format!(
            "for (const e of document.querySelectorAll('{opener}')) if (e.getAttribute('aria-expanded') === 'false') e.click()"
        ));
        browser.wait_for(&format!("document.querySelector('{opener}[aria-expanded=true]')"));
        browser.wait_for("![...document.querySelectorAll('.detail')].some(d => !d.childNodes.length)");
    }
    assert_eq!(browser.eval("document.querySelectorAll('img').length"), 0);
    for place in [
        "rates",
        "tools",
        "confusion",
        "arguments",
        "errors",
        "unneeded",
        "faults",
        "overview",
        "agents",
        "facts",
    ] {
        assert!(
            browser.text(&format!("#{place}")).contains(nasty),
            "{place} shows what was said as it was said"
        );
    }
    assert!(
        browser.text(".said.user .words").contains(nasty),
        "the prompt is shown as it was sent"
    );
    assert!(
        browser.text(".call-name").contains(nasty),
        "the tool's name is shown as it was sent"
    );
    assert_eq!(browser.eval("typeof window.smuggled"), "undefined");
    assert_eq!(browser.complaints, Vec::<String>::new());
    // Were markup to get in, the page's policy would still stop it.
    browser.eval(&format!(
        "document.body.insertAdjacentHTML('beforeend', {})",
        json!(nasty.replace("</script>", ""))
    ));
    browser.eval("{ const s = document.createElement('script'); s.textContent = 'window.smuggled = 2'; document.body.append(s) }");
    browser.wait_for("document.querySelector('img') && document.querySelector('img').complete");
    assert_eq!(browser.eval("typeof window.smuggled"), "undefined");
}

#[test]
fn a_reader_finds_filters_and_opens_with_mouse_and_keyboard() {
    let (_folder, page) = written(&sample::mixed(12));
    let mut browser = Browser::start();
    browser.open(&page, "", 1280);
    assert_eq!(browser.text("#matches"), "120 iterations, the worst first");

    browser.click("[data-outcome=invalid]");
    browser.wait_for("document.getElementById('matches').textContent === '5 of 120 iterations match'");
    assert_eq!(
        browser.eval("document.querySelectorAll('.row .mark.invalid').length"),
        5
    );
    assert_eq!(browser.eval("document.querySelectorAll('.row').length"), 5);
    browser.click("#clear");
    browser.wait_for("![...document.querySelectorAll('.row')].some(row => row.offsetParent)");

    // Only an argument holds this number, and a reader sees it as it was sent.
    browser.eval("document.activeElement.blur()");
    browser.press("/");
    browser.write("\"stationId\":9007199254740993");
    browser.wait_for("document.getElementById('matches').textContent.match(/^[1-9][0-9]* of 120 iterations match$/)");
    browser
        .eval("{ const s = document.getElementById('by-agent'); s.value = '0'; s.dispatchEvent(new Event('change')) }");
    browser.wait_for("document.querySelectorAll('.group').length === 1");
    browser.wait_for("[...document.querySelectorAll('#cell-1 .row')].some(row => row.offsetParent)");
    browser.eval("document.getElementById('head-1').focus()");
    browser.press("j");
    browser.press("Enter");
    browser.wait_for("document.querySelector('.detail .call-head')");
    browser.click(".detail .call-head");
    assert!(
        browser
            .text(".call-body pre")
            .contains("\"stationId\": 9007199254740993"),
        "{}",
        browser.text(".call-body")
    );

    // The address is a link to what is open.
    let address = browser.eval("location.hash").as_str().unwrap().to_owned();
    browser.eval("sessionStorage.clear()");
    browser.open(&page, &address, 1280);
    assert!(
        browser
            .eval("document.querySelectorAll('.detail .call-head').length")
            .as_u64()
            > Some(0)
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_cell_of_the_grid_leads_to_its_iterations() {
    let (_folder, page) = written(&sample::mixed(12));
    let mut browser = Browser::start();
    browser.open(&page, "", 1280);
    browser.click("a.cell[href='#cell=9']");
    browser.wait_for("document.querySelectorAll('#cell-9 .row').length === 12");
    assert_eq!(browser.eval("document.activeElement.id"), "head-9");
}

#[test]
fn a_figure_leads_to_the_call_behind_it() {
    let (_folder, page) = written(&sample::mixed(12));
    let mut browser = Browser::start();
    for section in ["#confusion", "#arguments", "#errors"] {
        browser.open(&page, "", 1280);
        let link = format!("{section} a[data-call]");
        let place = browser.eval(&format!(
            "(() => {{ const a = document.querySelector('{link}'); return a.getAttribute('href').slice(4) + '-call-' + a.dataset.call; }})()"
        ));
        let place = place.as_str().unwrap();
        browser.click(&link);
        browser.wait_for(&format!("document.querySelector('#it-{place}[aria-expanded=true]')"));
        assert_eq!(browser.eval("document.activeElement.id"), format!("it-{place}"));
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
fn a_page_whose_run_goes_on_reloads_itself_and_keeps_what_the_reader_did() {
    let mut run = sample::mixed(12);
    let all = run.attempts.clone();
    sample::still_running(&mut run);
    let (folder, page) = written(&run);
    let mut browser = Browser::start();
    // The page counts seconds with an interval: here they pass when the test says so.
    browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({"source": "window.setInterval = (second) => { window.second = second; return 0; }"}),
    );
    browser.open(&page, "#it=0-2&outcome=passed", 1280);
    browser.wait_for("document.querySelector('#it-0-2-call-0')");
    browser.click("#it-0-2-call-0");
    browser.eval("window.before = true; scrollBy(0, 37)");

    // While something is selected nothing is taken away from the reader.
    browser.eval("getSelection().selectAllChildren(document.querySelector('#it-0-2 .words'))");
    browser.eval("for (let i = 0; i < 30; i++) second()");
    assert!(browser.text("#reload-words").contains("something is selected"));
    assert_eq!(browser.eval("window.before"), true);

    run.attempts = all;
    run.state = RunState::Completed;
    write_all(&run, folder.path()).unwrap();
    let place = browser.eval("Math.round(document.getElementById('it-0-2').getBoundingClientRect().top)");
    browser.eval("getSelection().removeAllRanges()");
    browser.wait_for(
        "(window.before && second(), true) && !window.before && document.body && document.body.dataset.ready === 'yes'",
    );
    assert_eq!(browser.eval("document.body.dataset.state"), "completed");
    assert!(
        browser.text("#it-0-2-call-0 + .call-body").contains("Arguments"),
        "the opened call is open again"
    );
    assert_eq!(
        browser.eval("document.querySelector('[data-outcome=passed]').getAttribute('aria-pressed')"),
        "true"
    );
    let after = browser.eval("Math.round(document.getElementById('it-0-2').getBoundingClientRect().top)");
    let moved = after.as_i64().unwrap() - place.as_i64().unwrap();
    assert!(moved.abs() <= 2, "what was in view moved by {moved} pixels");
}

#[test]
fn a_thousand_iterations_a_cell_are_a_small_page_until_they_are_opened() {
    let (_folder, page) = written(&sample::mixed(1000));
    let mut browser = Browser::start();
    browser.open(&page, "", 1280);
    let elements = browser
        .eval("document.querySelectorAll('*:not(script)').length")
        .as_u64()
        .unwrap();
    assert!(elements < 1500, "{elements} elements");
    browser.click("#head-9");
    browser.wait_for("document.querySelectorAll('#cell-9 .row').length === 50");
    browser.click("#cell-9 .more-rows");
    browser.wait_for("document.querySelectorAll('#cell-9 .row').length === 250");
    browser.open(&page, "#it=9-777", 1280);
    browser.wait_for("document.querySelector('#it-9-777 .said')");
}

#[test]
fn on_a_phone_nothing_is_wider_than_the_screen() {
    let unbroken = "get_".to_owned() + &"x".repeat(300);
    let hostile = sample::hostile(&unbroken);
    let mut browser = Browser::start();
    for (run, hash) in [(&sample::mixed(12), "#it=9-3,8-2"), (&hostile, "#it=0-1")] {
        let (_folder, page) = written(run);
        browser.open(&page, hash, 360);
        browser.eval("for (const e of document.querySelectorAll('.call-head')) e.click()");
        let width = browser.eval("document.documentElement.scrollWidth");
        assert_eq!(width, 360, "{hash}");
    }
}
