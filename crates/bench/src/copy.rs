//! A plain copy by DataFusion: read, parse, write. The floor that everything is measured against.

use std::path::Path;

use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionContext};

use crate::Failure;

pub(crate) fn copy(input: &Path, output: &Path) -> Result<(), Failure> {
    tokio::runtime::Builder::new_multi_thread().build()?.block_on(async {
        let session = SessionContext::new();
        let (from, to) =
            (input.to_string_lossy().into_owned(), output.to_string_lossy().into_owned());
        let table = if is_csv(input) {
            session.read_csv(from, CsvReadOptions::new()).await?
        } else {
            session.read_parquet(from, ParquetReadOptions::default()).await?
        };
        let options = DataFrameWriteOptions::new().with_single_file_output(true);
        if is_csv(output) {
            table.write_csv(&to, options, None).await?;
        } else {
            table.write_parquet(&to, options, None).await?;
        }
        Ok(())
    })
}

fn is_csv(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csv")
}
