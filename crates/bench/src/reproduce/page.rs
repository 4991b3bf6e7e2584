//! The page that gathers all experiments.

use std::path::Path;

use super::PAPERS;
use crate::Failure;

/// The page.
pub(crate) const NAME: &str = "reproduction.md";
/// Where the numbers, pictures and paragraphs of the experiments are, beside the page.
pub(crate) const FOLDER: &str = "reproduction";

const HEAD: &str = "\
<!-- Written by `incrowd-bench reproduce`; edit the experiments instead. -->
# The papers, done again

Incrowd implements the systems of five papers. This page does their tables and figures again, with the
product itself, and says what agrees and what does not. Every number comes from a run of

```sh
cargo run --release -p incrowd-bench -- reproduce all --out docs
```

(`--quick` does smaller versions in minutes; a name in place of `all` does one paper or one figure.) Rows are
drawn from a seed and searches are deterministic, so that everything but the times is the same on every
machine. Numbers are in a CSV file beside each picture. *Agrees* and *differs* are computed from the numbers,
not written by hand; a test checks the quick version's in every run of CI.
";

/// Writes the page from what the folder beside it has.
pub(crate) fn gather(out: &Path) -> Result<(), Failure> {
    let folder = out.join(FOLDER);
    let mut page = HEAD.to_owned();
    for paper in PAPERS {
        let parts: Vec<String> = (paper.experiments.iter())
            .filter_map(|one| std::fs::read_to_string(folder.join(format!("{}.md", one.name))).ok())
            .collect();
        if parts.is_empty() {
            continue;
        }
        page.push_str(&format!("\n## {}\n\n{}\n", paper.source, paper.setting));
        for part in parts {
            page.push('\n');
            page.push_str(&part);
        }
    }
    std::fs::write(out.join(NAME), page)?;
    Ok(())
}
