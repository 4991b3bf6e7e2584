//! Mutations of files whose code is not measured: the libraries that read them are dependencies,
//! which are not built a second time. So most mutations go where the numbers are that readers
//! trust.

use libfuzzer_sys::fuzzer_mutate;

use crate::rng::Rng;

/// Changes a number near the end or the start, where footers and messages are; else what libFuzzer
/// does.
pub(super) fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut rng = Rng::new(seed);
    if size < 16 || data[0] == b'{' || rng.one_in(4) {
        return fuzzer_mutate(data, size, most);
    }
    for _ in 0..=rng.below(4) {
        let at = place(&mut rng, &data[..size]);
        change(&mut rng, &mut data[at..size]);
    }
    size
}

fn place(rng: &mut Rng, data: &[u8]) -> usize {
    let size = data.len();
    let footer = footer_of(data).min(size);
    match rng.below(4) {
        0 => rng.below(size),
        1 => rng.below(size.min(512)),
        _ => size - footer + rng.below(footer.max(1)),
    }
    .min(size - 1)
}

/// How long the footer is, by what the file says.
fn footer_of(data: &[u8]) -> usize {
    // Parquet ends with the length and four letters, Arrow with the length and six.
    let n_letters = if data[0] == b'P' { 4 } else { 6 };
    let at = data.len().saturating_sub(n_letters + 4);
    let length = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    let length = length.map_or(0, u32::from_le_bytes);
    usize::try_from(length).unwrap_or(0).saturating_add(n_letters + 4).min(data.len())
}

fn change(rng: &mut Rng, data: &mut [u8]) {
    const BYTES: [u8; 10] = [0, 1, 2, 0x15, 0x19, 0x4c, 0x7f, 0x80, 0xfe, 0xff];
    const WORDS: [u32; 10] =
        [0, 1, 2, 8, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff0, 0x1000_0000, 0x00ff_ffff];
    const LONG: [u64; 6] = [0, 1 << 31, 1 << 32, 1 << 40, i64::MAX as u64, u64::MAX];
    let put = |data: &mut [u8], bytes: &[u8]| {
        let n = bytes.len().min(data.len());
        data[..n].copy_from_slice(&bytes[..n]);
    };
    match rng.below(6) {
        0 => data[0] ^= 1 << rng.below(8),
        1 => data[0] = *rng.pick(&BYTES),
        2 => data[0] = data[0].wrapping_add(if rng.one_in(2) { 1 } else { 0xff }),
        3 => put(data, &rng.pick(&WORDS).to_le_bytes()),
        4 => put(data, &rng.pick(&LONG).to_le_bytes()),
        // A number of variable length, as Thrift has it.
        _ => put(data, &[0xff, 0xff, 0xff, 0xff, 0x0f][..=rng.below(5)]),
    }
}
