/** What `docs/results/quality.json` holds. Figures in per cent, tokens apart. */
export interface EvaluationResults {
  /** The day of the measurement, ISO 8601. */
  readonly measuredOn: string;
  /** The version of Node, and the embedder's name. */
  readonly node: string;
  readonly embedder: string;
  readonly sets: readonly SetResult[];
  /** What the fitting found on conversations that it had not seen. */
  readonly leftOut?: readonly LeftOut[];
}

/** A metric of conversations, with weights fitted on all, and with weights fitted without them. */
export interface LeftOut {
  readonly set: string;
  readonly metric: string;
  /** What was left out: a conversation, a tenth of the questions, the whole set. */
  readonly without: string;
  readonly fitted: number;
  readonly leftOut: number;
}

export interface SetResult {
  readonly set: string;
  /** As it is typed. */
  readonly command: string;
  readonly n: number;
  readonly figures: readonly Figure[];
  /** The main metric by kind of question. */
  readonly kinds: readonly Figure[];
  /** The mean size of what the first ten items give. */
  readonly tokens: { readonly keepsake: number; readonly bm25: number };
}

export interface Figure {
  readonly name: string;
  readonly keepsake: number;
  readonly bm25: number;
  readonly interval?: readonly [low: number, high: number];
  /** How many questions, where it is not the set's n. */
  readonly n?: number;
}

/** What a set asks, and of what. */
const ABOUT: { readonly [set: string]: string } = {
  stories: "short conversations over several sessions, lived through; answers are checked by words",
  locomo: "two people talk over months; the turns that answer a question",
  longmemeval: "about 48 chats with an assistant; the turns that answer a question",
  beam: "chats of 100K tokens with an assistant; the messages that an answer rests on",
  realtalk: "two people chat for three weeks; the turns that answer a question",
  updates: "something was said anew; the newer statement comes before the older one",
  memdaily: "daily life in Chinese, about nine messages; those that answer a question",
  precisionmembench: "what is known of a user; what should come back and nothing else",
  personaext: "single statements about oneself; what they tell is kept (beside it: each message kept whole)",
  "forget-cases":
    "facts erased or replaced by a description; what must come comes, and what must not does not",
  gatemem:
    "several people share one memory and delete from it; `leak`: of probes for what was deleted, how many bring it back (less is better; beside it: BM25 that deletes nothing)",
  mempalace: "notes in ten languages; what was labelled in them (beside it: each sentence kept as a memory)",
};

/** The page as it should be for these results. */
export function pageOf({ measuredOn, node, embedder, sets, leftOut = [] }: EvaluationResults): string {
  return `# Quality

<!-- Written by \`npm run results\`; a test compares it with quality.json. Measure again, do not edit. -->

Measured on ${measuredOn} with Node ${node}: the default profile, the embedder \`${embedder}\`, no model, no key. Everything goes
through the library's public calls, and **BM25** is plain BM25 over the same messages in the same run. Figures are in per cent.
The interval holds 95 % of the means where the questions are drawn anew (2,000 times); where no question failed, it cannot say
more than that. Tokens are the mean size of what the
first ten items give, ours as the context for a prompt.

${tableOf(["set", "metric", "Keepsake", "95 %", "BM25", "n", "tokens", "BM25's"], sets.flatMap(rowsOf), 2)}

What the sets are, where they come from, and how the figures are made: [bench/quality](../../bench/quality/README.md).
The weights of the default profile were fitted on some of this data, and its thresholds were set while looking at it: among
them how much alike two statements must be for the newer to come first, with all of \`updates\` in sight. So these figures say
what it does there; other conversations decide what it is worth, and fewer may come out right. The public sets were measured in
part, as n says.
${leftOut.length > 0 ? leftOutOf(leftOut) : ""}
${sets.map(({ set }) => `* **${set}**: ${ABOUT[set] ?? "see there"}.`).join("\n")}

## Measure it yourself

\`\`\`sh
${sets.map(({ command }) => command).join("\n")}
\`\`\`

\`npm run -s results -- --data DIR\` runs all of them, one after another, and writes this page.

## By kind of question

${sets
  .filter(({ kinds }) => kinds.length > 0)
  .map(kindsOf)
  .join("\n\n")}
`;
}

function rowsOf({ set, n, figures, tokens }: SetResult): string[][] {
  return figures.map(({ name, keepsake, bm25, interval, n: own = n }, i) => [
    i === 0 ? set : "",
    name,
    `**${keepsake.toFixed(1)}**`,
    interval ? interval.map((bound) => bound.toFixed(1)).join(" to ") : "",
    bm25.toFixed(1),
    own.toLocaleString("en"),
    ...(i === 0
      ? [tokens.keepsake, tokens.bm25].map((count) => (count === 0 ? "" : count.toLocaleString("en")))
      : ["", ""]),
  ]);
}

function leftOutOf(rows: readonly LeftOut[]): string {
  const table = tableOf(
    ["set", "metric", "left out", "fitted on all", "left out of the fitting"],
    rows.map((row) => [
      row.set,
      row.metric,
      row.without,
      row.fitted.toFixed(1),
      `**${row.leftOut.toFixed(1)}**`,
    ]),
    3,
  );
  return `
What the same weights come to where the fitting has not seen the conversations:

${table}
`;
}

function kindsOf({ set, figures, kinds }: SetResult): string {
  const rows = kinds.map(({ name, keepsake, bm25 }) => [name, `**${keepsake.toFixed(1)}**`, bm25.toFixed(1)]);
  return `${set}, ${figures[0]?.name ?? ""}:\n\n${tableOf(["kind", "Keepsake", "BM25"], rows, 1)}`;
}

/** The first columns hold words, the others numbers. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[], words: number): string {
  return [head, head.map((_, i) => (i < words ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
