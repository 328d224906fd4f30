//! Delivered entries stand in no index: only a scan of the whole table finds them. What it would cost comes
//! first; then the entries, a page of the table at a time. Nothing of the way of a message ever does this.

use ackbox_domain::{EntryState, Name, OutboxEntry};
use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;

use crate::due::Start;
use crate::error::failed;
use crate::expression::{s, time};
use crate::retry::{read_deadline, within};
use crate::schema::{attribute, kind};
use crate::{Between, Store, StoreError, outbox_from_item};

const DESCRIBE: &str = "describing the table";
const SCAN: &str = "scanning the table";

/// How large the table is, as the service last measured it (about every six hours in AWS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// Items of every kind.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl TableSize {
    /// The read units that one scan of it takes, each 8 KiB where reads are eventually consistent.
    pub const fn read_units(self) -> u64 {
        self.bytes.div_ceil(8192)
    }
}

/// Which delivered entries are wanted.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// To this destination.
    pub destination: Option<Name>,
    /// From this source.
    pub source: Option<Name>,
    /// Accepted between these times.
    pub between: Between,
}

/// The delivered entries of the table, a page at a time.
#[derive(Debug)]
pub struct DeliveredPages {
    store: Store,
    wanted: Delivered,
    start: Start,
    is_over: bool,
}

/// What one page of the table held.
#[derive(Debug, Default)]
pub struct DeliveredPage {
    /// The entries that are wanted, in no order.
    pub entries: Vec<OutboxEntry>,
    /// How many items were looked at.
    pub looked_at: u64,
}

impl Store {
    /// How large the table is.
    ///
    /// # Errors
    /// There is no such table, or it may not be described.
    pub async fn table_size(&self) -> Result<TableSize, StoreError> {
        let described = within(read_deadline(), DESCRIBE, || async {
            let describe = self.inner.client.describe_table();
            let sent = describe.table_name(&self.inner.table).send().await;
            sent.map_err(|error| failed(DESCRIBE, &self.inner.table, error))
        })
        .await?;
        let table = described.table;
        let number = |number: Option<i64>| number.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        Ok(TableSize {
            items: number(table.as_ref().and_then(|table| table.item_count)),
            bytes: number(table.as_ref().and_then(|table| table.table_size_bytes)),
        })
    }

    /// The delivered entries that are wanted, by a scan.
    pub fn scan_delivered(&self, wanted: Delivered) -> DeliveredPages {
        DeliveredPages {
            store: self.clone(),
            wanted,
            start: None,
            is_over: false,
        }
    }
}

impl DeliveredPages {
    /// The next page, which may hold none that is wanted; `None` at the end of the table.
    ///
    /// # Errors
    /// The table cannot be read.
    pub async fn next(&mut self) -> Result<Option<DeliveredPage>, StoreError> {
        if self.is_over {
            return Ok(None);
        }
        let inner = &self.store.inner;
        let scan = self.wanted.on(inner.client.scan().table_name(&inner.table));
        let scan = scan.set_exclusive_start_key(self.start.clone());
        let page = within(read_deadline(), SCAN, || async {
            let sent = scan.clone().send().await;
            sent.map_err(|error| failed(SCAN, &inner.table, error))
        })
        .await?;
        self.start = page.last_evaluated_key.filter(|key| !key.is_empty());
        self.is_over = self.start.is_none();
        let items = page.items.unwrap_or_default().into_iter();
        Ok(Some(DeliveredPage {
            // One that does not read is another version's, and left alone.
            entries: items
                .filter_map(|item| outbox_from_item(item.into()).ok())
                .collect(),
            looked_at: u64::try_from(page.scanned_count).unwrap_or(0),
        }))
    }
}

impl Delivered {
    fn on(&self, scan: ScanFluentBuilder) -> ScanFluentBuilder {
        let state = EntryState::Delivered.as_str();
        let wanted = [
            (attribute::SK, "=", "sk", Some(s(kind::OUTBOX))),
            (attribute::STATE, "=", "state", Some(s(state))),
            (
                attribute::DESTINATION,
                "=",
                "dest",
                self.destination.as_ref().map(|n| s(n.as_str())),
            ),
            (
                attribute::SOURCE,
                "=",
                "source",
                self.source.as_ref().map(|n| s(n.as_str())),
            ),
            (
                attribute::ACCEPTED_AT,
                ">=",
                "since",
                self.between.since.map(time),
            ),
            (
                attribute::ACCEPTED_AT,
                "<=",
                "until",
                self.between.until.map(time),
            ),
        ];
        let (mut conditions, mut scan) = (Vec::new(), scan);
        for (attribute, sign, value_name, value) in wanted {
            let Some(value) = value else { continue };
            conditions.push(format!("#{attribute} {sign} :{value_name}"));
            scan = scan
                .expression_attribute_names(format!("#{attribute}"), attribute)
                .expression_attribute_values(format!(":{value_name}"), value);
        }
        scan.filter_expression(conditions.join(" AND "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_unit_is_eight_kibibytes_and_a_part_of_one_is_a_whole() {
        for (bytes, units) in [
            (0, 0),
            (1, 1),
            (8192, 1),
            (8193, 2),
            (10_000_000_000, 1_220_704),
        ] {
            let size = TableSize { items: 3, bytes };
            assert_eq!(size.read_units(), units, "{bytes}");
        }
    }
}
