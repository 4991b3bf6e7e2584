//! Work on chunks, side by side, whose results leave in order.

use rayon::prelude::*;

use crate::{Engine, EngineError};

/// Makes something of every chunk, several at a time, and hands the results over in order: those of
/// one window while the next one is made. A chunk comes with the number of rows up to its end. No
/// more than two windows are held at a time, however many chunks there are.
pub(super) fn in_order<C: Sync + Send, T: Send>(
    engine: &Engine,
    mut chunks: impl Iterator<Item = (C, u64)>,
    make: impl Fn(&C) -> Result<T, EngineError> + Sync,
    mut hand_over: impl FnMut(T) -> Result<(), EngineError> + Send,
) -> Result<(), EngineError> {
    let progress = engine.progress();
    let mut waiting: Vec<Result<T, EngineError>> = Vec::new();
    let mut hand_over_all =
        |made: Vec<Result<T, EngineError>>| made.into_iter().try_for_each(|made| hand_over(made?));
    loop {
        let window: Vec<(C, u64)> = chunks.by_ref().take(2 * engine.n_threads()).collect();
        let Some((_, done)) = window.last() else { break };
        engine.go_on()?;
        let before = std::mem::take(&mut waiting);
        let (handed_over, next) = rayon::join(
            || hand_over_all(before),
            || window.par_iter().map(|(chunk, _)| make(chunk)).collect::<Vec<_>>(),
        );
        handed_over?;
        waiting = next;
        progress.store(*done, std::sync::atomic::Ordering::Relaxed);
    }
    hand_over_all(waiting)
}
