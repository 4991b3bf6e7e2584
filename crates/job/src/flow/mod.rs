//! What happens: from a source to codes, a search, cells, labels, a verified release and its
//! report.

pub(crate) mod answers;
pub(crate) mod bins;
pub(crate) mod bounds;
pub(crate) mod clock;
pub(crate) mod coding;
pub(crate) mod draft;
pub(crate) mod ended;
pub(crate) mod figures;
pub(crate) mod guess;
pub(crate) mod hierarchy;
pub(crate) mod in_files;
pub(crate) mod infeasible;
pub(crate) mod input;
pub(crate) mod job;
pub(crate) mod labelling;
pub(crate) mod measure;
pub(crate) mod memory;
pub(crate) mod ordered;
pub(crate) mod outputs;
pub(crate) mod people;
pub(crate) mod place;
pub(crate) mod publish;
pub(crate) mod recoding_file;
pub(crate) mod regions;
pub(crate) mod relabel;
pub(crate) mod report_file;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod stopped_search;
pub(crate) mod values;
pub(crate) mod workload;
pub(crate) mod workload_figures;
