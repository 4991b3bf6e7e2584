//! Measuring rows that are in private files: equal ones are put together in bounded memory, then
//! told class by class to the same verifier as in memory.

use incrowd_data::Codes;
use incrowd_engine::{CodeFile, CodeReader, Engine, EngineError, Grouping, Spilled, Visit, group};
use incrowd_release::{Asked, Privacy, Verifier};

use super::read_rows::Entities;
use crate::spec::error::JobError;

/// A column in files: its place, what its codes become, and their number.
pub(super) type Mapped = (usize, Vec<u32>, u32);

/// The columns that a measuring looks at.
pub(super) struct Columns<'a> {
    pub(super) quasi: Vec<Mapped>,
    /// The sensitive columns that are asked for, then the target.
    pub(super) counted: Vec<Mapped>,
    pub(super) entity: Option<Entity<'a>>,
}

/// The column whose distinct values k counts.
pub(super) enum Entity<'a> {
    Column(Mapped),
    Apart(&'a Entities),
}

impl Entity<'_> {
    fn n_codes(&self) -> u32 {
        match self {
            Entity::Column((.., n_codes))
            | Entity::Apart(Entities::Memory(_, n_codes) | Entities::File(_, n_codes)) => *n_codes,
        }
    }
}

/// A column as it is.
pub(super) fn as_read(spilled: &Spilled, column: usize) -> Mapped {
    let n_codes = spilled.values[column].n_codes();
    (column, (0..n_codes).collect(), n_codes)
}

/// All codes of a file of one column.
pub(super) fn load(file: &CodeFile, n_codes: u32) -> Result<Codes, EngineError> {
    let mut reader = EntityReader::in_file(file, n_codes, 0)?;
    reader.next(usize::try_from(file.n_rows()).expect("the rows are in memory"))
}

/// Measures the rows.
pub(super) fn verify(
    engine: &Engine,
    spilled: &Spilled,
    room: u64,
    columns: &Columns,
    asked: &Asked,
) -> Result<Privacy, JobError> {
    let Columns { quasi, counted, entity } = columns;
    // Beside what is asked the key holds the entity, in front of what is counted.
    let in_table = entity.iter().filter_map(|entity| match entity {
        Entity::Column(mapped) => Some(mapped),
        Entity::Apart(_) => None,
    });
    let wanted: Vec<(usize, &[u32], u32)> = quasi
        .iter()
        .chain(in_table)
        .chain(counted)
        .map(|(column, map, n_codes)| (*column, map.as_slice(), *n_codes))
        .collect();
    let n_codes: Vec<u32> = (quasi.iter().map(|(.., n_codes)| *n_codes))
        .chain(entity.iter().map(Entity::n_codes))
        .chain(counted.iter().map(|(.., n_codes)| *n_codes))
        .collect();
    let how = Grouping {
        n_codes: &n_codes,
        n_prefix: quasi.len(),
        n_rows: spilled.n_rows,
        room,
        scratch: spilled.scratch(),
    };
    let apart = match entity {
        Some(Entity::Apart(entities)) => Some(*entities),
        _ => None,
    };
    let fill = |part: usize, give: &mut incrowd_engine::Blocks| {
        let start = (0..part).map(|part| spilled.rows_of_part(part)).sum();
        let mut apart = apart.map(|entities| EntityReader::new(entities, start)).transpose()?;
        let mut reader = spilled.read_part(part, &wanted)?;
        while let Some(mut block) = reader.next_block()? {
            if let Some(apart) = &mut apart {
                let n_rows = block.codes.first().map_or(0, Codes::len);
                block.codes.insert(quasi.len(), apart.next(n_rows)?);
            }
            give(&block.codes)?;
        }
        Ok(())
    };
    let visitor = || Classes::new(asked, entity.is_some());
    let found = group(engine, &how, spilled.n_parts(), &fill, &visitor)?;
    let mut found = found.into_iter().map(Classes::finish);
    let mut all = found.next().unwrap_or_else(|| Verifier::new(asked).finish());
    found.for_each(|privacy| all.merge(&privacy));
    Ok(all)
}

/// Classes, told row by row.
struct Classes<'a> {
    verifier: Verifier<'a>,
    has_entity: bool,
    n_rows: u64,
    n_entities: u64,
    last_entity: Option<u32>,
}

impl<'a> Classes<'a> {
    fn new(asked: &'a Asked<'a>, has_entity: bool) -> Classes<'a> {
        let verifier = Verifier::new(asked);
        Classes { verifier, has_entity, n_rows: 0, n_entities: 0, last_entity: None }
    }

    fn end_class(&mut self) {
        if self.n_rows > 0 {
            let n_people = if self.has_entity { self.n_entities } else { self.n_rows };
            self.verifier.end_class(self.n_rows, n_people);
        }
        (self.n_rows, self.n_entities, self.last_entity) = (0, 0, None);
    }

    fn finish(mut self) -> Privacy {
        self.end_class();
        self.verifier.finish()
    }
}

impl Visit for Classes<'_> {
    fn row(&mut self, is_first: bool, rest: &[u32], n_rows: u64) {
        if is_first {
            self.end_class();
        }
        self.n_rows += n_rows;
        let (entity, counted) = rest.split_at(usize::from(self.has_entity));
        // Rows of a class come ordered by their entity.
        if let [entity] = entity
            && self.last_entity != Some(*entity)
        {
            self.n_entities += 1;
            self.last_entity = Some(*entity);
        }
        for (column, &code) in counted.iter().enumerate() {
            self.verifier.count(column, code, n_rows);
        }
    }
}

/// The entities of rows from some row on.
enum EntityReader<'a> {
    Memory { codes: &'a Codes, n_codes: u32, next: usize },
    File { reader: CodeReader, n_codes: u32, open: std::vec::IntoIter<u32> },
}

impl EntityReader<'_> {
    fn new(entities: &Entities, start: u64) -> Result<EntityReader<'_>, EngineError> {
        Ok(match entities {
            Entities::Memory(codes, n_codes) => {
                let next = usize::try_from(start).expect("the rows are in memory");
                EntityReader::Memory { codes, n_codes: *n_codes, next }
            }
            Entities::File(file, n_codes) => EntityReader::in_file(file, *n_codes, start)?,
        })
    }

    fn in_file<'a>(
        file: &CodeFile,
        n_codes: u32,
        start: u64,
    ) -> Result<EntityReader<'a>, EngineError> {
        let open = Vec::new().into_iter();
        let mut reader = EntityReader::File { reader: file.read()?, n_codes, open };
        let mut left = start;
        while left > 0 {
            let n = left.min(1 << 16);
            reader.next(usize::try_from(n).expect("a small number"))?;
            left -= n;
        }
        Ok(reader)
    }

    /// The codes of the next rows.
    fn next(&mut self, n_rows: usize) -> Result<Codes, EngineError> {
        match self {
            EntityReader::Memory { codes, n_codes, next } => {
                let rows = *next..*next + n_rows;
                *next += n_rows;
                Ok(Codes::pack(*n_codes, rows.map(|row| codes.get(row))))
            }
            EntityReader::File { reader, n_codes, open } => {
                let mut codes = Codes::pack(*n_codes, std::iter::empty());
                while codes.len() < n_rows {
                    let before = codes.len();
                    codes.extend(open.by_ref().take(n_rows - before));
                    if codes.len() == before {
                        let block = reader.next_block()?.expect("an entity for every row");
                        *open = block[0].iter().collect::<Vec<u32>>().into_iter();
                    }
                }
                Ok(codes)
            }
        }
    }
}
