//! Turns results of the benchmarks into tables and plots.
//!
//! usage: report RESULTS [DOCS]
//!
//! Prints everything as one table. With the folder of the pages, writes the measured part of performance.md and
//! the plots, too.

mod goals;
mod page;
mod plots;
mod table;

use gloom_benches::Results;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (results, docs) = match &arguments[..] {
        [results] => (results, None),
        [results, docs] => (results, Some(Path::new(docs))),
        _ => return Err("usage: report RESULTS [DOCS]".into()),
    };
    let results = Results::read(Path::new(results)).map_err(|error| format!("{results}: {error}"))?;
    println!("{}", page::machine(&results.machine));
    println!("{}", table::everything(&results));
    println!("{}", goals::table(&results));
    if let Some(docs) = docs {
        let path = docs.join("performance.md");
        let page = fs::read_to_string(&path)?;
        fs::write(&path, page::with_section(&page, &page::section(&results))?)?;
        plots::draw(&results, &docs.join("plots"))?;
        println!("written: {}", path.display());
    }
    Ok(())
}
