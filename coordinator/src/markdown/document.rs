//! A document that stays under a size, whatever is put into it.

/// Bytes of the whole. GitHub refuses comments of more than 65,536 characters; a byte is at least as many.
const MOST_BYTES: usize = 64_000;

/// Kept free for the words about what is left out.
const SPARE_BYTES: usize = 300;

/// A heading, words about it, and a table or list whose end may be left out.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// A line with the marks of a heading; empty for none.
    pub(crate) heading: String,
    /// What the figures are; the head of the table.
    pub(crate) intro: String,
    /// The lines of each, the most important first.
    pub(crate) rows: Vec<String>,
    /// Rows shown at most, however much room there is.
    pub(crate) most_rows: usize,
    /// What is in no row already.
    pub(crate) left_out: u64,
}

/// The document.
#[derive(Debug)]
pub(crate) struct Document {
    text: String,
    whole: &'static str,
    /// Sections for which there was no room.
    left_out: u64,
}

impl Document {
    /// Begins with `head`, which is cut after a line if it alone is too large. `whole` is where everything stands:
    /// `in the full report`.
    pub(crate) fn new(head: &str, whole: &'static str) -> Self {
        let mut end = head.floor_char_boundary(MOST_BYTES / 2);
        if end < head.len() {
            // A line cut in its middle could leave a code span open.
            end = head[..end].rfind('\n').map_or(0, |at| at + 1);
        }
        Self {
            text: head[..end].to_owned(),
            whole,
            left_out: 0,
        }
    }

    /// Adds a section, as much of it as there is room for.
    pub(crate) fn add(&mut self, section: &Section) {
        let mut head = String::new();
        if !self.text.is_empty() {
            head.push('\n');
        }
        if !section.heading.is_empty() {
            head += &section.heading;
            head += "\n\n";
        }
        head += &section.intro;
        let room = (MOST_BYTES - SPARE_BYTES).saturating_sub(self.text.len());
        // A table's head without any of its rows says nothing.
        let least = head.len() + section.rows.first().map_or(0, |row| row.len() + 1);
        if least > room {
            self.left_out += 1;
            return;
        }
        let mut left = room - head.len();
        self.text += &head;
        let mut shown = 0;
        for row in section.rows.iter().take(section.most_rows) {
            let Some(rest) = left.checked_sub(row.len() + 1) else {
                break;
            };
            left = rest;
            self.text += row;
            self.text.push('\n');
            shown += 1;
        }
        let hidden = (section.rows.len() - shown) as u64 + section.left_out;
        if hidden > 0 {
            self.text += &format!("\n{hidden} more {}.\n", self.whole);
        }
    }

    /// The text.
    pub(crate) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let sections = crate::words::counted(self.left_out, "section");
            self.text += &format!("\n{sections} more {}.\n", self.whole);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(title: &str) -> Section {
        Section {
            heading: format!("### {title}"),
            intro: "rows:\n\n".to_owned(),
            rows: (0..1_000).map(|n| format!("- {n} {}", "é".repeat(30))).collect(),
            most_rows: 600,
            left_out: 5,
        }
    }

    #[test]
    fn whatever_is_put_in_it_stays_under_the_size_and_says_what_it_left_out() {
        let mut document = Document::new("# head\n", "in the full report");
        for title in ["one", "two", "three"] {
            document.add(&section(title));
        }
        let text = document.finish();
        assert!(text.len() <= MOST_BYTES, "{}", text.len());
        assert!(text.contains("405 more in the full report."), "{text}");
        assert!(text.ends_with("1 section more in the full report.\n"), "{text}");
        let rows = text.lines().filter(|line| line.starts_with("- ")).count();
        assert!((880..1_000).contains(&rows), "{rows}");
    }

    #[test]
    fn a_head_is_cut_between_lines_and_a_thousand_sections_fit() {
        let mut document = Document::new(&"> `noted`\n".repeat(9_000), "in the full report");
        for _ in 0..1_000 {
            document.add(&section("one"));
        }
        let text = document.finish();
        assert!(text.len() <= MOST_BYTES, "{}", text.len());
        assert!(
            text.lines()
                .filter(|line| line.starts_with('>'))
                .all(|line| line == "> `noted`")
        );
    }
}
