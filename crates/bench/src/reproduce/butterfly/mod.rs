//! The butterfly paper: Pei, Tao, Li, Xiao, *Privacy Preserving Publishing on Multiple
//! Quasi-Identifiers*.

mod gains;
mod losses;
mod tables;

use super::{Experiment, Paper};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    name: "butterfly",
    source: "Butterfly: Pei, Tao, Li, Xiao, *Privacy Preserving Publishing on Multiple Quasi-Identifiers*, ICDE 2009",
    setting: "The paper prints four small tables (`examples/accidents` has the first) and no \
              experiments: they are in a longer version that we do not have. The experiments after \
              the tables are our own, designed to test its two claims: that one release can serve \
              several readers, and that it loses substantially less than a release for the union \
              of what they know. *Union* is strict Mondrian over all columns, *butterfly, paper* \
              the pass that the paper describes (`--variant paper`), *butterfly* ours, which \
              continues where that ends. Loss is the uncertainty penalty of Definition 1 as a mean \
              over all recoded cells.",
    experiments: &[
        Experiment {
            name: "butterfly-tables",
            title: "Tables I to IV: four accidents, two readers",
            tables: &["", "measured"],
            plots: &[""],
            run: tables::tables,
            judge: tables::judge,
        },
        Experiment {
            name: "butterfly-k",
            title: "Loss by k",
            tables: &[""],
            plots: &["adult", "uniform"],
            run: losses::by_k,
            judge: gains::by_k,
        },
        Experiment {
            name: "butterfly-overlap",
            title: "Loss by overlap of two sets",
            tables: &[""],
            plots: &["adult", "uniform"],
            run: losses::by_overlap,
            judge: gains::by_overlap,
        },
        Experiment {
            name: "butterfly-sets",
            title: "Loss by number of sets",
            tables: &[""],
            plots: &["census", "uniform"],
            run: losses::by_sets,
            judge: gains::by_sets,
        },
        Experiment {
            name: "butterfly-time",
            title: "Time by rows",
            tables: &[""],
            plots: &[""],
            run: losses::times,
            judge: gains::times,
        },
    ],
};
