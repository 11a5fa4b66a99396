//! Text into a tree.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use super::key_path::KeyPath;
use super::node::{Entry, Node, Scalar, Value};
use super::problem::{Place, Problem, Problems};

/// The largest file that is read.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// The deepest nesting, so that no file can exhaust the stack.
const MAX_DEPTH: usize = 64;

/// The most that a tree may weigh after aliases are expanded, so that a few lines of aliases cannot become gigabytes.
const MAX_WEIGHT: usize = 200_000;

/// Reads the one document in `bytes`.
///
/// `None` means that the tree cannot be used; everything that is wrong is in `problems`. Keys that are given twice are
/// problems too, but leave a tree that can be read on.
pub(crate) fn parse(bytes: &[u8], problems: &mut Problems) -> Option<Node> {
    if bytes.len() > MAX_BYTES {
        let what = format!("the file has {} bytes", bytes.len());
        problems.add(
            problems
                .new_problem(what)
                .accepted(format!("at most {MAX_BYTES} bytes")),
        );
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = 1 + bytes
                .iter()
                .take(error.valid_up_to())
                .filter(|byte| **byte == b'\n')
                .count();
            let problem = problems.new_problem("the file is not UTF-8 text");
            problems.add(problem.at(Place { line, column: 1 }).remedy("save it as UTF-8"));
            return None;
        }
    };
    let mut builder = Builder {
        text,
        events: Parser::new_from_str(text),
        anchors: HashMap::new(),
        weight: 0,
        problems,
    };
    match builder.document() {
        Ok(node) => node,
        Err(problem) => {
            problems.add(*problem);
            None
        }
    }
}

type Step<T> = Result<T, Box<Problem>>;

struct Builder<'text, 'p> {
    text: &'text str,
    events: Parser<'text, StrInput<'text>>,
    anchors: HashMap<usize, Node>,
    weight: usize,
    problems: &'p mut Problems,
}

impl<'text> Builder<'text, '_> {
    fn document(&mut self) -> Step<Option<Node>> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(document),
                Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
                _ if document.is_some() => {
                    let problem = self.problems.new_problem("a second document starts here");
                    return Err(Box::new(
                        problem
                            .at(span.start.into())
                            .remedy("keep one document a file and remove the `---`"),
                    ));
                }
                event => document = Some(self.node(event, span, &KeyPath::root(), 0)?),
            }
        }
    }

    fn next(&mut self) -> Step<(Event<'text>, Span)> {
        match self.events.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => {
                let place = Place::from(*error.marker());
                let mut problem = self
                    .problems
                    .new_problem(format!("not valid YAML: {}", error.info()))
                    .at(place);
                // A frequent slip: `[${VAR}]` opens a mapping inside the list.
                if self
                    .text
                    .lines()
                    .nth(place.line - 1)
                    .is_some_and(|line| line.contains("${"))
                {
                    problem = problem.remedy("between `{…}` and `[…]`, a text with `${…}` has to be quoted");
                }
                Err(Box::new(problem))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'text>, span: Span, path: &KeyPath, depth: usize) -> Step<Node> {
        let place = Place::from(span.start);
        if depth > MAX_DEPTH {
            return self.stop(place, path, format!("nested more than {MAX_DEPTH} levels deep"));
        }
        self.count(1, place, path)?;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && !self.is_text_by_tag(tag.as_deref(), place, path)?;
                let value = Value::Scalar(Scalar {
                    text: text.into_owned(),
                    written: None,
                    plain,
                    broken: false,
                });
                Ok(self.anchored(anchor, Node { place, value }))
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "seq", place, path)?;
                let mut items = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if matches!(event, Event::SequenceEnd | Event::StreamEnd) {
                        break;
                    }
                    items.push(self.node(event, span, &path.index(items.len()), depth + 1)?);
                }
                let value = Value::Sequence(items);
                Ok(self.anchored(anchor, Node { place, value }))
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), "map", place, path)?;
                let value = Value::Mapping(self.entries(path, depth)?);
                Ok(self.anchored(anchor, Node { place, value }))
            }
            Event::Alias(anchor) => {
                let weight = self.anchors.get(&anchor).map_or(0, Node::weight);
                self.count(weight, place, path)?;
                match self.anchors.get(&anchor) {
                    Some(node) => Ok(node.clone()),
                    None => self.stop(place, path, "an alias of something that is not complete yet".to_owned()),
                }
            }
            _ => self.stop(place, path, "not valid YAML: a value is missing".to_owned()),
        }
    }

    fn entries(&mut self, path: &KeyPath, depth: usize) -> Step<Vec<Entry>> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut first_places: HashMap<String, Place> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            let place = Place::from(span.start);
            let key = match event {
                Event::MappingEnd | Event::StreamEnd => return Ok(entries),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return self.stop(place, path, "a key has to be a text".to_owned()),
            };
            let key_path = path.key(&key);
            let (event, span) = self.next()?;
            let value = self.node(event, span, &key_path, depth + 1)?;
            if let Some(first) = first_places.get(&key) {
                let what = format!("the key is given twice; the first one is in line {}", first.line);
                let problem = self.problems.new_problem(what).at(place).key(&key_path);
                self.problems.add(problem.remedy("keep one of them"));
            } else {
                first_places.insert(key.clone(), place);
                entries.push(Entry { key, place, value });
            }
        }
    }

    fn anchored(&mut self, anchor: usize, node: Node) -> Node {
        // The parser numbers anchors from 1; 0 stands for none.
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        node
    }

    fn count(&mut self, weight: usize, place: Place, path: &KeyPath) -> Step<()> {
        self.weight += weight;
        if self.weight > MAX_WEIGHT {
            return self.stop(place, path, "too large once aliases are expanded".to_owned());
        }
        Ok(())
    }

    /// Whether a tag says that the scalar is a text whatever it looks like.
    fn is_text_by_tag(&self, tag: Option<&Tag>, place: Place, path: &KeyPath) -> Step<bool> {
        match tag {
            None => Ok(false),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Ok(true),
            Some(tag) if tag.is_yaml_core_schema() && matches!(tag.suffix.as_str(), "int" | "bool" | "null") => {
                Ok(false)
            }
            Some(tag) if tag.handle.is_empty() && tag.suffix == "!" => Ok(true),
            Some(tag) => self.unknown_tag(tag, place, path),
        }
    }

    fn refuse_tag(&self, tag: Option<&Tag>, expected: &str, place: Place, path: &KeyPath) -> Step<()> {
        match tag {
            None => Ok(()),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == expected => Ok(()),
            Some(tag) => self.unknown_tag(tag, place, path),
        }
    }

    fn unknown_tag<T>(&self, tag: &Tag, place: Place, path: &KeyPath) -> Step<T> {
        let what = format!("the tag `{}{}` means nothing here", tag.handle, tag.suffix);
        let problem = self.problems.new_problem(what).at(place).key(path);
        Err(Box::new(problem.remedy("remove the tag, or quote the value")))
    }

    fn stop<T>(&self, place: Place, path: &KeyPath, what: String) -> Step<T> {
        Err(Box::new(self.problems.new_problem(what).at(place).key(path)))
    }
}

/// The tree of `text`, for tests of its readers.
#[cfg(test)]
pub(crate) fn parse_text(text: &str) -> (Option<Node>, Vec<Problem>) {
    let mut problems = Problems::of(std::path::Path::new("test.yaml"));
    let node = parse(text.as_bytes(), &mut problems);
    (node, problems.into_sorted())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        parse_text(text).1.iter().map(ToString::to_string).collect()
    }

    fn texts(node: &Node, into: &mut Vec<String>) {
        match &node.value {
            Value::Scalar(scalar) => into.push(scalar.text.clone()),
            Value::Sequence(items) => items.iter().for_each(|item| texts(item, into)),
            Value::Mapping(entries) => entries.iter().for_each(|entry| texts(&entry.value, into)),
        }
    }

    fn all_texts(text: &str) -> Vec<String> {
        let (node, problems) = parse_text(text);
        assert_eq!(problems, []);
        let mut all = Vec::new();
        texts(&node.unwrap(), &mut all);
        all
    }

    #[test]
    fn scalars_keep_the_text_that_stands_in_the_file() {
        let text = "[0123, 1e3, 12:30:00, no, null, 2025-10-03, 1_000, 0x1F, 3.0, ~, yes, .5, 'a', \"b\\n\"]";
        let expected = [
            "0123",
            "1e3",
            "12:30:00",
            "no",
            "null",
            "2025-10-03",
            "1_000",
            "0x1F",
            "3.0",
            "~",
            "yes",
            ".5",
            "a",
            "b\n",
        ];
        assert_eq!(all_texts(text), expected);
    }

    #[test]
    fn texts_are_those_that_another_parser_reads() {
        for document in [
            "a: 0123\nb: 1e3\nc: 12:30:00\nd: no\ne: 2025-10-03\nf: 0x1F\ng: .5\nh: yes # c\n",
            "a: |\n  one\n    two\n\n  three\nb: >-\n  one\n  two\n\n  three\nc: |+\n  x\n\nd: >2\n    y\n",
            "a: 'it''s'\nb: \"tab\\t \\u00e9 \\\"q\\\" \\x41\"\nc: plain over\n  two lines\nd: \"a\n  b\"\n",
            "{a: x y, b: 'c, d', \"e f\": g}\n",
            "a: x#y\nb: a:b\nc: -1\nd: '- x'\ne: http://h:1/p?q#f\n",
            "? a\n: b\n",
        ] {
            let theirs: std::collections::BTreeMap<String, String> = serde_yaml::from_str(document).unwrap();
            let (root, problems) = parse_text(document);
            assert_eq!(problems, []);
            let Value::Mapping(entries) = root.unwrap().value else {
                unreachable!("a mapping was written");
            };
            for Entry { key, value, .. } in &entries {
                let Value::Scalar(scalar) = &value.value else {
                    unreachable!("only texts were written");
                };
                assert_eq!(theirs.get(key), Some(&scalar.text), "{key} in {document}");
            }
            assert_eq!(entries.len(), theirs.len());
        }
    }

    #[test]
    fn places_count_from_one_in_characters() {
        let (root, _) = parse_text("a:\n  - ü: 1\n    é: 2\n");
        let root = root.unwrap();
        let Value::Sequence(items) = &root.get("a").unwrap().value else {
            unreachable!("a list was written");
        };
        let Value::Mapping(entries) = &items[0].value else {
            unreachable!("a mapping was written");
        };
        assert_eq!(entries[1].place, Place { line: 3, column: 5 });
        assert_eq!(entries[1].value.place, Place { line: 3, column: 8 });
    }

    #[test]
    fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
        assert_eq!(all_texts("\u{feff}a: x\r\nb: |\r\n  y\r\n  z\r\n"), ["x", "y\nz\n"]);
    }

    #[test]
    fn aliases_are_copies() {
        assert_eq!(all_texts("a: &x {k: [1, 2]}\nb: *x\n"), ["1", "2", "1", "2"]);
    }

    #[test]
    fn a_few_lines_of_aliases_cannot_fill_the_memory() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..30 {
            let before = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", [before.as_str(); 10].join(", "));
        }
        assert_eq!(
            problems(&text),
            ["test.yaml:6:10: a5[0]: too large once aliases are expanded"]
        );
        let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(500_000), ["*a"; 100_000].join(", "));
        assert!(problems(&text)[0].contains("too large once aliases are expanded"));
    }

    #[test]
    fn nesting_cannot_exhaust_the_stack() {
        let text = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(problems(&text)[0].contains("nested more than 64 levels deep"));
        for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
            let text = format!("{}{}", open.repeat(100_000), close.repeat(100_000));
            assert_eq!(problems(&text).len(), 1);
        }
    }

    #[test]
    fn a_key_that_is_given_twice_is_a_problem_with_both_lines() {
        assert_eq!(
            problems("run:\n  a: 1\n  b: 2\n  a: 3\n"),
            ["test.yaml:4:3: run.a: the key is given twice; the first one is in line 2\n    remedy: keep one of them"]
        );
    }

    #[test]
    fn what_is_no_yaml_has_a_line() {
        for (text, place) in [
            ("a: [1\nb: 2\n", "test.yaml:2"),
            ("a: 'x\n", "test.yaml:"),
            ("a: b: c\n", "test.yaml:1"),
        ] {
            let found = problems(text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].starts_with(place), "{found:?}");
        }
        assert!(problems("a: [${B}]\n")[0].contains("has to be quoted"));
        assert_eq!(problems("*nothing\n").len(), 1);
        assert_eq!(
            problems("a: &x [*x]\n"),
            ["test.yaml:1:8: a[0]: an alias of something that is not complete yet"]
        );
    }

    #[test]
    fn a_second_document_is_refused() {
        assert_eq!(problems("---\na: 1\n...\n"), [""; 0]);
        let found = problems("a: 1\n---\nb: 2\n");
        assert!(
            found[0].starts_with("test.yaml:3:1: a second document starts here"),
            "{found:?}"
        );
    }

    #[test]
    fn only_tags_that_mean_something_are_accepted() {
        assert_eq!(all_texts("a: !!str 12\n"), ["12"]);
        assert!(problems("a: !secret x\n")[0].contains("the tag `!secret` means nothing here"));
        assert!(problems("a: !!binary x\n")[0].contains("means nothing here"));
    }

    #[test]
    fn bytes_that_are_no_text_are_a_problem_with_a_line() {
        let mut problems = Problems::of(std::path::Path::new("test.yaml"));
        assert!(parse(b"a: 1\nb: \xff\n", &mut problems).is_none());
        assert_eq!(problems.into_sorted()[0].place, Some(Place { line: 2, column: 1 }));
    }
}
