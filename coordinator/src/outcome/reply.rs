//! What the words of a last reply clearly say: that the agent asks, or that it gives up. Pure.
//!
//! The rule is made to miss rather than to guess, and knows English only.
//!
//! A reply **asks** when it ends with a question to the user, a list of choices may follow it. The question begins with a
//! question word, or it speaks of `you` or `I`; a request for information (`Please tell me which …`) is one too. An offer of
//! further help is none, nor is one of something more (`Would you like me to check the forecast as well?`).
//!
//! A reply **declines** when one of its first two sentences, or its last, says in the first person that the agent cannot,
//! could not or will not do something, or has not what it needs for it.

/// What a reply clearly says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It asks the user something.
    Asks,
    /// It says that the agent cannot or will not do it.
    Declines,
}

/// Reads a reply; `None` where its words do not clearly say either.
pub(super) fn said(reply: &str) -> Option<Said> {
    let text = reply.to_lowercase().replace(['’', '‘'], "'");
    let sentences = sentences(without_choices(&text));
    let last = sentences.last()?;
    if asks(last) {
        return Some(Said::Asks);
    }
    let told = sentences.iter().take(2).chain([last]);
    told.into_iter()
        .any(|sentence| declines(sentence))
        .then_some(Said::Declines)
}

/// Words that a question begins with.
const QUESTION_WORDS: [&str; 10] = [
    "which", "what", "where", "when", "who", "whose", "whom", "how", "should", "shall",
];

/// Words before a question word: `and which`, `in what`, `so where`.
const LEADS: [&str; 13] = [
    "and", "but", "so", "or", "in", "for", "on", "at", "from", "to", "by", "also", "sorry",
];

/// Words of the person who asks or is asked.
const PERSONS: [&str; 9] = ["you", "your", "yours", "you'd", "you're", "you've", "i", "me", "us"];

/// Beginnings of requests for information.
const REQUESTS: [&str; 16] = [
    "please provide",
    "please specify",
    "please tell me",
    "please confirm",
    "please clarify",
    "please share",
    "please give me",
    "please let me know which",
    "please let me know what",
    "please let me know where",
    "please let me know whether",
    "tell me which",
    "let me know which",
    "let me know what",
    "let me know where",
    "let me know whether",
];

/// Parts of offers of further help, which end replies of every kind.
const OFFERS: [&str; 12] = [
    "anything else",
    "something else",
    "else i can",
    "can i help",
    "may i help",
    "can i assist",
    "may i assist",
    "any other questions",
    "any questions",
    "further assistance",
    "more help",
    "does that help",
];

/// Beginnings of offers, which ask nothing where they are of something more.
const OFFERING: [&str; 15] = [
    "would you like",
    "would you want",
    "would you be interested",
    "would it help",
    "do you want",
    "do you need",
    "do you wish",
    "are you interested",
    "want me to",
    "like me to",
    "shall i",
    "should i",
    "can i",
    "could i",
    "may i",
];

/// Words of what comes on top of an answer.
const SOMETHING_MORE: [&str; 8] = [
    "more",
    "also",
    "too",
    "else",
    "further",
    "additional",
    "additionally",
    "as well",
];

/// Ways to say that one cannot or will not.
const DECLINING: [&str; 38] = [
    "i can't",
    "i cannot",
    "i can not",
    "i couldn't",
    "i could not",
    "i won't",
    "i will not",
    "i'm unable",
    "i am unable",
    "i was unable",
    "i'm not able",
    "i am not able",
    "i wasn't able",
    "i was not able",
    "i'm not allowed",
    "i am not allowed",
    "i'm not permitted",
    "i am not permitted",
    "i don't have access",
    "i do not have access",
    "i have no access",
    "i don't have the ability",
    "i do not have the ability",
    "i don't have the tools",
    "i do not have the tools",
    "i don't have a tool",
    "i do not have a tool",
    "i don't have any tool",
    "i do not have any tool",
    "i have no tool",
    "i have no way",
    "i don't have a way",
    "i do not have a way",
    "i must decline",
    "i have to decline",
    "i give up",
    "i refuse",
    "unfortunately, i am not",
];

/// What may follow `I can't` or `I won't` without giving anything up.
const FIGURES_OF_SPEECH: [&str; 34] = [
    "guarantee",
    "promise",
    "recommend",
    "stress",
    "emphasize",
    "emphasise",
    "overstate",
    "wait",
    "say for sure",
    "say for certain",
    "be sure",
    "be certain",
    "be happier",
    "be better",
    "be more",
    "believe",
    "to believe",
    "imagine",
    "agree more",
    "ask for more",
    "thank you enough",
    "complain",
    "deny",
    "argue",
    "blame",
    "help but",
    "resist",
    "only",
    "either",
    "neither",
    "lie",
    "bore you",
    "go into detail",
    "forget",
];

/// The text up to a list of choices at its end.
fn without_choices(text: &str) -> &str {
    let is_choice = |line: &str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        line.starts_with("- ")
            || line.starts_with("* ")
            || line.starts_with("• ")
            || (numbered.len() < line.len() && numbered.starts_with(['.', ')']))
    };
    let mut kept = text.trim_end();
    while let Some((before, line)) = kept.rsplit_once('\n') {
        if !line.trim().is_empty() && !is_choice(line) {
            break;
        }
        kept = before.trim_end();
    }
    kept
}

/// The sentences with their last mark, without emphasis and quotes around them.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let after = marks.peek().map(|(_, next)| *next);
        // A dot inside of `3.5` or `example.com` ends nothing.
        let ends = mark == '\n'
            || (matches!(mark, '.' | '!' | '?')
                && after.is_none_or(|next| next.is_whitespace() || "\"'*_)".contains(next)));
        if ends {
            let end = at + mark.len_utf8();
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    let trimmed = sentences
        .into_iter()
        .map(|sentence| sentence.trim_matches(|c: char| c.is_whitespace() || "\"'*_()#>".contains(c)));
    trimmed.filter(|sentence| !sentence.is_empty()).collect()
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
}

fn asks(sentence: &str) -> bool {
    if OFFERS.iter().any(|offer| sentence.contains(offer)) {
        return false;
    }
    if !sentence.ends_with('?') {
        return REQUESTS.iter().any(|request| sentence.starts_with(request));
    }
    if offers_more(sentence) {
        return false;
    }
    let first = words(sentence).find(|word| !LEADS.contains(word));
    let begins = first.is_some_and(|first| {
        let word = first.split('\'').next().unwrap_or_default();
        QUESTION_WORDS.contains(&word)
    });
    begins || words(sentence).any(|word| PERSONS.contains(&word))
}

/// Whether a question offers to do or tell something more.
fn offers_more(question: &str) -> bool {
    let words: Vec<&str> = words(question).skip_while(|word| LEADS.contains(word)).collect();
    let text = format!("{} ", words.join(" "));
    let offering = OFFERING
        .iter()
        .any(|beginning| text.strip_prefix(beginning).is_some_and(|rest| rest.starts_with(' ')));
    // `More than one?` and `one or two?` want to know something.
    let choice = text.contains(" or ") || text.contains(" more than ");
    offering && !choice && SOMETHING_MORE.iter().any(|more| text.contains(&format!(" {more} ")))
}

fn declines(sentence: &str) -> bool {
    DECLINING.iter().any(|phrase| {
        sentence.match_indices(phrase).any(|(at, _)| {
            let (before, after) = (&sentence[..at], &sentence[at + phrase.len()..]);
            let whole_words = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
            let after = after.trim_start();
            let figure = |figure: &str| {
                after
                    .strip_prefix(figure)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            whole_words && !FIGURES_OF_SPEECH.iter().any(|it| figure(it))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_to_the_user_at_the_end_asks() {
        for reply in [
            "Which city?",
            "Where?",
            "Sure! **Which city do you mean?**",
            "I found two.\n\nWhich one do you want?\n- Graz in Styria\n- Graz elsewhere",
            "Do you want the forecast for May?\n1. yes\n2) no\n",
            "I can't see where you are. In which city are you?",
            "And for how many days?",
            "Should I book it?",
            "Would you like me to book it?",
            "Do you want more than one ticket?",
            "Do you want the next train, or a later one as well?",
            "Which one do you need, and what else?",
            "Would you like Celsius or Fahrenheit?",
            "What’s the date?",
            "(Could you tell me your location?)",
            "I need one more thing. Please tell me which city.",
            "Please provide the name of the city.",
        ] {
            assert_eq!(said(reply), Some(Said::Asks), "{reply}");
        }
    }

    #[test]
    fn other_questions_and_offers_ask_nothing() {
        for reply in [
            "It is sunny. Is there anything else I can help you with?",
            "It is sunny. What else can I help with? Let me know if you have any questions.",
            "Nice weather, isn't it?",
            "It is 24 degrees. Would you like me to check the forecast as well?",
            "It is 24 degrees. Do you want more details?",
            "Done. Should I also book a hotel?",
            "Sunny. And would you like to know more about Vienna?",
            "Sunny. Do you need any further information?",
            "It is 24 degrees. Shall I look up Graz, too?",
            "Which city? I took Vienna, and it is sunny.",
            "Sunny, I guess.",
            "Please let me know if you need more.",
            "See https://example.com/?q=you for more.",
            "",
            "?",
        ] {
            assert_eq!(said(reply), None, "{reply}");
        }
    }

    #[test]
    fn words_of_inability_and_refusal_decline() {
        for reply in [
            "I cannot help with that.",
            "I'm sorry, but I can’t do this.",
            "Unfortunately, I don't have access to weather data. You could look at a website.",
            "I looked at the tools. There is none for this, so I am unable to answer.",
            "I won't do that.",
            "I can't believe it, but I can't do that.",
            "I'm sorry, I can't help with that. Is there anything else I can do?",
            "Here is what I know. Vienna is a city. It lies on a river. I was not able to get its weather.",
        ] {
            assert_eq!(said(reply), Some(Said::Declines), "{reply}");
        }
    }

    #[test]
    fn what_only_sounds_like_it_declines_nothing() {
        for reply in [
            "It is sunny. I can't guarantee that, though.",
            "I can't recommend it enough!",
            "I can't believe how warm it is!",
            "You will not need an umbrella, and I won't either.",
            "I won't either",
            "I couldn't agree more.",
            "I can not only tell you the weather but the forecast.",
            "I can't help but envy you: it is 24 degrees.",
            "I refuse to believe it, but it is 24 degrees.",
            "Never mind.",
            "It is sunny. It is warm. I could not believe it at first. So go out!",
            "The API cannot be reached.",
            "Wi-fi can't reach it.",
            "You can't miss it.",
        ] {
            assert_eq!(said(reply), None, "{reply}");
        }
    }

    #[test]
    fn long_and_strange_replies_are_read_without_harm() {
        for reply in [
            "?".repeat(100_000),
            "é\n- ".repeat(50_000),
            "1.".repeat(50_000),
            "\u{0}’’\n\n".to_owned(),
        ] {
            said(&reply);
        }
    }
}
