//! The Mondrian report: LeFevre, DeWitt, Ramakrishnan, *Multidimensional K-Anonymity*, TR 1521.

mod discernibility;
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
              leave nothing out, the first two minimise discernibility. The figures of the report are pictures \
              without numbers, so that orderings are compared, except in Figures 2 to 8 and 17.",
    experiments: &[
        Experiment {
            name: "mondrian-figure-2-8",
            title: "Figures 2, 3, 6 and 8: releases of the Patients table",
            run: patients::releases,
        },
        Experiment {
            name: "mondrian-figure-10",
            title: "Figure 10: discernibility by k, uniform",
            run: discernibility::uniform,
        },
        Experiment {
            name: "mondrian-figure-11",
            title: "Figure 11: discernibility by k, skewed",
            run: discernibility::skewed,
        },
        Experiment {
            name: "mondrian-figure-12",
            title: "Figure 12: discernibility by standard deviation",
            run: discernibility::deviations,
        },
        Experiment {
            name: "mondrian-figure-13",
            title: "Figure 13: discernibility by number of attributes",
            run: discernibility::attributes,
        },
        Experiment {
            name: "mondrian-figure-14",
            title: "Figure 14: discernibility by k, Adult",
            run: discernibility::adult,
        },
        Experiment {
            name: "mondrian-figure-15-16",
            title: "Figures 15 and 16: how two attributes are divided",
            run: pictures::partitions,
        },
        Experiment {
            name: "mondrian-figure-17",
            title: "Figure 17: errors of counts with a condition on one attribute",
            run: queries::errors,
        },
    ],
};
