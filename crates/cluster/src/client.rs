//! The client: sends plans to a scheduler, waits for them, and streams what the workers have ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use ballista_core::client::BallistaClient;
use ballista_core::extension::{BallistaConfigGrpcEndpoint, SessionConfigExt};
use ballista_core::ids::new_instance_id;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
    PartitionLocation, execute_query_result, job_status,
};
use ballista_core::version;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use datafusion_proto::logical_plan::AsLogicalPlan;
use datafusion_proto::protobuf::LogicalPlanNode;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use incrowd_engine::EngineError;
use incrowd_engine::remote::{Address, Cluster, Connector, PATIENCE, job_failed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tonic::transport::{Channel, Endpoint};

use crate::MESSAGE_BYTES;
use crate::codec::LogicalCodec;

/// How often a job is asked how it is.
const BEAT: Duration = Duration::from_millis(25);

/// How often workers are looked for while a job is not done, in beats.
const BEATS_A_LOOK: u32 = 40;

/// How long a scheduler may take to accept a plan, which can hold dictionaries of millions of
/// values.
const ACCEPTANCE: Duration = Duration::from_mins(5);

/// How long a farewell to a job that nobody needs any more may take, how often it is tried, and how
/// long a worker that was told to stop may go on to write.
const FAREWELL: Duration = Duration::from_secs(2);
const FAREWELLS: usize = 3;
const AFTERMATH: Duration = Duration::from_millis(500);

/// At most so many streams read from the workers at once.
const MOST_STREAMS: usize = 8;

/// Rows a batch, as in the embedded engine.
const BATCH_ROWS: usize = 8192;

/// Knows how to reach Ballista clusters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ballista;

impl Connector for Ballista {
    fn connect(
        &self,
        address: &Address,
    ) -> BoxFuture<'static, Result<Arc<dyn Cluster>, EngineError>> {
        let address = address.clone();
        async move {
            let channel =
                connect(&address, PATIENCE).await.ok_or_else(|| no_scheduler(&address))?;
            let session = new_instance_id();
            let farewells = Arc::default();
            Ok(Arc::new(Scheduler { address, channel, session, farewells }) as Arc<dyn Cluster>)
        }
        .boxed()
    }
}

fn no_scheduler(address: &Address) -> EngineError {
    EngineError::NoScheduler { address: address.to_string() }
}

async fn connect(address: &Address, patience: Duration) -> Option<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).ok()?;
    tokio::time::timeout(patience, patient(endpoint).connect()).await.ok()?.ok()
}

/// An endpoint that notices when the other side is gone.
fn patient(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(PATIENCE)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(PATIENCE / 4)
        .keep_alive_timeout(PATIENCE / 2)
        .keep_alive_while_idle(true)
}

type Client = SchedulerGrpcClient<Channel>;

fn client(channel: Channel) -> Client {
    SchedulerGrpcClient::new(channel)
        .max_encoding_message_size(MESSAGE_BYTES as usize)
        .max_decoding_message_size(MESSAGE_BYTES as usize)
}

type Farewells = Arc<Mutex<Vec<JoinHandle<()>>>>;

/// A scheduler that answered.
#[derive(Debug)]
struct Scheduler {
    address: Address,
    channel: Channel,
    session: String,
    farewells: Farewells,
}

impl Drop for Scheduler {
    fn drop(&mut self) {
        let farewells =
            std::mem::take(&mut *self.farewells.lock().unwrap_or_else(PoisonError::into_inner));
        for farewell in farewells {
            // It cannot fail in a way that anybody would want to hear of.
            drop(farewell.join());
        }
    }
}

impl Cluster for Scheduler {
    fn run(
        &self,
        plan: LogicalPlan,
        n_parts: usize,
    ) -> BoxFuture<'static, Result<Vec<SendableRecordBatchStream>, EngineError>> {
        let mut client = client(self.channel.clone());
        let (address, session) = (self.address.clone(), self.session.clone());
        let farewells = Arc::clone(&self.farewells);
        async move {
            let id = submit(&mut client, &address, &session, &plan, n_parts).await?;
            let job = Arc::new(Job { address, id, farewells, is_done: AtomicBool::new(false) });
            let schema = Arc::clone(plan.schema().inner());
            let places = finished(&mut client, &job).await?;
            job.is_done.store(true, Ordering::Relaxed);
            let n_streams = places.len().clamp(1, MOST_STREAMS);
            let mut shares: Vec<Vec<PartitionLocation>> = vec![Vec::new(); n_streams];
            for (at, place) in places.into_iter().enumerate() {
                shares[at % n_streams].push(place);
            }
            let stream = |share: Vec<PartitionLocation>| {
                let job = Arc::clone(&job);
                let rows = stream::iter(share).then(fetch).try_flatten().inspect(move |_| {
                    // The job is there until its last row is.
                    let _ = &job;
                });
                let adapter = RecordBatchStreamAdapter::new(Arc::clone(&schema), rows);
                Box::pin(adapter) as SendableRecordBatchStream
            };
            Ok(shares.into_iter().map(stream).collect())
        }
        .boxed()
    }
}

/// A job of the cluster. Dropped, it is cancelled if it still runs, and the workers remove its
/// files.
#[derive(Debug)]
struct Job {
    address: Address,
    id: String,
    farewells: Farewells,
    /// Whether no worker is at it any more.
    is_done: AtomicBool,
}

impl Drop for Job {
    fn drop(&mut self) {
        let (address, id) = (self.address.clone(), self.id.clone());
        let is_done = self.is_done.load(Ordering::Relaxed);
        // A thread of its own: the engine's may be ending.
        let farewell = std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build()
            else {
                return;
            };
            runtime.block_on(async {
                for _ in 0..FAREWELLS {
                    if let Ok(Some(())) =
                        tokio::time::timeout(FAREWELL, farewell(&address, &id)).await
                    {
                        break;
                    }
                }
                if !is_done {
                    // A worker may have written on after its files were removed.
                    tokio::time::sleep(AFTERMATH).await;
                    let _ = tokio::time::timeout(FAREWELL, farewell(&address, &id)).await;
                }
            });
        });
        self.farewells.lock().unwrap_or_else(PoisonError::into_inner).push(farewell);
    }
}

/// Cancels a job and lets the workers remove its files; none where that could not be said.
async fn farewell(address: &Address, id: &str) -> Option<()> {
    let mut client = client(connect(address, FAREWELL).await?);
    let _ = client.cancel_job(CancelJobParams { job_id: id.to_owned() }).await;
    let what = CleanJobDataParams { job_id: id.to_owned(), remove_stage_ids: Vec::new() };
    client.clean_job_data(what).await.ok().map(|_| ())
}

/// Settings that travel with a plan.
fn settings(n_parts: usize) -> Vec<KeyValuePair> {
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(n_parts)
        .with_batch_size(BATCH_ROWS)
        .with_round_robin_repartition(false)
        // With it, a job whose worker dies mostly fails; without, another worker does its part.
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES as usize);
    let entries = config.options().entries();
    entries.into_iter().map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect()
}

/// Hands in a plan; the job's number.
async fn submit(
    client: &mut Client,
    address: &Address,
    session: &str,
    plan: &LogicalPlan,
    n_parts: usize,
) -> Result<String, EngineError> {
    let unplanned = |_| EngineError::Cluster { what: "a plan could not be sent" };
    let mut bytes = Vec::new();
    LogicalPlanNode::try_from_logical_plan(plan, &LogicalCodec::default())
        .and_then(|node| node.try_encode(&mut bytes))
        .map_err(unplanned)?;
    let mut request = tonic::Request::new(ExecuteQueryParams {
        query: Some(Query::LogicalPlan(bytes)),
        settings: settings(n_parts),
        session_id: session.to_owned(),
        operation_id: new_instance_id(),
    });
    version::insert_version_header(request.metadata_mut());
    let answer = tokio::time::timeout(ACCEPTANCE, client.execute_query(request)).await;
    let answer = answer.map_err(|_| no_scheduler(address))?.map_err(|_| EngineError::Cluster {
        what: "the scheduler did not take the job; is it of the same build?",
    })?;
    match answer.into_inner().result {
        Some(execute_query_result::Result::Success(job)) => Ok(job.job_id),
        _ => Err(EngineError::Cluster { what: "the scheduler could not read the plan" }),
    }
}

/// Waits until the job is done; where its rows are.
async fn finished(client: &mut Client, job: &Job) -> Result<Vec<PartitionLocation>, EngineError> {
    let mut without_workers = Duration::ZERO;
    for beat in 1.. {
        let question = client.get_job_status(GetJobStatusParams { job_id: job.id.clone() });
        let answer = tokio::time::timeout(PATIENCE, question).await;
        let gone = EngineError::Cluster { what: "its scheduler does not answer any more" };
        let Ok(Ok(answer)) = answer else { return Err(gone) };
        match answer.into_inner().status.and_then(|status| status.status) {
            Some(job_status::Status::Failed(failed)) => return Err(job_failed(&failed.error)),
            Some(job_status::Status::Successful(done)) => return Ok(done.partition_location),
            _ => tokio::time::sleep(BEAT).await,
        }
        if beat % BEATS_A_LOOK == 0 {
            without_workers += BEAT * BEATS_A_LOOK;
            if has_workers(&job.address).await {
                without_workers = Duration::ZERO;
            }
            if without_workers >= PATIENCE {
                return Err(EngineError::Cluster { what: "it has no executor" });
            }
        }
    }
    unreachable!("the beats do not end")
}

/// Whether the scheduler knows a living worker: it says so to whoever asks for `/readyz`, and lets
/// jobs wait for a first worker forever.
async fn has_workers(address: &Address) -> bool {
    let asking = async {
        let mut stream =
            tokio::net::TcpStream::connect((address.host.as_str(), address.port)).await.ok()?;
        let request =
            format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.ok()?;
        Some(answer == *b"HTTP/1.1 200")
    };
    tokio::time::timeout(PATIENCE, asking).await.ok().flatten().unwrap_or(false)
}

/// The rows at one place.
async fn fetch(place: PartitionLocation) -> Result<SendableRecordBatchStream, DataFusionError> {
    let lost = || {
        let what = "a worker is gone, with rows that it had ready; run the job again";
        DataFusionError::External(Box::new(EngineError::Cluster { what }))
    };
    let layout = place.layout();
    let (Some(worker), Some(which)) = (place.executor_meta, place.partition_id) else {
        return Err(lost());
    };
    let port = u16::try_from(worker.port).map_err(|_| lost())?;
    let endpoint = BallistaConfigGrpcEndpoint::new(Arc::new(|endpoint| Ok(patient(endpoint))));
    let mut client = BallistaClient::try_new(
        &worker.host,
        port,
        MESSAGE_BYTES as usize,
        false,
        Some(Arc::new(endpoint)),
        3,
        500,
        0,
        0,
    )
    .await
    .map_err(|_| lost())?;
    let which = which.into();
    let rows = client
        .fetch_partition(&worker.id, &which, place.file_id, layout, true)
        .await
        .map_err(|_| lost())?;
    let schema = rows.schema();
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows.map_err(move |_| lost()))))
}
