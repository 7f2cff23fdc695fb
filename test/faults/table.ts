/** What a program may ask of the server. */
export const SURFACES = ["chat", "stream", "write", "search", "answer", "ready"] as const;
export type ServerSurface = (typeof SURFACES)[number];

/**
 * What it gets. `well`: what it asked for, whole. `own`: the upstream's own error or, where it gave none, that it cannot be
 * reached. `cut`: the stream ends where the upstream's did. `later`: 503 with `Retry-After` and nothing stored.
 */
export type SurfaceOutcome = "well" | "own" | "cut" | "later";

export interface InjectedFault {
  readonly name: string;
  readonly expected: { readonly [surface in ServerSurface]: SurfaceOutcome };
  /** Metrics, with some of their labels, one of which has risen while the fault lasted. Empty where nothing has gone wrong. */
  readonly counted: readonly string[];
}

const WELL: InjectedFault["expected"] = {
  chat: "well",
  stream: "well",
  write: "well",
  search: "well",
  answer: "well",
  ready: "well",
};
/** The database takes no writes: chats go on, reads too. */
const READ_ONLY: InjectedFault["expected"] = { ...WELL, write: "later", answer: "later", ready: "later" };
/** The model's server fails: chats get what it says, and everything else goes on without it. */
const NO_MODEL: InjectedFault["expected"] = { ...WELL, chat: "own", stream: "own" };

const STORE_FAILED = 'keepsake_proxy_troubles_total{step="store"}';
const chatEnded = (outcome: string): string =>
  `keepsake_llm_calls_total{purpose="chat",outcome="${outcome}"}`;

/** Every fault, and what each surface does in it. `docs/reliability.md` shows this table; `faults.test.ts` tests each cell. */
export const FAULTS: readonly InjectedFault[] = [
  { name: "the database is locked", expected: READ_ONLY, counted: [STORE_FAILED] },
  { name: "the disk is full", expected: READ_ONLY, counted: [STORE_FAILED] },
  { name: "the search index is lost", expected: WELL, counted: ["keepsake_blocks_lost_total"] },
  {
    name: "the embedder is down",
    expected: WELL,
    counted: ['keepsake_llm_calls_total{purpose="embed",outcome="failed"}'],
  },
  { name: "the clock jumps", expected: WELL, counted: ['keepsake_clock_jumps_total{to="back"}'] },
  {
    name: "the model answers with broken JSON",
    expected: WELL,
    counted: [
      'keepsake_understanding_unread_total{why="unusable"}',
      'keepsake_job_failures{job="understanding"}',
    ],
  },
  {
    name: "the model refuses",
    expected: WELL,
    counted: [
      'keepsake_understanding_unread_total{why="refused"}',
      'keepsake_answers_total{trouble="refused"}',
    ],
  },
  { name: "the model's server answers 429", expected: NO_MODEL, counted: [chatEnded("rate_limited")] },
  { name: "the model's server answers 500", expected: NO_MODEL, counted: [chatEnded("failed")] },
  { name: "the model is slow", expected: NO_MODEL, counted: [chatEnded("timeout")] },
  { name: "the model's server hangs up", expected: NO_MODEL, counted: [chatEnded("unreachable")] },
  { name: "the stream is cut", expected: { ...WELL, stream: "cut" }, counted: [chatEnded("cut")] },
  {
    name: "the client goes in mid-stream",
    expected: { ...WELL, stream: "cut" },
    counted: [chatEnded("aborted")],
  },
  { name: "the upstream cannot be reached", expected: NO_MODEL, counted: [chatEnded("unreachable")] },
];

const SAID: { readonly [outcome in SurfaceOutcome]: string } = {
  well: "as ever",
  own: "its own error",
  cut: "cut there",
  later: "503, later",
};

/** The table as the page shows it. */
export function pageRows(): string {
  return [
    `| | ${SURFACES.join(" | ")} | counted by |`,
    `|---|${"---|".repeat(SURFACES.length + 1)}`,
    ...FAULTS.map(({ name, expected, counted }) => {
      const cells = SURFACES.map((surface) => SAID[expected[surface]]);
      return `| ${[name, ...cells, counted.map((one) => `\`${one}\``).join(", ")].join(" | ")} |`;
    }),
  ].join("\n");
}
