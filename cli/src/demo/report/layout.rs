//! Texts in columns, by characters: what the demo prints holds none that is wider than one column.

/// How a column is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// From the left, this wide.
    Left(usize),
    /// From the right, this wide.
    Right(usize),
}

/// A line of cells, indented by two.
pub(super) fn row(columns: &[Column], cells: &[String]) -> String {
    let mut line = String::from("  ");
    for (column, cell) in columns.iter().zip(cells) {
        match column {
            Column::Left(width) => line.push_str(&format!("{cell:<width$}")),
            Column::Right(width) => line.push_str(&format!("{cell:>width$}")),
        }
    }
    line
}

/// The text, exactly this wide: filled with spaces, or cut with an ellipsis.
pub(super) fn fitted(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:<width$}");
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}
