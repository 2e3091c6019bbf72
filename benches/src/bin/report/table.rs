//! Rows as tables in Markdown, which are made to be read as plain text, too.

use gloom_benches::{RATE, Results, Row, Threads};
use std::cmp::Reverse;

/// What rows of a table may differ in, beside work, call and filter.
#[derive(Clone, Copy, PartialEq)]
pub enum Column {
    Keys,
    Rate,
    Threads,
}

/// All rows.
pub fn everything(results: &Results) -> String {
    of(results, &[Column::Keys, Column::Threads, Column::Rate], |_| true)
}

/// The rows that are wanted: a line for each filter and work, a column for each number of keys.
pub fn of(results: &Results, columns: &[Column], wanted: impl Fn(&Row) -> bool) -> String {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| wanted(row)).collect();
    let sizes: Vec<u64> =
        results.sizes().into_iter().filter(|&n| rows.iter().any(|row| row.n == n)).collect();
    let mut header: Vec<String> = columns.iter().map(|column| column.title().to_owned()).collect();
    header.extend(["work", "call", "filter"].map(str::to_owned));
    let num_text_columns = header.len();
    header.extend(sizes.iter().map(|&n| format!("{} keys: ns", number(n))));
    header.extend(["measured rate", "bits a key"].map(str::to_owned));

    let lines = lines(&rows).into_iter().map(|line| {
        let any = line[0];
        let mut cells: Vec<String> = columns.iter().map(|column| column.of(any)).collect();
        let call = if any.batch { "batch" } else { "single" };
        cells.extend([any.work.text(), call, &any.filter].map(str::to_owned));
        for &n in &sizes {
            let row = line.iter().find(|row| row.n == n);
            cells.push(row.map_or(String::new(), |row| time(results, row)));
        }
        // Of the largest set, whose rate is the most exact.
        let last = line[line.len() - 1];
        cells.push(last.rate.map_or(String::new(), |rate| format!("{rate:.2e}")));
        cells.push(last.bits_per_key.map_or(String::new(), |bits| format!("{bits:.2}")));
        cells
    });
    markdown(&header, num_text_columns, &lines.collect::<Vec<_>>())
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Column::Keys => "keys",
            Column::Rate => "p",
            Column::Threads => "threads",
        }
    }

    fn of(self, row: &Row) -> String {
        match self {
            Column::Keys => row.keys.text().to_owned(),
            Column::Rate => row.p.to_string(),
            Column::Threads => row.threads.text().to_owned(),
        }
    }
}

/// Rows that differ only in the number of keys, together, from few keys to many. What is compared with each
/// other is next to each other; otherwise the order is that of the measurements.
fn lines<'a>(rows: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let mut lines: Vec<Vec<&Row>> = Vec::new();
    for &row in rows {
        let same = |line: &&mut Vec<&Row>| {
            let of = |row: &Row| (row.keys, row.threads, row.p, row.work, row.filter.clone(), row.batch);
            of(line[0]) == of(row)
        };
        match lines.iter_mut().find(same) {
            Some(line) => line.push(row),
            None => lines.push(vec![row]),
        }
    }
    lines.sort_by_key(|line| {
        let Row { keys, threads, p, work, .. } = line[0];
        // Positive numbers are ordered as their bits are.
        (*keys, *threads != Threads::One, *p != RATE, Reverse(p.to_bits()), *work)
    });
    lines
}

fn time(results: &Results, row: &Row) -> String {
    let ratio = results.hash(row).map_or(String::new(), |hash| format!(" ({:.2} H)", row.ns / hash));
    format!("{:.1}{ratio}", row.ns)
}

/// "10^5", or "20000".
pub fn number(n: u64) -> String {
    let power = n.max(1).ilog10();
    if n == 10u64.pow(power) { format!("10^{power}") } else { n.to_string() }
}

/// A table whose columns are padded; those after the first `num_text_columns` are aligned on the right.
pub fn markdown(header: &[String], num_text_columns: usize, lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|cells| cells[column].chars().count());
        cells.chain([header[column].chars().count(), 3]).max().unwrap_or(3)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    let mut line = |cells: &[String]| {
        for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
            text += &if column < num_text_columns {
                format!("| {cell:<width$} ")
            } else {
                format!("| {cell:>width$} ")
            };
        }
        text += "|\n";
    };
    line(header);
    let rules = widths.iter().enumerate().map(|(column, &width)| {
        if column < num_text_columns { "-".repeat(width) } else { "-".repeat(width - 1) + ":" }
    });
    line(&rules.collect::<Vec<_>>());
    for cells in lines {
        line(cells);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gloom_benches::{KeyKind, Work, name};

    fn row(n: u64, filter: &str, work: Work, ns: f64) -> Row {
        Row {
            keys: KeyKind::Strings,
            n,
            p: RATE,
            threads: Threads::One,
            filter: filter.to_owned(),
            work,
            batch: false,
            ns,
            rate: (work != Work::Hash).then_some(0.0099),
            bits_per_key: (work != Work::Hash).then_some(10.02),
        }
    }

    #[test]
    fn a_line_holds_all_numbers_of_keys() {
        let rows = vec![
            row(100_000, name::HASH, Work::Hash, 4.0),
            row(100_000, name::ATOMIC, Work::Add, 36.0),
            row(100_000, name::ATOMIC, Work::TestHit, 6.0),
            row(100_000, name::HASH_AGAIN, Work::Hash, 5.0),
            row(1_000_000, name::HASH, Work::Hash, 5.0),
            row(1_000_000, name::ATOMIC, Work::TestHit, 8.0),
        ];
        let results = Results { machine: Default::default(), rows };
        let expected = "\
| work      | call   | filter               | 10^5 keys: ns | 10^6 keys: ns | measured rate | bits a key |
| --------- | ------ | -------------------- | ------------: | ------------: | ------------: | ---------: |
| hash      | single | XXH3-128 alone       |  4.0 (1.00 H) |  5.0 (1.00 H) |               |            |
| hash      | single | XXH3-128 alone, last |  5.0 (1.25 H) |               |               |            |
| test, hit | single | gloom atomic         |  6.0 (1.50 H) |  8.0 (1.60 H) |       9.90e-3 |      10.02 |
| add       | single | gloom atomic         | 36.0 (9.00 H) |               |       9.90e-3 |      10.02 |
";
        let table = of(&results, &[], |_| true);
        assert_eq!(
            table.replace("  ", " ").replace("--", "-"),
            expected.replace("  ", " ").replace("--", "-")
        );
    }
}
