//! The aggregate function that finds a column's values and counts their rows.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use crate::encode::tally::Tally;
use crate::error::fault::Fault;

/// The name by which workers know it.
pub(crate) const NAME: &str = "incrowd_values";

/// Finds a column's values and counts their rows, as bytes of a [`Tally`].
#[derive(Debug, PartialEq, Eq, Hash)]
struct FindValues {
    signature: Signature,
}

pub(crate) fn find_values() -> AggregateUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    AggregateUDF::new_from_impl(FindValues { signature })
}

impl AggregateUDFImpl for FindValues {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Field::new(format!("{}[tally]", args.name), DataType::LargeBinary, true).into()])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Counting(Tally::new(args.expr_fields[0].data_type()))))
    }
}

#[derive(Debug)]
struct Counting(Tally);

impl Accumulator for Counting {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Ok(self.0.add(&values[0])?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary::<i64>().iter().flatten() {
            self.0.merge(state).ok_or_else(|| Fault::Decode(0).error())?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeBinary(Some(self.0.to_bytes())))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.n_bytes()
    }
}
