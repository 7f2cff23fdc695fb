import { ERROR_CODES } from "../errors.ts";
import { BUDGET_HOLDERS, BUDGET_PERIODS, CALL_OUTCOMES, CALL_PURPOSES } from "./model-usage.ts";

/**
 * What a label may say: one of a list; what a pattern allows, where that is few; or `code`, a name that stands in the code
 * or in the settings. Nothing that a user said, and no name of a project or user.
 */
export type LabelValues = readonly string[] | RegExp | "code";

export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** One line for people. */
  readonly help: string;
  readonly labels?: { readonly [label: string]: LabelValues };
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const MODEL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const MILLISECONDS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 1000];

/** The verbs of a memory. */
export const MEASURED_OPERATIONS = [
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
  "stats",
  "optimize",
  "export",
  "import",
  "other",
] as const;

export const OPERATION_OUTCOMES: readonly string[] = ["ok", "aborted", "failed", ...Object.keys(ERROR_CODES)];

const CALL = { purpose: CALL_PURPOSES, model: "code" } as const;
/** One of `JOBS`, or "following" and the name of an index. */
const CACHES = ["users", "vectors", "shared users", "shared vectors"] as const;
const JOB = { job: "code" } as const;
const DEPENDENCY = {
  kind: ["record", "sessions", "cache", "queue", "index", "embedder", "model"],
  name: "code",
} as const;

/** Every metric, by name. What is counted under a name that does not stand here is not counted. */
export const METRICS: { readonly [name: string]: MetricDefinition } = {
  memory_api_requests_total: {
    type: "counter",
    help: "Requests answered.",
    labels: {
      method: ["GET", "POST", "PUT", "PATCH", "DELETE", "other"],
      endpoint: "code",
      status: /^[1-5]\d\d$/,
    },
  },
  memory_api_request_duration_seconds: {
    type: "histogram",
    help: "From the head of a request to the last byte of its answer.",
    labels: { method: ["GET", "POST", "PUT", "PATCH", "DELETE", "other"], endpoint: "code" },
    buckets: SECONDS,
  },
  memory_retrieval_duration_ms: {
    type: "histogram",
    help: "How long a recall took, in milliseconds.",
    buckets: MILLISECONDS,
  },
  memory_operations_total: {
    type: "counter",
    help: "Calls of the memory's verbs, and how they ended.",
    labels: { operation: MEASURED_OPERATIONS, outcome: OPERATION_OUTCOMES },
  },
  memory_changes_total: {
    type: "counter",
    help: "What became of memories, and of what was proposed for them; refused: among others, where a quote was not found.",
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
    help: "Messages of the user that tell nothing and so were not shown to the model.",
  },
  memory_understanding_unread_total: {
    type: "counter",
    help: "Messages that the model refused, or about which it gave no usable answer; these wait.",
    labels: { why: ["refused", "unusable"] },
  },
  memory_turns_total: { type: "counter", help: "Messages stored." },
  memory_erasures_total: {
    type: "counter",
    help: "Erasures, and whether every place was read again and found clean.",
    labels: { complete: ["yes", "no"] },
  },
  memory_answers_total: {
    type: "counter",
    help: "Answers, by whose words they are, and why not a model's where there is one.",
    labels: { by: ["model", "memory"], trouble: "code" },
  },
  memory_replies_lost_total: {
    type: "counter",
    help: "Replies in a model's words that were said and could not be kept.",
  },
  llm_calls_total: {
    type: "counter",
    help: "Requests to models' servers, and those that a budget or an open circuit kept back.",
    labels: { ...CALL, outcome: CALL_OUTCOMES },
  },
  llm_call_duration_seconds: {
    type: "histogram",
    help: "From a request to a model's server to its last byte.",
    labels: CALL,
    buckets: MODEL_SECONDS,
  },
  llm_tokens_used_total: {
    type: "counter",
    help: "Tokens, as the server counts them.",
    labels: { ...CALL, type: ["input", "cached_input", "output"] },
  },
  llm_cost_usd_total: { type: "counter", help: "US dollars, by the price table.", labels: CALL },
  llm_unpriced_calls_total: {
    type: "counter",
    help: "Calls whose model is in no price table.",
    labels: CALL,
  },
  llm_circuit_state: {
    type: "gauge",
    help: "Whether requests to a server go out: 0 yes, 1 one to see whether it answers again, 2 no; from its first trouble on.",
    labels: { server: "code" },
  },
  memory_beside_troubles_total: {
    type: "counter",
    help: "Times that the sessions or the shared cache failed, and the memory went on without them.",
    labels: { of: ["sessions", "cache"], code: "code" },
  },
  memory_sessions_store_bytes: {
    type: "gauge",
    help: "Memory in use by the store of sessions: of the whole server, where it is one.",
  },
  memory_sessions_store_limit_bytes: {
    type: "gauge",
    help: "Memory that the store of sessions may use at most; 0 where nobody set a limit.",
  },
  cache_hits_total: {
    type: "counter",
    help: "What was found in memory (users' state, vectors of texts) or in the shared cache (users' search columns, vectors of queries).",
    labels: { cache: CACHES },
  },
  cache_misses_total: {
    type: "counter",
    help: "What had to be read from the record, or asked of the embedder.",
    labels: { cache: CACHES },
  },
  memory_index_searches_total: {
    type: "counter",
    help: "Recalls that could ask a vector index; but where it answered, the record's own search did.",
    labels: { index: "code", outcome: ["answered", "behind", "failed", "incomplete"] },
  },
  memory_index_strays_total: {
    type: "counter",
    help: "Hits of a vector index that the record does not know; they were dropped, there as well.",
    labels: { index: "code" },
  },
  memory_blocks_lost_total: {
    type: "counter",
    help: "Users' search columns kept beside the record that could not be used (damaged, or of another embedder), and were made anew.",
  },
  keepsake_dependency_up: {
    type: "gauge",
    help: "Whether a service that the memory stands on answered when it was asked last: 1 or 0.",
    labels: DEPENDENCY,
  },
  keepsake_dependency_state: {
    type: "gauge",
    help: "How it stands with a service that the memory stands on: 0 up, 1 degraded, 2 down.",
    labels: DEPENDENCY,
  },
  keepsake_health_check: {
    type: "gauge",
    help: "What a check of the last minute found: 0 all is well, 1 something is to be done.",
    labels: { check: "code" },
  },
  memory_damaged_rows_total: {
    type: "counter",
    help: "Rows read that were changed since they were written, by a fault of the disk or another program. Recalls leave them out.",
  },
  memory_clock_jumps_total: {
    type: "counter",
    help: "Times at which the machine's clock moved by more than a minute against the time that passed.",
    labels: { to: ["ahead", "back"] },
  },
  memory_budget_stops_total: {
    type: "counter",
    help: "Calls to models that a budget stopped.",
    labels: { of: BUDGET_HOLDERS, per: BUDGET_PERIODS, unit: ["usd", "tokens"] },
  },
  memory_ledger_failures_total: {
    type: "counter",
    help: "Writes of the ledger of calls that failed; they are tried again.",
  },
  memory_ledger_lost_total: { type: "counter", help: "Calls that the ledger will never have." },
  memory_job_left: {
    type: "gauge",
    help: "What waits for a job, where it is known: understanding, messages; embedding, texts.",
    labels: JOB,
  },
  memory_job_running: { type: "gauge", help: "1 while a job runs.", labels: JOB },
  memory_job_failures: {
    type: "gauge",
    help: "Runs of a job that broke off one after the other; 0 once one came to its end.",
    labels: JOB,
  },
  memory_job_set_aside: {
    type: "gauge",
    help: "Users with whom a job failed five times, and who are left out until something changes or somebody lets it run again.",
    labels: JOB,
  },
  memory_job_last_run_timestamp_seconds: { type: "gauge", help: "When a job began last.", labels: JOB },
  keepsake_proxy_requests_total: {
    type: "counter",
    help: "Requests that the proxy passed on.",
    labels: { purpose: CALL_PURPOSES, memory: ["off", "read", "on"], outcome: CALL_OUTCOMES },
  },
  keepsake_proxy_troubles_total: {
    type: "counter",
    help: "Steps of the memory that failed behind a chat, which went on without them.",
    labels: { step: ["recall", "forget", "store"] },
  },
  keepsake_proxy_overhead_ms: {
    type: "histogram",
    help: "What the memory added before a chat was passed on, in milliseconds.",
    buckets: MILLISECONDS,
  },
  process_cpu_seconds_total: { type: "counter", help: "Processor time of this process, user and system." },
  process_resident_memory_bytes: { type: "gauge", help: "Resident memory of this process." },
  process_start_time_seconds: { type: "gauge", help: "When this process began." },
  nodejs_heap_used_bytes: { type: "gauge", help: "Memory in use by JavaScript." },
  nodejs_eventloop_lag_p99_seconds: {
    type: "gauge",
    help: "How late timers were, at most, for 99 of 100, since the last scrape.",
  },
};

/** A metric as a scrape gives it. */
export interface ServedMetric extends MetricDefinition {
  readonly name: string;
  /** The name in `METRICS`. */
  readonly countedAs: string;
  /** What a counted value is multiplied by: milliseconds are served as seconds. */
  readonly factor: number;
  /** True for a name of an earlier release, served for one more. */
  readonly isDeprecated: boolean;
}

/** Names that every client library for Node has. */
const STANDARD = /^(?:process|nodejs)_/;

/** The metrics as they are served: one prefix and base units; and after them the names before that, for one more release. */
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
