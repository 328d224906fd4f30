//! The matrix as a document: rows go in, Markdown comes out, the same for the terminal and for docs/.

use std::fmt::Write as _;

use super::cell::Keys;
use super::judge::Row;

const HEAD: &str = "\
# The crash matrix

Written by `make crash-matrix`; do not edit. Each line is a world of its own: a table, a destination, and the functions'
own binaries as processes behind a Lambda runtime interface. One call is disturbed as the line says; then senders send
again until they have a 2xx, and other processes sweep until nothing is open.

- *keys*: what the destination does with a key that it has seen. **kept**: a repetition is not executed again
  (`idempotency = { window = \"24h\" }`). **none**: it is (`idempotency = \"none\"`, `on_unknown = \"hold\"`). **asked**: it
  is, and the destination can be asked what became of a key (`on_unknown = \"reconcile\"`).
- *accepted*: messages that their sender had a 2xx for. *lost*: of these, neither delivered nor held for an operator
  (nor, where that is the destination's last word, dead).
- *requests*: how many requests with one key the destination read.
- *explained*: every repetition is explained by an attempt on the record that did not surely succeed.

A claim that was written and whose end was not is an attempt that may have arrived. So a destination that keeps no keys
never sees a second request, and the price is that an entry is `held` in some lines where nothing had been sent. One that
can be asked never sees a second one either, and no entry is held.

Where somebody is told of trouble (*telling*), each entry that ends dead or held, and each conflict, has one notice, which ends
delivered; it stands among the ends.

Where a destination is *pausing*, it fails at first and is paused by that; three actions wait for it. In the end all are
delivered, no pause stands, and it never had more than one request at once.

";

/// The document.
pub(crate) fn document(rows: &[Row]) -> String {
    let mut document = HEAD.to_owned();
    let titles =
        "| disturbed | where and how | keys | accepted | lost | ends | requests | explained |\n";
    document.push_str(titles);
    document.push_str("| --- | --- | --- | ---: | ---: | --- | ---: | --- |\n");
    for row in rows {
        let _ = writeln!(document, "{}", line(row));
    }
    document
}

/// One line of the table.
pub(crate) fn line(row: &Row) -> String {
    let keys = match row.keys {
        Keys::Kept => "kept",
        Keys::None => "none",
        Keys::Asked => "asked",
    };
    let explained = if row.explained { "yes" } else { "**no**" };
    format!(
        "| {} | {} | {keys} | {} | {} | {} | {} | {explained} |",
        row.function, row.what, row.accepted, row.lost, row.ends, row.requests
    )
}

/// The cells that a document lists: the first three columns of its lines.
pub(crate) fn cells(document: &str) -> Vec<String> {
    let lines = document.lines().filter(|line| line.starts_with("| "));
    // The titles and the rule below them.
    lines.skip(2).map(cell).collect()
}

fn cell(line: &str) -> String {
    let columns: Vec<&str> = line.splitn(5, '|').take(4).collect();
    columns.join("|")
}
