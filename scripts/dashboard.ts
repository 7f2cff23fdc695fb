/** One graph: what it asks Prometheus for, and how its lines are called. */
interface Graph {
  readonly title: string;
  /** A unit of Grafana. */
  readonly unit: string;
  readonly help?: string;
  readonly lines: readonly (readonly [query: string, legend: string])[];
}

interface Section {
  readonly title: string;
  readonly graphs: readonly Graph[];
}

const rate = (metric: string): string => `rate(${metric}[$__rate_interval])`;

/** The times that half, 95 and 99 of 100 keep to. */
function quantiles(metric: string): Graph["lines"] {
  return [0.5, 0.95, 0.99].map((share) => [
    `histogram_quantile(${share}, sum by (le) (${rate(`${metric}_bucket`)}))`,
    `p${share * 100}`,
  ]);
}

const SECTIONS: readonly Section[] = [
  {
    title: "Requests",
    graphs: [
      {
        title: "Requests a second",
        unit: "reqps",
        lines: [[`sum by (status) (${rate("keepsake_api_requests_total")})`, "{{status}}"]],
      },
      {
        title: "How long a request takes",
        unit: "s",
        lines: quantiles("keepsake_api_request_duration_seconds"),
      },
      {
        title: "The slowest routes (p95)",
        unit: "s",
        lines: [
          [
            `topk(8, histogram_quantile(0.95, sum by (le, endpoint) (${rate("keepsake_api_request_duration_seconds_bucket")})))`,
            "{{endpoint}}",
          ],
        ],
      },
    ],
  },
  {
    title: "Memory",
    graphs: [
      {
        title: "How long a recall takes",
        unit: "s",
        lines: quantiles("keepsake_retrieval_duration_seconds"),
      },
      {
        title: "Calls of the memory's verbs",
        unit: "ops",
        lines: [[`sum by (operation) (${rate("keepsake_operations_total")})`, "{{operation}}"]],
      },
      {
        title: "Calls that failed",
        unit: "ops",
        help: "Wrong input and what is not there count as well: who calls may be at fault.",
        lines: [
          [
            `sum by (operation, outcome) (${rate('keepsake_operations_total{outcome!="ok"}')})`,
            "{{operation}}: {{outcome}}",
          ],
        ],
      },
      {
        title: "What became of memories",
        unit: "ops",
        lines: [[`sum by (action) (${rate("keepsake_changes_total")})`, "{{action}}"]],
      },
      {
        title: "Erasures in an hour",
        unit: "short",
        help: "One that is not complete wants a look: its receipt says which place was not clean.",
        lines: [["sum by (complete) (increase(keepsake_erasures_total[1h]))", "complete: {{complete}}"]],
      },
      {
        title: "Found in the cache",
        unit: "percentunit",
        lines: [
          [
            `sum by (cache) (${rate("keepsake_cache_hits_total")}) / (sum by (cache) (${rate("keepsake_cache_hits_total")}) + sum by (cache) (${rate("keepsake_cache_misses_total")}))`,
            "{{cache}}",
          ],
        ],
      },
    ],
  },
  {
    title: "Work in the background",
    graphs: [
      { title: "What waits", unit: "short", lines: [["max by (job) (keepsake_job_left)", "{{job}}"]] },
      {
        title: "Runs that broke off, one after the other",
        unit: "short",
        lines: [["max by (job) (keepsake_job_failures)", "{{job}}"]],
      },
      {
        title: "Users set aside by a job",
        unit: "short",
        help: "What failed with them says `keepsake worker --quarantined`.",
        lines: [["max by (job) (keepsake_job_set_aside)", "{{job}}"]],
      },
      {
        title: "Since the last run",
        unit: "s",
        lines: [["time() - max by (job) (keepsake_job_last_run_timestamp_seconds)", "{{job}}"]],
      },
    ],
  },
  {
    title: "Models",
    graphs: [
      {
        title: "Calls",
        unit: "ops",
        lines: [
          [`sum by (purpose, outcome) (${rate("keepsake_llm_calls_total")})`, "{{purpose}}: {{outcome}}"],
        ],
      },
      {
        title: "Dollars in an hour",
        unit: "currencyUSD",
        lines: [
          ["sum by (purpose, model) (increase(keepsake_llm_cost_usd_total[1h]))", "{{purpose}}: {{model}}"],
        ],
      },
      {
        title: "Circuits that are open",
        unit: "short",
        help: "0: requests go out; 1: one goes out to see; 2: none does.",
        lines: [["max by (server) (keepsake_llm_circuit_state)", "{{server}}"]],
      },
      {
        title: "What the memory adds before a chat goes on",
        unit: "s",
        lines: quantiles("keepsake_proxy_overhead_seconds"),
      },
    ],
  },
  {
    title: "Beside the record",
    graphs: [
      {
        title: "Recalls that could ask an index",
        unit: "ops",
        help: "Where it did not answer, the record's own search did.",
        lines: [
          [`sum by (index, outcome) (${rate("keepsake_index_searches_total")})`, "{{index}}: {{outcome}}"],
        ],
      },
      {
        title: "Hits that the record does not know",
        unit: "ops",
        help: "They were dropped, and taken out of the index.",
        lines: [[`sum by (index) (${rate("keepsake_index_strays_total")})`, "{{index}}"]],
      },
      {
        title: "Troubles with sessions and cache",
        unit: "ops",
        help: "Nobody's answer depends on them: the record has all of it.",
        lines: [[`sum by (of, code) (${rate("keepsake_beside_troubles_total")})`, "{{of}}: {{code}}"]],
      },
      {
        title: "Active sessions",
        unit: "short",
        help: "Sessions with a message in the last 24 hours.",
        lines: [["max(keepsake_active_sessions)", "sessions"]],
      },
      {
        title: "Memory of the store of sessions",
        unit: "bytes",
        lines: [
          ["max(keepsake_sessions_store_bytes)", "in use"],
          ["max(keepsake_sessions_store_limit_bytes)", "at most"],
        ],
      },
    ],
  },
  {
    title: "The processes",
    graphs: [
      {
        title: "Processors",
        unit: "short",
        lines: [[rate("process_cpu_seconds_total"), "{{instance}}"]],
      },
      {
        title: "Memory",
        unit: "bytes",
        lines: [
          ["process_resident_memory_bytes", "{{instance}}"],
          ["nodejs_heap_used_bytes", "{{instance}} (JavaScript)"],
        ],
      },
      {
        title: "How late timers are (p99)",
        unit: "s",
        lines: [["nodejs_eventloop_lag_p99_seconds", "{{instance}}"]],
      },
    ],
  },
];

const HEIGHT = 8;
/** Of Grafana's 24 columns. */
const WIDTH = 8;

/** The dashboard of Grafana that `deploy/grafana/dashboards/keepsake.json` holds. */
export function dashboard(): object {
  let y = 0;
  const panels = SECTIONS.flatMap(({ title, graphs }) => {
    const row = { type: "row", title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] };
    const placed = graphs.map((graph, i) => {
      const gridPos = {
        x: (i * WIDTH) % 24,
        y: y + 1 + HEIGHT * Math.floor((i * WIDTH) / 24),
        w: WIDTH,
        h: HEIGHT,
      };
      return panel(graph, gridPos);
    });
    y += 1 + HEIGHT * Math.ceil((graphs.length * WIDTH) / 24);
    return [row, ...placed];
  });
  return {
    uid: "keepsake",
    title: "Keepsake",
    schemaVersion: 41,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    timezone: "browser",
    panels: panels.map((one, i) => ({ id: i + 1, ...one })),
  };
}

function panel({ title, unit, help, lines }: Graph, gridPos: object): object {
  const datasource = { type: "prometheus", uid: "prometheus" };
  return {
    type: "timeseries",
    title,
    ...(help === undefined ? {} : { description: help }),
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10 } }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: lines.map(([expr, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource,
      expr,
      legendFormat,
    })),
  };
}
