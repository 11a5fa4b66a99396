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
