//! What answers to a question mean, whatever the question is about: a list of tables comes in, rules go out.
//! An answer that no rule knows means nothing: silence is never read as a yes or a no.

use ackbox_domain::Pointer;
use ackbox_domain::settlement::AnswerRule;
use toml::de::DeValue;

use super::nearest::shown;
use super::report::{Read, Reported, Span};
use super::table::{Key, Table, Value};

/// How one kind of answers is read.
pub(crate) struct Answers<W> {
    /// The keys of one answer: `status`, `where`, and those that say what it means.
    pub(crate) keys: &'static [Key],
    /// Reads what it means.
    pub(crate) means: fn(&Table<'_>) -> Read<W>,
    /// What is doubtful about a rule by itself: what it says, and what to write.
    pub(crate) doubt: fn(&AnswerRule<W>) -> Option<(String, &'static str)>,
}

impl<W> Answers<W> {
    /// The rules of `answers`, where it is there.
    pub(crate) fn read(&self, table: &Table<'_>) -> Read<Option<Vec<AnswerRule<W>>>> {
        let Some(value) = table.get("answers") else {
            return Ok(None);
        };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(table.not_a("answers", value, "", "a list of tables"));
        };
        let mut rules: Vec<AnswerRule<W>> = Vec::new();
        let mut failed: Option<Reported> = None;
        for value in list.iter() {
            match self.answer(table, value) {
                Ok(rule) => {
                    self.warn(table, &value.span(), &rule, &rules);
                    rules.push(rule);
                }
                Err(reported) => failed = Some(reported),
            }
        }
        failed.map_or(Ok(Some(rules)), Err)
    }

    /// Warns of a rule that is never reached, and of one that is doubtful by itself.
    fn warn(&self, table: &Table<'_>, span: &Span, rule: &AnswerRule<W>, before: &[AnswerRule<W>]) {
        if before.iter().any(|earlier| earlier.covers(rule)) {
            let message = format!(
                "this answer is never reached: one before it fits every answer with the status {} that it fits",
                rule.status
            );
            let help = "write it before that one, or remove it";
            table.report.warn(span, message, help);
        }
        if let Some((message, help)) = (self.doubt)(rule) {
            table.report.warn(span, message, help);
        }
    }

    fn answer(&self, of: &Table<'_>, value: &Value<'_>) -> Read<AnswerRule<W>> {
        let DeValue::Table(entries) = value.get_ref() else {
            return Err(of.not_a("answers", value, "an entry that is", "a table"));
        };
        let title = format!("an answer in {}", of.title);
        let table = Table::of(of.report, entries, value.span(), title, self.keys);
        let status = status(&table);
        let conditions = conditions(&table);
        let means = (self.means)(&table);
        Ok(AnswerRule {
            status: status?,
            conditions: conditions?,
            means: means?,
        })
    }
}

fn status(table: &Table<'_>) -> Read<u16> {
    let value = table.required("status", Ok(table.get("status")))?;
    let number = match value.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        _ => return Err(table.not_a("status", value, "", "a number")),
    };
    number
        .filter(|status| (200..600).contains(status))
        .ok_or_else(|| {
            let message = "`status` is no status of a final answer";
            table
                .report
                .mistake(&value.span(), message, "write a number from 200 to 599")
        })
}

fn conditions(table: &Table<'_>) -> Read<Vec<(Pointer, String)>> {
    let Some(value) = table.get("where") else {
        return Ok(Vec::new());
    };
    let DeValue::Table(entries) = value.get_ref() else {
        return Err(table.not_a("where", value, "", "a table of pointers and values"));
    };
    let mut conditions = Vec::new();
    let mut failed = None;
    for (name, value) in entries.iter() {
        let pointer: Result<Pointer, _> = name.get_ref().parse();
        match (pointer, scalar(value)) {
            (Ok(pointer), Some(wanted)) => conditions.push((pointer, wanted)),
            (Err(why), _) => {
                let message = format!("{} is no JSON pointer: {why}", shown(name.get_ref()));
                let help = "write a pointer into the answer's body, as in \"/state\"";
                failed = Some(table.report.mistake(&name.span(), message, help));
            }
            (Ok(_), None) => {
                let help = "write a text, a number, or true or false";
                let message = "what an answer is compared with is a value of its own";
                failed = Some(table.report.mistake(&value.span(), message, help));
            }
        }
    }
    failed.map_or(Ok(conditions), Err)
}

/// As the answer's JSON would write it.
fn scalar(value: &Value<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}
