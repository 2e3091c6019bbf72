//! The plots, drawn by the crate plotters.

use crate::table::number;
use gloom_benches::{KeyKind, RATE, Results, Row, Threads, Work, name};
use plotters::prelude::*;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;

pub struct Plot {
    pub file: &'static str,
    pub title: &'static str,
    x: Axis,
    y: Axis,
    /// Where no line runs.
    legend: SeriesLabelPosition,
    lines: &'static [Line],
}

/// An axis, always logarithmic.
struct Axis {
    title: &'static str,
    /// What a row has here.
    value: fn(&Row) -> Option<f64>,
    /// Marks are at powers of this.
    base: f64,
    label: fn(&f64) -> String,
}

/// A line goes through all rows of strings and one thread that have these.
struct Line {
    filter: &'static str,
    work: Work,
    batch: bool,
}

const KEYS: Axis =
    Axis { title: "keys", value: |row| Some(row.n as f64), base: 10.0, label: |&n| number(n.round() as u64) };
const NANOSECONDS: Axis =
    Axis { title: "ns per key", value: |row| Some(row.ns), base: 2.0, label: f64::to_string };
const RATE_ASKED: Axis =
    Axis { title: "rate asked for", value: |row| Some(row.p), base: 10.0, label: f64::to_string };
const RATE_MEASURED: Axis = Axis {
    title: "rate measured",
    // A logarithm of nothing cannot be drawn.
    value: |row| row.rate.filter(|&rate| rate > 0.0),
    base: 10.0,
    label: f64::to_string,
};
const BITS: Axis =
    Axis { title: "bits per key", value: |row| row.bits_per_key, base: 2.0, label: f64::to_string };

const fn single(filter: &'static str, work: Work) -> Line {
    Line { filter, work, batch: false }
}

const fn batch(filter: &'static str, work: Work) -> Line {
    Line { filter, work, batch: true }
}

/// A filter of each crate: rate and size do not depend on how it is called.
const FILTERS: &[Line] = &[
    single(name::ATOMIC, Work::TestMiss),
    single(name::FASTBLOOM, Work::TestMiss),
    single(name::SBBF, Work::TestMiss),
    single(name::BLOOMFILTER, Work::TestMiss),
];

pub const ALL: [Plot; 4] = [
    Plot {
        file: "test.svg",
        title: "Tests of absent keys (strings, one thread, p = 0.01)",
        x: KEYS,
        y: NANOSECONDS,
        legend: SeriesLabelPosition::MiddleRight,
        lines: &[
            batch(name::ATOMIC, Work::TestMiss),
            single(name::ATOMIC, Work::TestMiss),
            single(name::HASH, Work::Hash),
            single(name::SBBF, Work::TestMiss),
            single(name::FASTBLOOM_XXH3, Work::TestMiss),
            single(name::FASTBLOOM, Work::TestMiss),
            single(name::BLOOMFILTER, Work::TestMiss),
        ],
    },
    Plot {
        file: "add.svg",
        title: "Adds of new keys (strings, one thread, p = 0.01)",
        x: KEYS,
        y: NANOSECONDS,
        legend: SeriesLabelPosition::MiddleRight,
        lines: &[
            batch(name::PLAIN, Work::Add),
            single(name::PLAIN, Work::Add),
            batch(name::SHARDED, Work::Add),
            batch(name::ATOMIC, Work::Add),
            single(name::HASH, Work::Hash),
            single(name::SBBF, Work::Add),
            single(name::FASTBLOOM, Work::Add),
            single(name::FASTBLOOM_ATOMIC, Work::Add),
            single(name::BLOOMFILTER, Work::Add),
        ],
    },
    Plot {
        file: "rate.svg",
        title: "The rate asked for and the rate measured",
        x: RATE_ASKED,
        y: RATE_MEASURED,
        legend: SeriesLabelPosition::UpperLeft,
        lines: FILTERS,
    },
    Plot {
        file: "bits.svg",
        title: "Memory for a rate",
        x: RATE_ASKED,
        y: BITS,
        legend: SeriesLabelPosition::UpperRight,
        lines: FILTERS,
    },
];

/// Draws all plots for which there are enough rows.
pub fn draw(results: &Results, folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for plot in &ALL {
        plot.draw(results, &folder.join(plot.file))?;
    }
    Ok(())
}

impl Plot {
    fn draw(&self, results: &Results, path: &Path) -> Result<(), Box<dyn Error>> {
        let lines: Vec<(String, Vec<(f64, f64)>)> =
            self.lines.iter().map(|line| (line.label(), self.points(line, results))).collect();
        let points = || lines.iter().flat_map(|(_, points)| points);
        let (mut x, y) = (range(points().map(|point| point.0)), range(points().map(|point| point.1)));
        if matches!(self.legend, SeriesLabelPosition::MiddleRight) {
            // Room for the names beside the ends of the lines.
            x.end *= (x.end / x.start).powf(0.4);
        }

        let root = SVGBackend::new(path, (900, 480)).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(self.title, ("sans-serif", 18))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x.log_scale().base(self.x.base), y.log_scale().base(self.y.base))?;
        chart
            .configure_mesh()
            .x_desc(self.x.title)
            .y_desc(self.y.title)
            .light_line_style(WHITE)
            .x_label_formatter(&self.x.label)
            .y_label_formatter(&self.y.label)
            .draw()?;
        for (number, (label, points)) in lines.into_iter().enumerate() {
            let color = Palette99::pick(number).to_rgba();
            let style = color.stroke_width(2);
            chart
                .draw_series(LineSeries::new(points, style).point_size(3))?
                .label(label)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], style));
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE)
            .label_font(("sans-serif", 13))
            .draw()?;
        root.present()?;
        Ok(())
    }

    /// From left to right.
    fn points(&self, line: &Line, results: &Results) -> Vec<(f64, f64)> {
        // Rates are compared with as many keys as all of them were measured with.
        let over_keys = self.x.title == KEYS.title;
        let most = results.rows.iter().filter(|row| row.p != RATE).map(|row| row.n).max();
        let rows = results.rows.iter().filter(|row| {
            (row.keys, row.threads) == (KeyKind::Strings, Threads::One)
                && (row.filter.as_str(), row.work, row.batch) == (line.filter, line.work, line.batch)
                && if over_keys { row.p == RATE } else { Some(row.n) == most }
        });
        let mut points: Vec<(f64, f64)> =
            rows.filter_map(|row| Some(((self.x.value)(row)?, (self.y.value)(row)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}

impl Line {
    fn label(&self) -> String {
        if self.batch { format!("{}, batch", self.filter) } else { self.filter.to_owned() }
    }
}

/// All values, with some room around them.
fn range(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    if least < most { least / 1.2..most * 1.2 } else { 1.0..10.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u64, p: f64, filter: &str, ns: f64) -> Row {
        Row {
            keys: KeyKind::Strings,
            n,
            p,
            threads: Threads::One,
            filter: filter.to_owned(),
            work: Work::TestMiss,
            batch: false,
            ns,
            rate: Some(p),
            bits_per_key: Some(10.0),
        }
    }

    fn drawn(rows: Vec<Row>) -> Vec<String> {
        let number = rows.len();
        let folder = std::env::temp_dir().join(format!("gloom-plots-{}-{number}", std::process::id()));
        draw(&Results { machine: Default::default(), rows }, &folder).unwrap();
        let plots = ALL.iter().map(|plot| fs::read_to_string(folder.join(plot.file)).unwrap()).collect();
        fs::remove_dir_all(&folder).unwrap();
        plots
    }

    #[test]
    fn plots_have_a_line_for_each_filter() {
        let rows = [(1000, 0.01), (10_000, 0.01), (10_000, 0.1), (10_000, 0.001)];
        let filters = [(name::ATOMIC, 6.0), (name::FASTBLOOM, 23.0)];
        let rows = rows.iter().flat_map(|&(n, p)| filters.map(|(filter, ns)| row(n, p, filter, ns)));
        let [test, _, rate, bits] = drawn(rows.collect()).try_into().unwrap();
        for (plot, points) in [(test, 4), (rate, 6), (bits, 6)] {
            assert_eq!(plot.matches("<circle").count(), points, "{plot}");
            assert!(plot.contains("\nfastbloom\n"), "{plot}");
        }
    }

    #[test]
    fn plots_without_points_are_empty() {
        assert!(drawn(Vec::new()).iter().all(|plot| plot.contains("</svg>")));
    }
}
