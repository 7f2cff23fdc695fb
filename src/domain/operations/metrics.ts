import { ERROR_CODES } from "../../errors.ts";
import { BUDGET_HOLDERS, BUDGET_PERIODS, CALL_OUTCOMES, CALL_PURPOSES } from "../model-usage.ts";
import { RERANK_OUTCOMES } from "../recall.ts";

/**
 * The values that a label may have: one of a list, a match of a narrow pattern, or `code`, a name from the
 * code or the settings. Never user text, and never the name of a project or user.
 */
export type LabelValues = readonly string[] | RegExp | "code";

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One line of help for people. */
  readonly help: string;
  readonly labels?: { readonly [label: string]: LabelValues };
  /** Upper bounds of the histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MODEL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const MILLISECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 1000];

/** The operations of a memory. */
const MEASURED_OPERATIONS = [
  "remember",
  "understand",
  "add",
  "supersede",
  "recall",
  "answer",
  "converse",
  "explain",
  "forget",
  "erasures",
  "get",
  "list",
  "update",
  "remove",
  "history",
  "undo",
  "profile",
  "sessions",
  "session",
  "startSession",
  "sessionState",
  "updateSession",
  "endSession",
  "stats",
  "optimize",
  "export",
  "import",
  "other",
] as const;

const OPERATION_OUTCOMES: readonly string[] = ["ok", "aborted", "failed", ...Object.keys(ERROR_CODES)];

const CALL = { purpose: CALL_PURPOSES, model: "code" } as const;
/** One of `JOB_NAMES`, or "following" and the name of an index. */
const CACHES = ["users", "vectors", "shared users", "shared vectors"] as const;
const JOB = { job: "code" } as const;
const DEPENDENCY = {
  kind: ["record", "sessions", "cache", "queue", "index", "embedder", "model", "reranker"],
  name: "code",
} as const;

/** Every metric, by name. Counts under any other name are dropped. */
export const METRICS: { readonly [name: string]: MetricDefinition } = {
  memory_api_requests_total: {
    type: "counter",
    help: "Requests served.",
    labels: {
      method: ["GET", "POST", "PUT", "PATCH", "DELETE", "other"],
      endpoint: "code",
      status: /^[1-5]\d\d$/,
    },
  },
  memory_api_request_duration_seconds: {
    type: "histogram",
    help: "Time from a request's headers to the last byte of its response.",
    labels: { method: ["GET", "POST", "PUT", "PATCH", "DELETE", "other"], endpoint: "code" },
    buckets: SECONDS,
  },
  memory_retrieval_duration_ms: {
    type: "histogram",
    help: "Duration of a recall, in milliseconds.",
    buckets: MILLISECONDS,
  },
  memory_reranks_total: {
    type: "counter",
    help: "Recalls with a reranker, by outcome. Unless it is reranked, the order stayed.",
    labels: { outcome: RERANK_OUTCOMES },
  },
  memory_rerank_duration_ms: {
    type: "histogram",
    help: "Time that a recall waited for the reranker, in milliseconds.",
    buckets: MILLISECONDS,
  },
  memory_operations_total: {
    type: "counter",
    help: "Memory operations, by outcome.",
    labels: { operation: MEASURED_OPERATIONS, outcome: OPERATION_OUTCOMES },
  },
  memory_changes_total: {
    type: "counter",
    help: "Memory changes and proposals, by result. Refused includes proposals whose quote was not found.",
    labels: {
      action: [
        "added",
        "merged",
        "updated",
        "superseded",
        "retracted",
        "erased",
        "refused",
        "quarantined",
        "restored",
      ],
    },
  },
  memory_quotes_refused_total: {
    type: "counter",
    help: "Proposals refused because their quote is not in the message.",
  },
  memory_understanding_spared_total: {
    type: "counter",
    help: "User messages without content to extract, not sent to the model.",
  },
  memory_understanding_unread_total: {
    type: "counter",
    help: "Messages that the model refused, or that wait because it gave no usable answer.",
    labels: { why: ["refused", "unusable"] },
  },
  memory_turns_total: { type: "counter", help: "Messages stored." },
  memory_erasures_total: {
    type: "counter",
    help: "Erasures, and whether every place was verified to be clean.",
    labels: { complete: ["yes", "no"] },
  },
  memory_answers_total: {
    type: "counter",
    help: "Answers by author, and why a configured model did not write them.",
    labels: { by: ["model", "memory"], trouble: "code" },
  },
  memory_answers_unread_total: {
    type: "counter",
    help: "Answers composed without a close reading, because others would have had to be waited for.",
  },
  memory_replies_lost_total: {
    type: "counter",
    help: "Model replies that were sent and could not be stored.",
  },
  llm_calls_total: {
    type: "counter",
    help: "Requests to model servers, including those blocked by a budget or an open circuit breaker.",
    labels: { ...CALL, outcome: CALL_OUTCOMES },
  },
  llm_call_duration_seconds: {
    type: "histogram",
    help: "Time from a request to a model's server to the last byte of its response.",
    labels: CALL,
    buckets: MODEL_SECONDS,
  },
  llm_tokens_used_total: {
    type: "counter",
    help: "Tokens, as counted by the server.",
    labels: { ...CALL, type: ["input", "cached_input", "output"] },
  },
  llm_cost_usd_total: { type: "counter", help: "Cost in US dollars, from the price table.", labels: CALL },
  llm_unpriced_calls_total: {
    type: "counter",
    help: "Calls whose model has no known price.",
    labels: CALL,
  },
  llm_circuit_state: {
    type: "gauge",
    help: "Circuit breaker of a model server: 0 closed, 1 half open (one trial request), 2 open. Present after its first failure.",
    labels: { server: "code" },
  },
  memory_beside_troubles_total: {
    type: "counter",
    help: "Failures of the session store or the shared cache. Requests continued without them.",
    labels: { of: ["sessions", "cache"], code: "code" },
  },
  keepsake_active_sessions: {
    type: "gauge",
    help: "Sessions with a message in the last 24 hours: of all servers with a shared session store. Counted every 5 minutes.",
  },
  memory_sessions_store_bytes: {
    type: "gauge",
    help: "Memory used by the session store, in bytes: of the whole server, if it is one.",
  },
  memory_sessions_store_limit_bytes: {
    type: "gauge",
    help: "Memory limit of the session store, in bytes; 0 without a limit.",
  },
  cache_hits_total: {
    type: "counter",
    help: "Cache hits, in process memory (user states, text vectors) or in the shared cache (search indexes, query vectors).",
    labels: { cache: CACHES },
  },
  cache_misses_total: {
    type: "counter",
    help: "Cache misses: reads from the memory store, or requests to the embedder.",
    labels: { cache: CACHES },
  },
  memory_uses_total: {
    type: "counter",
    help: "Memories returned by recalls, as they are noted; and those whose storing failed and is repeated.",
    labels: { outcome: ["noted", "failed"] },
  },
  memory_index_searches_total: {
    type: "counter",
    help: "Recalls with a vector index, by outcome. Unless it answered, the built-in search did.",
    labels: { index: "code", outcome: ["answered", "behind", "failed", "incomplete"] },
  },
  memory_index_strays_total: {
    type: "counter",
    help: "Hits of a vector index that do not exist in the memory store. They were dropped, also from the index.",
    labels: { index: "code" },
  },
  memory_blocks_lost_total: {
    type: "counter",
    help: "Saved search indexes that could not be used (damaged, or of another embedder) and were rebuilt.",
  },
  keepsake_dependency_up: {
    type: "gauge",
    help: "Whether a dependency responded to its last check: 1 or 0.",
    labels: DEPENDENCY,
  },
  keepsake_dependency_state: {
    type: "gauge",
    help: "State of a dependency: 0 up, 1 degraded, 2 down.",
    labels: DEPENDENCY,
  },
  keepsake_health_check: {
    type: "gauge",
    help: "Result of a health check within the last minute: 0 healthy, 1 needs attention.",
    labels: { check: "code" },
  },
  memory_damaged_rows_total: {
    type: "counter",
    help: "Rows read that a disk fault or another program altered. Recalls leave them out.",
  },
  memory_clock_jumps_total: {
    type: "counter",
    help: "Clock jumps: the system clock moved by more than a minute relative to elapsed time.",
    labels: { to: ["ahead", "back"] },
  },
  memory_budget_stops_total: {
    type: "counter",
    help: "Model calls blocked by a budget.",
    labels: { of: BUDGET_HOLDERS, per: BUDGET_PERIODS, unit: ["usd", "tokens"] },
  },
  memory_ledger_failures_total: {
    type: "counter",
    help: "Failed writes to the call ledger; they are retried.",
  },
  memory_ledger_lost_total: { type: "counter", help: "Calls that the ledger lost for good." },
  memory_job_left: {
    type: "gauge",
    help: "Items waiting for a job, if known: messages for understanding, texts for embedding.",
    labels: JOB,
  },
  memory_job_running: { type: "gauge", help: "1 while a job runs.", labels: JOB },
  memory_job_failures: {
    type: "gauge",
    help: "Consecutive failed runs of a job; 0 after a success.",
    labels: JOB,
  },
  memory_job_set_aside: {
    type: "gauge",
    help: "Users skipped by a job after five failures, until their data changes or someone restarts the job.",
    labels: JOB,
  },
  keepsake_backup_timestamp_seconds: {
    type: "gauge",
    help: "Time of the newest backup that was made in the background and checked.",
  },
  memory_job_last_run_timestamp_seconds: {
    type: "gauge",
    help: "Start time of a job's last run.",
    labels: JOB,
  },
  keepsake_proxy_requests_total: {
    type: "counter",
    help: "Requests forwarded by the proxy.",
    labels: { purpose: CALL_PURPOSES, memory: ["off", "read", "on"], outcome: CALL_OUTCOMES },
  },
  keepsake_proxy_troubles_total: {
    type: "counter",
    help: "Memory steps that failed during a proxied chat. The chat continued without them.",
    labels: { step: ["recall", "forget", "store"] },
  },
  keepsake_proxy_overhead_ms: {
    type: "histogram",
    help: "Time that the memory added before a chat was forwarded, in milliseconds.",
    buckets: MILLISECONDS,
  },
  keepsake_webhooks: {
    type: "gauge",
    help: "Registered webhooks, of all projects.",
    labels: { status: ["active", "failing", "disabled"] },
  },
  keepsake_webhook_attempts_total: {
    type: "counter",
    help: "Attempts to deliver events to webhooks.",
    labels: { outcome: ["delivered", "failed"] },
  },
  keepsake_webhook_pending_revisions: {
    type: "gauge",
    help: "Revisions of users that this server has to deliver to its webhooks. Counted every 30 seconds while a receiver is down.",
  },
  keepsake_webhook_oldest_failing_seconds: {
    type: "gauge",
    help: "Time since the first failed attempt of the event that has waited longest; 0 if none waits after a failure.",
  },
  process_cpu_seconds_total: { type: "counter", help: "CPU time of this process, user and system." },
  process_resident_memory_bytes: { type: "gauge", help: "Resident memory of this process." },
  process_start_time_seconds: { type: "gauge", help: "Start time of this process." },
  nodejs_heap_used_bytes: { type: "gauge", help: "JavaScript heap in use." },
  nodejs_eventloop_lag_p99_seconds: {
    type: "gauge",
    help: "99th percentile of timer delay since the last scrape.",
  },
};

/** A metric as a scrape returns it. */
interface ServedMetric extends MetricDefinition {
  readonly name: string;
  /** Its name in `METRICS`. */
  readonly countedAs: string;
  /** The factor from the counted to the served unit: milliseconds are served as seconds. */
  readonly factor: number;
  /** True for a name of an earlier release, served for one more release. */
  readonly isDeprecated: boolean;
}

/** Names that every Prometheus client library for Node uses. */
const STANDARD = /^(?:process|nodejs)_/;

/** The served metrics, with one prefix and base units. The earlier names follow, for one more release. */
export const SERVED_METRICS: readonly ServedMetric[] = listServedMetrics();

function listServedMetrics(): ServedMetric[] {
  const all = Object.entries(METRICS).map(([countedAs, metric]) => ({
    countedAs,
    metric,
    name: toServedName(countedAs),
  }));
  const current = all.map(({ countedAs, metric, name }) => {
    const factor = countedAs.endsWith("_ms") ? 0.001 : 1;
    const buckets = metric.buckets && { buckets: metric.buckets.map((bound) => bound * factor) };
    const help = metric.help.replace(", in milliseconds", "");
    return { ...metric, ...buckets, help, name, countedAs, factor, isDeprecated: false };
  });
  const earlier = all
    .filter(({ name, countedAs }) => name !== countedAs)
    .map(({ countedAs, metric, name }) => ({
      ...metric,
      help: `Deprecated, and gone with the next release: use ${name}. ${metric.help}`,
      name: countedAs,
      countedAs,
      factor: 1,
      isDeprecated: true,
    }));
  return [...current, ...earlier];
}

/** "memory_retrieval_duration_ms" is served as "keepsake_retrieval_duration_seconds". */
export function toServedName(countedAs: string): string {
  if (STANDARD.test(countedAs)) return countedAs;
  return `keepsake_${countedAs.replace(/^(?:memory|keepsake)_/, "").replace(/_ms$/, "_seconds")}`;
}
