//! Flags that say how the values of a column are ordered and kept together.

use incrowd_job::{BinsSpec, ColumnSpec, CountedBins, JobSpec, Problem};

use crate::args::JobArgs;
use crate::commands::refuse_twice;

/// Orders that are taken from hierarchies, and bins.
pub(crate) fn orders(args: &JobArgs, spec: &mut JobSpec, problems: &mut Vec<Problem>) {
    let wrong = |flag: &str, form: &str, text: &str| Problem {
        message: format!("--{flag} needs {form}, found `{text}`"),
        help: None,
    };
    let mut seen = Vec::new();
    for text in &args.order_from {
        match text.split_once('=') {
            Some((column, file)) => {
                problems.extend(refuse_twice(&mut seen, "order-from", column).err());
                let column: &mut ColumnSpec = spec.columns.entry(column.to_owned()).or_default();
                column.order_from = Some(file.to_owned());
            }
            None => problems.push(wrong("order-from", "COL=FILE", text)),
        }
    }
    for text in &args.bins {
        let parsed = text.split_once('=').and_then(|(column, bins)| Some((column, bins_of(bins)?)));
        match parsed {
            Some((column, bins)) => {
                problems.extend(refuse_twice(&mut seen, "bins", column).err());
                let column: &mut ColumnSpec = spec.columns.entry(column.to_owned()).or_default();
                column.bins = Some(bins);
            }
            None => problems.push(wrong("bins", "COL=WIDTH[,ORIGIN]", text)),
        }
    }
}

/// `5`, or `5,17`.
fn bins_of(text: &str) -> Option<BinsSpec> {
    let (width, origin) = text.split_once(',').unwrap_or((text, "0"));
    let [width, origin] = [width, origin].map(|number| number.trim().parse().ok());
    Some(BinsSpec::From(CountedBins { width: width?, origin: origin? }))
}
