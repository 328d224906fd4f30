//! Rows of cells become aligned columns, as wide as the terminal allows.

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table};

use super::{Terminal, Tone, escaped};

/// One cell: a text, and how it stands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    text: String,
    tone: Option<Tone>,
}

impl Entry {
    /// A text of whatever origin: its control characters are escaped.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self {
            text: escaped(text.as_ref()),
            tone: None,
        }
    }

    /// The same in a tone.
    #[must_use]
    pub fn toned(self, tone: Tone) -> Self {
        Self {
            tone: Some(tone),
            ..self
        }
    }

    fn cell(self, colours: bool) -> Cell {
        let cell = Cell::new(self.text);
        match self.tone {
            _ if !colours => cell,
            None => cell,
            Some(Tone::Good) => cell.fg(Color::DarkGreen),
            Some(Tone::Warn) => cell.fg(Color::DarkYellow),
            Some(Tone::Bad) => cell.fg(Color::DarkRed),
            Some(Tone::Dim) => cell.add_attribute(Attribute::Dim),
            Some(Tone::Bold) => cell.add_attribute(Attribute::Bold),
        }
    }
}

impl Terminal {
    /// The rows under their headings. Columns in `whole` are never broken over lines (what a person
    /// copies). Where the output is no terminal, no column is.
    pub fn table(&self, headings: &[&str], whole: &[usize], rows: Vec<Vec<Entry>>) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING);
        if let Some(width) = table.width() {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        } else {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
        if self.colours() {
            table.enforce_styling();
        } else {
            table.force_no_tty();
        }
        let heading = |text: &&str| Entry::new(text).toned(Tone::Bold).cell(self.colours());
        table.set_header(headings.iter().map(heading));
        for row in rows {
            table.add_row(row.into_iter().map(|entry| entry.cell(self.colours())));
        }
        for index in whole {
            if let Some(column) = table.column_mut(*index) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        let lines: Vec<String> = table
            .lines()
            .map(|line| {
                line.strip_prefix(' ')
                    .unwrap_or(&line)
                    .trim_end()
                    .to_owned()
            })
            .collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_what_comes_from_outside_is_escaped() {
        let rows = vec![
            vec![Entry::new("held"), Entry::new("a\u{1b}[2J")],
            vec![Entry::new("pending"), Entry::new("b").toned(Tone::Bad)],
        ];
        let text = Terminal::plain().table(&["STATE", "WHY"], &[0], rows);
        assert_eq!(text, "STATE    WHY\nheld     a\\u{1b}[2J\npending  b");
    }
}
