//! The scheduler: takes plans from clients, divides them, and hands the parts to workers.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ballista_core::config::TaskSchedulingPolicy;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use clap::Args;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

use crate::codec::{LogicalCodec, PhysicalCodec};
use crate::{HEARTBEAT_SECONDS, MESSAGE_BYTES, PartError, say, stop_signal};

/// A worker that has been silent for so long is taken for dead, and its parts are done by others.
const WORKER_TIMEOUT_SECONDS: u64 = 8;

/// A job fails after so long without any worker.
const NO_WORKERS_SECONDS: u64 = 15;

/// Results that no client has taken or dropped are removed after so long: a day.
const RESULT_SECONDS: u64 = 24 * 60 * 60;

/// Options of `incrowd-cluster scheduler`.
#[derive(Args, Clone, Debug)]
pub struct SchedulerArgs {
    /// The address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// The port to listen on; with 0, a free one
    #[arg(long, value_name = "P", default_value_t = 50050)]
    pub port: u16,
    /// The name or address by which executors reach it (default: that of --bind)
    #[arg(long, value_name = "HOST")]
    pub advertise: Option<String>,
}

/// Runs a scheduler until it is told to stop.
pub(crate) async fn run(args: SchedulerArgs) -> Result<(), PartError> {
    let SchedulerArgs { bind, port, advertise } = args;
    let external_host = match advertise {
        Some(host) => host,
        None if bind.is_unspecified() => return Err(PartError::NoAdvertised),
        None => bind.to_string(),
    };
    let listening = |source| PartError::Listen { at: SocketAddr::new(bind, port), source };
    let listener = tokio::net::TcpListener::bind((bind, port)).await.map_err(listening)?;
    let at = listener.local_addr().map_err(listening)?;
    let config = SchedulerConfig {
        external_host,
        bind_host: bind.to_string(),
        bind_port: at.port(),
        scheduling_policy: TaskSchedulingPolicy::PushStaged,
        executor_timeout_seconds: WORKER_TIMEOUT_SECONDS,
        expire_dead_executor_interval_seconds: HEARTBEAT_SECONDS,
        no_executors_grace_period_seconds: NO_WORKERS_SECONDS,
        finished_job_data_clean_up_interval_seconds: RESULT_SECONDS,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES,
        grpc_client_max_message_size: MESSAGE_BYTES,
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(PartError::of)?;
    let scheduler =
        create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config))
            .await
            .map_err(PartError::of)?;
    // A signal may follow the line below at once.
    let stopped = stop_signal();
    say(&format!("scheduler listening on {at}"));
    tokio::select! {
        ended = start_grpc_service_with_listener(listener, scheduler) => {
            ended.map_err(PartError::of)
        }
        () = stopped => Ok(()),
    }
}
