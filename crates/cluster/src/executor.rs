//! An executor: a worker that reads its part of the input and keeps what it found until it is
//! fetched.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::ExecutorHealth;
use clap::Args;
use incrowd_engine::remote::{Address, PATIENCE};

use crate::codec::{LogicalCodec, PhysicalCodec};
use crate::work_dir::WorkDir;
use crate::{HEARTBEAT_SECONDS, MESSAGE_BYTES, PartError, say, stop_signal};

/// How long running parts may take to end when the executor is told to stop.
const LAST_ORDERS: Duration = Duration::from_secs(5);

/// Options of `incrowd-cluster executor`.
#[derive(Args, Clone, Debug)]
pub struct ExecutorArgs {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", value_parser = scheduler_address)]
    pub scheduler: Address,
    /// The address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// The port that results are fetched from; with 0, a free one
    #[arg(long, value_name = "P", default_value_t = 50051)]
    pub port: u16,
    /// The port that the scheduler gives orders to; with 0, a free one
    #[arg(long, value_name = "P", default_value_t = 50052)]
    pub control_port: u16,
    /// The name or address by which others reach it (default: what the scheduler sees)
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
    /// How many parts it does at once (default: one a core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub slots: Option<u16>,
    /// What its queries may hold in memory before they spill to the work folder, e.g. 4GB (default:
    /// 70% of the machine's)
    #[arg(long, value_name = "SIZE", value_parser = n_bytes)]
    pub memory_limit: Option<u64>,
    /// The folder in which it makes a private folder for results and spilled rows (default: the
    /// system's for temporary files)
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,
}

fn scheduler_address(text: &str) -> Result<Address, String> {
    Address::parse(text).ok_or_else(|| "write HOST:PORT".to_owned())
}

fn n_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KIB" => 1 << 10,
        "MIB" => 1 << 20,
        "GIB" => 1 << 30,
        _ => return Err("write a size, e.g. 4GB".to_owned()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| "write a size, e.g. 4GB".to_owned())?;
    let least = 16_000_000;
    let bytes = number.checked_mul(unit).filter(|&bytes| bytes >= least);
    bytes.ok_or_else(|| "an executor needs 16MB at least".to_owned())
}

/// Runs an executor until it is told to stop.
pub(crate) async fn run(args: ExecutorArgs) -> Result<(), PartError> {
    let work_dir = WorkDir::new(args.work_dir.clone())?;
    let (port, control_port) = ports(&args)?;
    let slots = args.slots.map_or_else(cores, usize::from);
    let health = ExecutorHealth::new();
    let config = ExecutorProcessConfig {
        bind_host: args.bind.to_string(),
        external_host: args.advertise.clone(),
        port,
        grpc_port: control_port,
        scheduler_host: bracketed(&args.scheduler.host),
        scheduler_port: args.scheduler.port,
        scheduler_connect_timeout_seconds: u16::try_from(PATIENCE.as_secs()).unwrap_or(u16::MAX),
        vcores: slots,
        task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
        work_dir: Some(work_dir.path().display().to_string()),
        grpc_max_decoding_message_size: MESSAGE_BYTES,
        grpc_max_encoding_message_size: MESSAGE_BYTES,
        executor_heartbeat_interval_seconds: HEARTBEAT_SECONDS,
        memory_pool_size: args.memory_limit,
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        health: health.clone(),
        ..ExecutorProcessConfig::default()
    };
    // Signals are listened for before anybody can know that there is someone to send them to.
    let stopped = stop_signal();
    let working = tokio::spawn(start_executor_process(Arc::new(config)));
    let flight = SocketAddr::new(args.bind, port);
    let announced = tokio::spawn(announce(health, flight, args.scheduler.clone(), slots));
    tokio::pin!(working);
    let ended = tokio::select! {
        ended = &mut working => Some(ended),
        () = stopped => tokio::time::timeout(LAST_ORDERS, &mut working).await.ok(),
    };
    announced.abort();
    drop(work_dir);
    match ended {
        Some(Ok(Err(error))) => Err(PartError::of(error)),
        _ => Ok(()),
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

/// The two ports. Both are held until both are known, so that they differ.
fn ports(args: &ExecutorArgs) -> Result<(u16, u16), PartError> {
    let free = |port: u16| {
        let at = SocketAddr::new(args.bind, port);
        let listener = TcpListener::bind(at).map_err(|source| PartError::Listen { at, source })?;
        let port = listener.local_addr().map_err(|source| PartError::Listen { at, source })?.port();
        Ok((listener, port))
    };
    let (_held, port) = free(args.port)?;
    let (_held_too, control_port) = free(args.control_port)?;
    Ok((port, control_port))
}

/// Says that the executor can work once the scheduler knows it and results can be fetched.
async fn announce(health: ExecutorHealth, at: SocketAddr, scheduler: Address, slots: usize) {
    loop {
        let connected = tokio::net::TcpStream::connect(at).await.is_ok();
        if connected && health.is_ready() {
            return say(&format!("executor ready on {at} with {slots} slots for {scheduler}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::n_bytes;

    #[test]
    fn sizes() {
        assert_eq!(n_bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(n_bytes("512MiB"), Ok(512 << 20));
        for bad in ["", "4", "GB", "4 apples", "-4GB", "99999999999TB"] {
            assert!(n_bytes(bad).is_err(), "{bad}");
        }
    }
}
