//! Mutations beside those of libFuzzer: of lines of text, and of trees of JSON.

use libfuzzer_sys::fuzzer_mutate;
use serde_json::Value;

use crate::rng::Rng;

/// Puts lines of a text together anew, or puts in a piece, one time in three; else what libFuzzer
/// does.
pub(crate) fn of_text(
    data: &mut [u8],
    size: usize,
    most: usize,
    seed: u32,
    pieces: &[&[u8]],
) -> usize {
    let mut rng = Rng::new(seed);
    if !rng.one_in(3) {
        return fuzzer_mutate(data, size, most);
    }
    let mut lines: Vec<Vec<u8>> =
        data[..size].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=rng.below(3) {
        change_lines(&mut lines, &mut rng, pieces);
    }
    put(data, most, &lines.concat())
}

fn change_lines(lines: &mut Vec<Vec<u8>>, rng: &mut Rng, pieces: &[&[u8]]) {
    let (from, to) = (rng.below(lines.len()), rng.below(lines.len() + 1));
    match rng.below(5) {
        0 if !lines.is_empty() => {
            lines.remove(from);
        }
        1 if !lines.is_empty() => lines.insert(to, lines[from].clone()),
        2 if to < lines.len() => lines.swap(from, to),
        _ if pieces.is_empty() => {}
        3 if !lines.is_empty() => {
            let piece = rng.pick(pieces).to_vec();
            let at = rng.below(lines[from].len() + 1);
            lines[from].splice(at..at, piece);
        }
        _ => lines.insert(to, rng.pick(pieces).to_vec()),
    }
}

/// Changes nodes of a JSON tree, most of the time; else what libFuzzer does. `words` are texts to
/// put in.
pub(crate) fn of_json(
    data: &mut [u8],
    (size, most): (usize, usize),
    skip: usize,
    seed: u32,
    words: &[&str],
) -> usize {
    let mut rng = Rng::new(seed);
    let tree = data.get(skip..size).and_then(|text| serde_json::from_slice::<Value>(text).ok());
    let Some(mut tree) = tree.filter(|_| !rng.one_in(8)) else {
        return fuzzer_mutate(data, size, most);
    };
    if skip > 0 && rng.one_in(6) {
        data[0] = u8::try_from(rng.below(256)).unwrap_or(0);
    }
    let mut texts = Vec::new();
    collect_texts(&tree, &mut texts);
    texts.extend(words.iter().map(|&word| word.to_owned()));
    for _ in 0..=rng.below(3) {
        let n_nodes = count(&tree);
        let mut at = rng.below(n_nodes);
        change_node(&mut tree, &mut at, &mut rng, &texts);
    }
    let text = serde_json::to_vec(&tree).expect("JSON has a text");
    let all = [&data[..skip], &text[..]].concat();
    put(data, most, &all)
}

fn put(data: &mut [u8], most: usize, bytes: &[u8]) -> usize {
    let size = bytes.len().min(most).min(data.len());
    data[..size].copy_from_slice(&bytes[..size]);
    size
}

fn collect_texts(tree: &Value, to: &mut Vec<String>) {
    match tree {
        Value::String(text) => to.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|value| collect_texts(value, to)),
        Value::Object(all) => {
            for (key, value) in all {
                to.push(key.clone());
                collect_texts(value, to);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(all) => all.iter().map(count).sum::<usize>(),
        Value::Object(all) => all.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Changes the node of this number; whether it was found.
fn change_node(tree: &mut Value, at: &mut usize, rng: &mut Rng, texts: &[String]) -> bool {
    if *at == 0 {
        change(tree, rng, texts);
        return true;
    }
    *at -= 1;
    match tree {
        Value::Array(all) => all.iter_mut().any(|value| change_node(value, at, rng, texts)),
        Value::Object(all) => all.values_mut().any(|value| change_node(value, at, rng, texts)),
        _ => false,
    }
}

fn change(tree: &mut Value, rng: &mut Rng, texts: &[String]) {
    if rng.one_in(6) {
        *tree = fresh(rng, texts);
        return;
    }
    match tree {
        Value::Array(all) => change_list(all, rng, texts),
        Value::Object(all) => {
            let keys: Vec<String> = all.keys().cloned().collect();
            if keys.is_empty() || rng.one_in(3) {
                all.insert(rng.pick(texts).clone(), fresh(rng, texts));
                return;
            }
            let (key, other) = (rng.pick(&keys).clone(), rng.pick(&keys).clone());
            if rng.one_in(2) {
                all.remove(&key);
            } else {
                let value = all[&key].clone();
                all.insert(other, value);
            }
        }
        Value::Number(number) => {
            let near = number.as_u64().map(|n| {
                if rng.one_in(2) {
                    n.saturating_sub(1)
                } else {
                    n.saturating_add(1)
                }
            });
            *tree = match near {
                Some(near) if rng.one_in(2) => near.into(),
                _ => interesting(rng),
            };
        }
        Value::String(text) => text.clone_from(rng.pick(texts)),
        Value::Bool(is_true) => *is_true = !*is_true,
        Value::Null => *tree = fresh(rng, texts),
    }
}

fn change_list(all: &mut Vec<Value>, rng: &mut Rng, texts: &[String]) {
    let (from, to) = (rng.below(all.len()), rng.below(all.len() + 1));
    match rng.below(4) {
        0 if !all.is_empty() => {
            all.remove(from);
        }
        1 if !all.is_empty() => all.insert(to, all[from].clone()),
        2 if to < all.len() => all.swap(from, to),
        _ => all.insert(to, fresh(rng, texts)),
    }
}

fn fresh(rng: &mut Rng, texts: &[String]) -> Value {
    match rng.below(6) {
        0 => Value::Null,
        1 => Value::Array(Vec::new()),
        2 => serde_json::json!({}),
        3 => Value::Bool(rng.one_in(2)),
        4 => interesting(rng),
        _ => rng.pick(texts).clone().into(),
    }
}

fn interesting(rng: &mut Rng) -> Value {
    const WHOLE: [i64; 16] = [
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        100,
        255,
        256,
        -1,
        65_535,
        2_147_483_647,
        2_147_483_648,
        4_294_967_295,
        i64::MAX,
    ];
    match rng.below(8) {
        0 => serde_json::json!(1e308),
        1 => serde_json::json!(0.5),
        2 => serde_json::json!(u64::MAX),
        _ => serde_json::json!(*rng.pick(&WHOLE)),
    }
}
