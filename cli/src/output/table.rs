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
    /// The rows under their headings. Only the last column is broken over lines, and only on a terminal
    /// that leaves it room: what a person copies stays whole.
    pub fn table(&self, headings: &[&str], rows: Vec<Vec<Entry>>) -> String {
        let mut table = Table::new();
        table.load_style(NOTHING);
        let width = table.width();
        table.set_content_arrangement(ContentArrangement::Disabled);
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
        if let Some(width) = width {
            fit(&mut table, width);
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

/// Breaks the last column where the others leave it room in this width.
fn fit(table: &mut Table, width: u16) {
    const ROOM: u16 = 24;
    /// White space that a column has on both sides.
    const PADDING: u16 = 2;
    let mut others = table.column_max_content_widths();
    others.pop();
    let taken = others.iter().fold(PADDING, |sum, column| {
        sum.saturating_add(*column).saturating_add(PADDING)
    });
    if width < taken.saturating_add(ROOM) {
        return;
    }
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width);
    for index in 0..others.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
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
        let text = Terminal::plain().table(&["STATE", "WHY"], rows);
        assert_eq!(text, "STATE    WHY\nheld     a\\u{1b}[2J\npending  b");
    }

    #[test]
    fn only_the_last_column_is_broken_and_only_where_there_is_room() {
        let lines = |width| {
            let mut table = Table::new();
            table.load_style(NOTHING);
            table.force_no_tty();
            table.set_content_arrangement(ContentArrangement::Disabled);
            table.add_row(["one two three four", &"word ".repeat(12)]);
            fit(&mut table, width);
            table.lines().collect::<Vec<_>>()
        };
        assert!(lines(60).len() > 1, "{:?}", lines(60));
        assert!(lines(60)[0].contains("one two three four"));
        assert_eq!(lines(40).len(), 1);
        assert_eq!(lines(0).len(), 1);
    }
}
