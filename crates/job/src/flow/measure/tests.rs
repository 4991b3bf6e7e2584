//! What is found in private files is what is found in memory.

use std::sync::Arc;

use incrowd_data::Codes;
use incrowd_engine::{CodeWriter, Scratch, Source};

use super::*;
use crate::flow::bounds::Tried;
use crate::flow::measure::Starred;
use crate::flow::run::Run;
use crate::plan::Purpose;
use crate::spec::JobSpec;

/// Random numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Rows of who, a, b, c, pay, illness and buys; some cells are missing, some rows starred.
fn table(n_rows: u64, seed: u64, is_sorted: bool) -> String {
    let mut random = Random(seed);
    let mut rows: Vec<String> = (0..n_rows)
        .map(|_| {
            let who = random.below(n_rows / 2 + 1);
            let quasi = if random.below(9) == 0 {
                "*,*,*".to_owned()
            } else {
                let b = random.below(4);
                let b = if b == 3 { String::new() } else { format!("b{b}") };
                format!("{},{b},c{}", random.below(5), random.below(3))
            };
            let pay = random.below(7) * 10;
            let illness = ["flu", "cold", "hiv", ""][usize::try_from(random.below(4)).unwrap()];
            format!("{quasi},{who},{pay},{illness},{}\n", random.below(2))
        })
        .collect();
    if is_sorted {
        rows.sort();
    }
    format!("a,b,c,who,pay,illness,buys\n{}", rows.concat())
}

const JOBS: [&str; 5] = [
    "[privacy]\nk = 3\n[columns]\na.role = \"quasi\"\nb.role = \"quasi\"\n",
    "[columns]\na = { role = \"quasi\" }\nb = { role = \"quasi\" }\nc = { role = \"quasi\" }\n\
     who = { role = \"identifier\", entity = true }\nbuys = { target = true }\n\
     [privacy]\nk = 2\n",
    "[columns]\na = { role = \"quasi\" }\nc = { role = \"quasi\" }\n\
     pay = { role = \"sensitive\" }\nillness = { role = \"sensitive\" }\n\
     [privacy]\nk = 4\nl-diversity = [{ column = \"illness\", entropy = 2 }, \
     { column = \"pay\", distinct = 3 }, { column = \"illness\", recursive = [2, 2] }]\n\
     t-closeness = [{ column = \"pay\", value = 0.3 }, { column = \"illness\", value = 0.2 }]\n\
     squared-error = [{ column = \"pay\", value = 50 }]\n",
    "[[quasi]]\nname = \"x\"\ncolumns = [\"a\", \"b\"]\n[[quasi]]\nname = \"y\"\n\
     columns = [\"b\", \"c\"]\nk = 5\n[[quasi]]\nname = \"z\"\ncolumns = [\"a\", \"buys\"]\n\
     [columns]\nillness = { role = \"sensitive\" }\nwho = { role = \"identifier\", entity = true }\n\
     [privacy]\nk = 3\nt-closeness = [{ column = \"illness\", value = 0.1 }]\n",
    "collude = [[\"x\", \"y\"]]\n[[quasi]]\nname = \"x\"\ncolumns = [\"a\", \"c\"]\n\
     [[quasi]]\nname = \"y\"\ncolumns = [\"b\"]\n\
     [columns]\nbuys = { target = true }\n[privacy]\nk = 2\n",
];

/// All that is reported of a table.
fn reports(plan: &Plan, measured: &Measured) -> String {
    let starred = Starred { n_rows: measured.n_rows / 9, n_minority: 0 };
    let all = [Starred::default(), starred].map(|starred| {
        serde_json::json!([
            release_report(measured, 2, starred),
            measures_report(plan, measured, 2, starred),
        ])
    });
    let rest = serde_json::json!([
        privacy_report(plan, measured),
        collusion_report(plan, measured),
        risk_report(measured),
        failures(measured),
        measured.n_rows,
    ]);
    format!("{all:?} {rest}")
}

/// Measures a table both ways, with entities apart if there are some.
#[track_caller]
fn check(text: &str, job: &str, threads: usize, room: u64, entity: Option<&Entities>) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("t.csv");
    std::fs::write(&input, text).unwrap();
    let mut spec = JobSpec::from_toml(&format!("undeclared = \"drop\"\n{job}")).unwrap();
    spec.run.threads = Some(threads);
    spec.run.temp_dir = Some(folder.path().display().to_string());
    let found = Run::default().with_engine(Some(threads), |engine| {
        let source = Source::open(engine, &input.display().to_string())?;
        let plan = Plan::new(&spec, &source, Purpose::Measure)?;
        let released_as = plan
            .columns
            .iter()
            .map(|column| {
                let is_apart = entity.is_some() && column.spec.entity;
                if is_apart { Vec::new() } else { vec![column.name.clone()] }
            })
            .collect();
        let subject = Subject {
            plan: &plan,
            released_as,
            entity: entity.cloned(),
            contents: Vec::new(),
            is_given: false,
        };
        let bounds = Bounds::new(&spec.run, Tried::default())?;
        let ways = [Place::Memory, Place::Files { bounds: &bounds, room: Some(room) }];
        let mut found = Vec::new();
        for way in ways {
            let measured = measure_in(engine, &source, &subject, &way)?;
            found.push(reports(&plan, &measured));
        }
        Ok(found)
    });
    let found = found.unwrap();
    assert_eq!(found[0], found[1], "{job} on {threads} threads in {room} bytes");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the table is left");
}

#[test]
fn every_report_is_the_same_in_and_out_of_memory() {
    for job in JOBS {
        for seed in 0..6 {
            let n_rows = [0, 1, 40, 300, 1000, 2000][usize::try_from(seed).unwrap()];
            for is_sorted in [false, true] {
                let text = table(n_rows, seed, is_sorted);
                for (threads, room) in [(1, 1 << 24), (2, 1 << 24), (1, 1 << 10), (2, 1 << 13)] {
                    check(&text, job, threads, room, None);
                }
            }
        }
    }
}

/// Rows in several parts, and entities that the table does not say.
#[test]
fn entities_apart_are_those_of_their_rows() {
    let n_rows = 400_000;
    let text = table(n_rows, 7, false);
    let mut random = Random(3);
    let codes: Vec<u32> = (0..n_rows).map(|_| u32::try_from(random.below(300)).unwrap()).collect();
    let in_memory = Entities::Memory(Codes::pack(300, codes.iter().copied()), 300);
    let folder = tempfile::tempdir().unwrap();
    let scratch = Arc::new(Scratch::new(Some(folder.path())).unwrap());
    let mut writer = CodeWriter::new(&scratch, "entities", 1).unwrap();
    for block in codes.chunks(70_001) {
        writer.write(&[Codes::pack(300, block.iter().copied())]).unwrap();
    }
    let in_file = Entities::File(writer.finish().unwrap(), 300);
    for entity in [in_memory, in_file] {
        check(&text, JOBS[1], 2, 1 << 20, Some(&entity));
    }
}
