//! The memory of the process.

/// The most memory that the process has held, where the system says it.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    memory_bytes("VmHWM:")
}

/// The memory that the process holds, where the system says it.
pub(crate) fn held_memory_bytes() -> Option<u64> {
    memory_bytes("VmRSS:")
}

fn memory_bytes(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
