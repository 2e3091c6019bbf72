//! The measured part of docs/performance.md.

use crate::table::Column;
use crate::{goals, plots, table};
use gloom_benches::{KeyKind, Machine, RATE, Results, Row, Threads};
use std::fmt::Write;

const BEGIN: &str = "<!-- begin of what `make bench` writes: do not edit -->";
const END: &str = "<!-- end of what `make bench` writes -->";

/// The page with the part between the marks replaced.
pub fn with_section(page: &str, section: &str) -> Result<String, String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("the page has no lines {BEGIN} and {END}"))?;
    Ok(format!("{before}{BEGIN}\n\n{section}\n{END}{after}"))
}

pub fn machine(machine: &Machine) -> String {
    let Machine { date, processor, caches, huge_pages, compiler, flags, simd_level } = machine;
    format!(
        "\
- Date: {date}
- Processor: {processor}; caches {caches}
- Huge pages: {huge_pages}
- Compiler: {compiler}, {flags}
- gloom's instruction set: {simd_level}
"
    )
}

pub fn section(results: &Results) -> String {
    let mut text = machine(&results.machine);
    let _ = write!(text, "\n### Goals\n\n{}", goals::table(results));
    for plot in plots::ALL {
        let _ = write!(text, "\n![{}](plots/{})\n", plot.title, plot.file);
    }
    for (title, columns, wanted) in TABLES {
        if results.rows.iter().any(wanted) {
            let _ = write!(text, "\n### {title}\n\n{}", table::of(results, columns, wanted));
        }
    }
    text
}

type Table = (&'static str, &'static [Column], fn(&Row) -> bool);

const TABLES: [Table; 4] = [
    ("Strings, one thread, p = 0.01", &[], |row| {
        row.keys == KeyKind::Strings && row.threads == Threads::One && row.p == RATE
    }),
    ("Strings, two threads, p = 0.01", &[Column::Threads], |row| row.threads != Threads::One),
    ("Numbers of 8 bytes, one thread, p = 0.01", &[], |row| row.keys == KeyKind::Numbers),
    ("Strings, one thread, other rates", &[Column::Rate], |row| row.p != RATE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nrest\n");
        let new = with_section(&page, "new\n").unwrap();
        assert_eq!(new, format!("# Title\n\n{BEGIN}\n\nnew\n\n{END}\n\nrest\n"));
        assert_eq!(with_section(&new, "new\n").unwrap(), new);
    }

    #[test]
    fn a_page_without_marks_is_left_alone() {
        assert!(with_section("# Title\n", "new").is_err());
        assert!(with_section(&format!("{END}\n{BEGIN}\n"), "new").is_err());
    }

    #[test]
    fn the_page_has_the_marks() {
        let page = include_str!("../../../../docs/performance.md");
        assert!(with_section(page, "new").unwrap().contains("\n\nnew\n"));
    }
}
