//! A document that stays under a size, whatever is put into it.

/// Bytes of the whole. GitHub refuses comments of more than 65,536 characters; a byte is at least as many.
const MOST_BYTES: usize = 64_000;

/// Kept free for the words about what is left out.
const SPARE_BYTES: usize = 300;

/// A heading, words about it, and a table or list whose end may be left out.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Without the marks of a heading.
    pub(super) title: String,
    /// What the figures are; the head of the table.
    pub(super) intro: String,
    /// A line each, the most important first.
    pub(super) rows: Vec<String>,
    /// Rows shown at most, however much room there is.
    pub(super) most_rows: usize,
    /// What is in no row already.
    pub(super) left_out: u64,
}

/// The document.
#[derive(Debug)]
pub(super) struct Document {
    text: String,
}

impl Document {
    /// Begins with `head`, which is cut if it alone is too large.
    pub(super) fn new(head: &str) -> Self {
        let end = head.floor_char_boundary(MOST_BYTES / 2);
        Self {
            text: head[..end].to_owned(),
        }
    }

    /// Adds a section, as much of it as there is room for.
    pub(super) fn add(&mut self, section: &Section) {
        let head = format!("\n### {}\n\n{}", section.title, section.intro);
        let room = (MOST_BYTES - SPARE_BYTES).saturating_sub(self.text.len());
        if head.len() > room {
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
            self.text += &format!("\n{hidden} more in the full report.\n");
        }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_put_in_it_stays_under_the_size_and_says_what_it_left_out() {
        let mut document = Document::new("# head\n");
        for title in ["one", "two", "three"] {
            document.add(&Section {
                title: title.to_owned(),
                intro: "rows:\n\n".to_owned(),
                rows: (0..1_000).map(|n| format!("- {n} {}", "é".repeat(30))).collect(),
                most_rows: 600,
                left_out: 5,
            });
        }
        let text = document.finish();
        assert!(text.len() <= MOST_BYTES, "{}", text.len());
        assert!(text.contains("405 more in the full report."), "{text}");
        let rows = text.lines().filter(|line| line.starts_with("- ")).count();
        assert!((880..1_000).contains(&rows), "{rows}");
    }
}
