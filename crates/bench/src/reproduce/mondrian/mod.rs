//! The Mondrian report: LeFevre, DeWitt, Ramakrishnan, *Multidimensional K-Anonymity*, TR 1521.

mod discernibility;
mod figure_7;
mod ordering;
mod patients;
mod pictures;
mod queries;

pub(crate) use pictures::edges;

use super::{Experiment, Paper};

/// The report.
pub(crate) const PAPER: Paper = Paper {
    name: "mondrian",
    source: "Mondrian: LeFevre, DeWitt, Ramakrishnan, *Multidimensional K-Anonymity*, TR 1521, 2005",
    setting: "The Patients table is Figure 1 of the report (`examples/patients`). The synthetic tables are those \
              of `incrowd generate`: the report gives its standard deviation \"with respect to standard normal\", \
              which is read as a share of the range (docs/src/generate.md says why). Adult is the bundled table, \
              training part without missing values: 30,162 rows, as in the report. *Full-domain* is \
              `--algorithm optimal`, *single-dimensional* `koptimize`, *multidimensional* strict `mondrian`; all \
              leave nothing out, the first two minimise discernibility. The product cuts at the allowable cut \
              nearest the median; *literal multidimensional* is the report's Figure 7 to the letter, which has the cut \
              behind the median alone. The figures of the report are pictures without numbers, so that orderings are \
              compared, except in Figures 2 to 8 and 17.",
    experiments: &[
        Experiment {
            name: "mondrian-figure-2-8",
            title: "Figures 2, 3, 6 and 8: releases of the Patients table",
            tables: &[""],
            plots: &["single", "multi"],
            run: patients::releases,
            judge: patients::judge,
        },
        Experiment {
            name: "mondrian-figure-10",
            title: "Figure 10: discernibility by k, uniform",
            tables: &[""],
            plots: &[""],
            run: discernibility::uniform,
            judge: ordering::uniform,
        },
        Experiment {
            name: "mondrian-figure-11",
            title: "Figure 11: discernibility by k, skewed",
            tables: &["", "uniform"],
            plots: &[""],
            run: discernibility::skewed,
            judge: ordering::skewed,
        },
        Experiment {
            name: "mondrian-figure-12",
            title: "Figure 12: discernibility by standard deviation",
            tables: &[""],
            plots: &[""],
            run: discernibility::deviations,
            judge: ordering::deviations,
        },
        Experiment {
            name: "mondrian-figure-13",
            title: "Figure 13: discernibility by number of attributes",
            tables: &[""],
            plots: &[""],
            run: discernibility::attributes,
            judge: ordering::attributes,
        },
        Experiment {
            name: "mondrian-figure-14",
            title: "Figure 14: discernibility by k, Adult",
            tables: &["", "ties"],
            plots: &[""],
            run: discernibility::adult,
            judge: ordering::adult,
        },
        Experiment {
            name: "mondrian-figure-15-16",
            title: "Figures 15 and 16: how two attributes are divided",
            tables: &[""],
            plots: &[
                "single-k10",
                "single-k25",
                "single-k50",
                "multi-k10",
                "multi-k25",
                "multi-k50",
            ],
            run: pictures::partitions,
            judge: pictures::judge,
        },
        Experiment {
            name: "mondrian-figure-17",
            title: "Figure 17: errors of counts with a condition on one attribute",
            tables: &[""],
            plots: &[""],
            run: queries::errors,
            judge: queries::judge,
        },
    ],
};
