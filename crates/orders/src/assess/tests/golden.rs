//! The assessment as a table that people read: `assessments.txt` beside this file, compared to the letter.
//!
//! After an intended change: `FLORIN_WRITE_ASSESSMENTS=1 cargo test -p florin-orders assessments`, then read the difference line by
//! line. A `PAID` or `OVER` that appears where none was is money given away.

mod fixture;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::fixture::{
    Fixture, LEVELS, MEMBERS, STATUSES, defect, member, mixes, nothing, observation,
};
use crate::fixtures::at;
use crate::{Amounts, Flow, Observation};

const FLOWS: [(Flow, &str); 2] = [(Flow::Custom, "custom"), (Flow::Hosted, "hosted")];
const TOLERANCES: [&str; 2] = ["0", "0.10"];

const HEAD: &str = "\
Assessments of observations. Only PAID and OVER credit an order; everything else credits nothing.

The order costs 18.11 EUR; its attempt asks for 0.00030973 BTC, 19.90 USD, 18.11 EUR. A hosted attempt names the 18.11 EUR
alone: asset and dollars are those of the response. Each received amount has one of four levels: below (less than the
tolerance of 0.10 allows, by one unit of the 18th decimal), limit (the least that the tolerance allows), exact, above.

PAID             settled, without an excess of the asset
OVER             settled, with an excess of the asset
needs review: …  nothing is credited, and a person decides. A field is missing or unreadable, the status is unknown, or the
                 response asks for something else (mismatch) or for nothing
address changed  the gateway names another address than the one that was shown
·                a defect that changes no assessment, with any received amounts and any tolerance
";

struct Table {
    text: String,
}

impl Table {
    fn title(&mut self, title: &str) {
        writeln!(self.text, "\n== {title}\n").unwrap();
    }

    fn grid(&mut self, lines: &[Vec<String>]) {
        for line in lines {
            for (column, cell) in line.iter().enumerate() {
                let cells = lines.iter().filter_map(|line| line.get(column));
                let width = cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
                write!(self.text, "{cell:width$}").unwrap();
            }
            self.text.truncate(self.text.trim_end().len());
            self.text += "\n";
        }
    }

    /// What arrived: a line for each status, and where it depends on the amounts, each mix of them.
    fn arrived(&mut self, flow: Flow, tolerance: &str) {
        let fixture = Fixture::new(flow, tolerance);
        for status in STATUSES {
            let mixes: Vec<_> = mixes().collect();
            let assessments = mixes
                .iter()
                .map(|(_, arrived)| fixture.assess(&observation(status, *arrived)));
            let assessments: Vec<_> = assessments.collect();
            if assessments
                .iter()
                .all(|assessment| *assessment == assessments[0])
            {
                let all = format!("any amounts: {}", assessments[0]);
                self.grid(&[vec![padded(status), all]]);
                continue;
            }
            let mut lines = vec![vec![padded(status), "asset".into(), "dollars".into()]];
            lines[0].extend(LEVELS.map(|(level, _)| format!("local {level}")));
            for (mixes, assessments) in mixes
                .chunks(LEVELS.len())
                .zip(assessments.chunks(LEVELS.len()))
            {
                let [asset, dollars, _] = mixes[0].0;
                let line = ["", asset, dollars]
                    .into_iter()
                    .chain(assessments.iter().copied());
                lines.push(line.map(str::to_owned).collect());
            }
            self.grid(&lines);
        }
    }

    /// Nothing arrived, or nothing but a transaction's hash; in time, and after the end.
    fn nothing_arrived(&mut self, flow: Flow) {
        type Edit = fn(&mut Observation);
        let columns: [(&str, Edit); 6] = [
            ("zeros", |_| {}),
            ("absent", |observation| {
                observation.received = Amounts::default();
            }),
            ("a hash alone", |observation| {
                observation.transaction_hash = Some("cafe".into());
            }),
            ("zeros, late", |observation| {
                observation.observed_at = at(3600);
            }),
            ("absent, late", |observation| {
                observation.received = Amounts::default();
                observation.observed_at = at(3600);
            }),
            ("no such invoice, late", |observation| {
                observation.is_known = false;
                observation.observed_at = at(3600);
            }),
        ];
        let fixture = Fixture::new(flow, "0");
        let mut lines = vec![vec![String::new()]];
        lines[0].extend(columns.map(|(column, _)| column.to_owned()));
        for status in STATUSES {
            let assessments = columns.map(|(_, change)| {
                let mut observation = nothing(status);
                change(&mut observation);
                fixture.assess(&observation).to_owned()
            });
            let name = padded(status);
            lines.push([name].into_iter().chain(assessments).collect());
        }
        self.grid(&lines);
    }

    /// Every defect of every member, each assessed with every mix of what arrived and with every tolerance.
    fn defects(&mut self, flow: Flow) {
        let fixtures = TOLERANCES.map(|tolerance| Fixture::new(flow, tolerance));
        let cases: Vec<_> = fixtures
            .iter()
            .flat_map(|fixture| mixes().map(move |(_, arrived)| (fixture, arrived)))
            .collect();
        // All known statuses, and one unknown.
        let statuses = &STATUSES[..6];
        let sound = |status| {
            let assessments = cases
                .iter()
                .map(|(fixture, arrived)| fixture.assess(&observation(status, *arrived)));
            assessments.collect::<Vec<_>>()
        };
        let sound: Vec<_> = statuses.iter().copied().map(sound).collect();
        let mut lines = vec![vec![String::new(), String::new()]];
        lines[0].extend(statuses.iter().copied().map(show));
        for (name, defects) in MEMBERS {
            for defect in defects.split(", ") {
                let mut line = vec![name.to_owned(), defect.to_owned()];
                for (status, sound) in statuses.iter().copied().zip(&sound) {
                    let spoiled = cases.iter().map(|(fixture, arrived)| {
                        let mut observation = observation(status, *arrived);
                        let value = self::defect(name, defect);
                        *member(&mut observation, name) = value.map(str::to_owned);
                        let field = fixture.field(&observation);
                        assert!(field.is_none_or(|field| field == name), "{field:?}");
                        fixture.assess(&observation)
                    });
                    line.push(summary(sound, &spoiled.collect::<Vec<_>>()));
                }
                lines.push(line);
            }
        }
        self.grid(&lines);
    }
}

fn show(status: Option<&str>) -> String {
    status.map_or_else(|| "(absent)".into(), |word| format!("{word:?}"))
}

fn padded(status: Option<&str>) -> String {
    format!("{:12}", show(status))
}

/// What a defect makes of the assessments: nothing, one assessment, or the number of each.
fn summary(sound: &[&str], spoiled: &[&str]) -> String {
    if sound == spoiled {
        return "·".into();
    }
    let mut counts: BTreeMap<_, u32> = BTreeMap::new();
    for assessment in spoiled {
        *counts.entry(*assessment).or_default() += 1;
    }
    if counts.len() == 1 {
        return spoiled[0].to_owned();
    }
    let counts = counts
        .iter()
        .map(|(assessment, count)| format!("{assessment} {count}"));
    counts.collect::<Vec<_>>().join(", ")
}

fn assessments() -> String {
    let mut table = Table { text: HEAD.into() };
    for (flow, name) in FLOWS {
        for tolerance in TOLERANCES {
            table.title(&format!("what arrived · {name} · tolerance {tolerance}"));
            table.arrived(flow, tolerance);
        }
        table.title(&format!("nothing arrived · {name}"));
        table.nothing_arrived(flow);
        table.title(&format!("defects · {name}"));
        table.defects(flow);
    }
    table.text
}

#[test]
fn the_assessments_match_the_table() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/src/assess/tests/assessments.txt"
    );
    let found = assessments();
    if std::env::var_os("FLORIN_WRITE_ASSESSMENTS").is_some() {
        std::fs::write(file, &found).unwrap();
    }
    let golden = std::fs::read_to_string(file).unwrap();
    for (number, (golden, found)) in golden.lines().zip(found.lines()).enumerate() {
        assert_eq!(golden, found, "assessments.txt:{}", number + 1);
    }
    assert_eq!(golden, found, "a line is missing, or one too many");
}
