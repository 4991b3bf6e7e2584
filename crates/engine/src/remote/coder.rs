//! The function that gives values their codes. It carries the dictionary with it.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use arrow::array::UInt32Array;
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::encode::tally::{KnownTexts, Lookup, NoCode};
use crate::error::fault::Fault;
use crate::wire::{Reader, Writer};

/// The name by which workers know it.
pub(crate) const NAME: &str = "incrowd_code";

/// Texts by code, as they travel; the table to look them up in is made where it is needed.
#[derive(Debug)]
struct Dictionary {
    packed: Vec<u8>,
    known: OnceLock<Option<KnownTexts>>,
}

impl Dictionary {
    fn known(&self) -> Option<&KnownTexts> {
        let unpack = || {
            let bytes = Reader::unpacked(&self.packed)?;
            let mut from = Reader::new(&bytes);
            let texts = (0..from.size()?).map(|_| from.text()).collect::<Option<Vec<_>>>()?;
            from.is_at_end().then(|| KnownTexts::new(texts))
        };
        self.known.get_or_init(unpack).as_ref()
    }
}

/// Dictionaries in use: every task of a worker brings the same ones.
static SHARED: Mutex<Vec<Weak<Dictionary>>> = Mutex::new(Vec::new());

fn shared(packed: &[u8]) -> Arc<Dictionary> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.retain(|dictionary| dictionary.strong_count() > 0);
    let same = |dictionary: &Arc<Dictionary>| dictionary.packed == packed;
    if let Some(found) = shared.iter().filter_map(Weak::upgrade).find(same) {
        return found;
    }
    let made = Arc::new(Dictionary { packed: packed.to_vec(), known: OnceLock::new() });
    shared.push(Arc::downgrade(&made));
    made
}

/// The code of a value; the one after the last for a missing cell, an error for an unknown value.
#[derive(Debug)]
pub(crate) struct Coder {
    signature: Signature,
    dictionary: Arc<Dictionary>,
    /// What is known from earlier batches, for as many threads as have asked at once.
    lookups: Mutex<Vec<Lookup>>,
}

impl Coder {
    fn with(dictionary: Arc<Dictionary>) -> ScalarUDF {
        let signature = Signature::any(1, Volatility::Immutable);
        ScalarUDF::new_from_impl(Coder { signature, dictionary, lookups: Mutex::default() })
    }

    /// The function for a dictionary of texts, each once.
    pub(crate) fn of_texts<'a>(texts: impl ExactSizeIterator<Item = &'a str>) -> ScalarUDF {
        let mut to = Writer::default();
        to.number(texts.len() as u64);
        texts.for_each(|text| to.text(text));
        Coder::with(shared(&to.packed()))
    }

    pub(crate) fn of_bytes(packed: &[u8]) -> ScalarUDF {
        Coder::with(shared(packed))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.dictionary.packed
    }
}

impl PartialEq for Coder {
    fn eq(&self, other: &Coder) -> bool {
        Arc::ptr_eq(&self.dictionary, &other.dictionary)
            || self.dictionary.packed == other.dictionary.packed
    }
}

impl Eq for Coder {}

impl Hash for Coder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Long ones differ in their length already.
        self.dictionary.packed.len().hash(state);
    }
}

impl ScalarUDFImpl for Coder {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::UInt32)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let array = args.args[0].to_array(args.number_rows)?;
        let known = self.dictionary.known().ok_or_else(|| Fault::Decode(0).error())?;
        let lookup = self.lookups.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut lookup = lookup.unwrap_or_else(|| Lookup::new(array.data_type()));
        let codes = lookup.codes(&array, known).map_err(|error| match error {
            NoCode::Unknown => Fault::Changed.error(),
            NoCode::Arrow(error) => Fault::of(&error.into()).error(),
        })?;
        self.lookups.lock().unwrap_or_else(PoisonError::into_inner).push(lookup);
        Ok(ColumnarValue::Array(Arc::new(UInt32Array::from(codes))))
    }
}
