import type { AtOnce, Cost, Tokens } from "./run.ts";

/** What `docs/results/cost.json` holds. */
export interface CostResults {
  /** The day of the measurement, ISO 8601: prices are those of that day. */
  readonly measuredOn: string;
  readonly node: string;
  readonly runs: readonly Cost[];
}

/** Under so many dollars for 1,000 turns. */
export const BAR = 0.05;

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const dollars = (value: number): string => `$${value.toFixed(4)}`;
const inWords = (atOnce: AtOnce): string =>
  atOnce === "session"
    ? "a session at a time"
    : atOnce === 1
      ? "a turn at a time"
      : `${atOnce} turns at a time`;

function row(purpose: string, model: string, tokens: Tokens): string {
  const share = tokens.in > 0 ? `${Math.round((100 * tokens.cached) / tokens.in)} %` : "";
  return `| ${purpose} | ${model} | ${whole(tokens.in)} | ${share} | ${whole(tokens.out)} | ${dollars(tokens.dollars)} |`;
}

/** The figures as a table for people. */
export function tableOf(cost: Cost): string {
  const { understand, embed } = cost.perThousand;
  return [
    "| For | Model | Tokens in | cached | Tokens out | Cost |",
    "|---|---|---|---|---|---|",
    row("understanding", "gpt-4o-mini", understand),
    row("embedding", "text-embedding-3-small", embed),
    `| **both** | | | | | **${dollars(cost.perThousand.dollars)}** |`,
  ].join("\n");
}

/** How many items a turn may give before the bar is met, all else as it was. */
function mostItems({ items, turns, perThousand }: Cost): string {
  const each = (perThousand.understand.out * 0.6) / 1e6 / (items / turns);
  return (items / turns + (BAR - perThousand.dollars) / each).toFixed(2);
}

export function pageOf({ measuredOn, node, runs }: CostResults): string {
  const main = runs.find(({ atOnce }) => atOnce === "session") ?? runs[0];
  if (!main) return "";
  const others = runs.map(
    (cost) =>
      `| ${inWords(cost.atOnce)} | ${whole(cost.requests)} | ${whole(cost.perThousand.understand.in)} | ${dollars(
        cost.perThousand.dollars,
      )} | ${dollars(cost.perThousand.dollarsUncached)} |`,
  );
  return `# What memory costs

Measured on ${measuredOn.slice(0, 10)} with Node ${node}; written by \`npm run -s cost -- --data DIR --page\`.

The bar: **under $${BAR} for 1,000 turns** at the list prices of gpt-4o-mini and text-embedding-3-small. It holds at
${dollars(main.perThousand.dollars)} (${dollars(main.perThousand.dollarsUncached)} if the provider's prompt cache kept nothing). The built-in
embedder and understanding by rules cost nothing.

For 1,000 turns, ${inWords(main.atOnce)}:

${tableOf(main)}

## How many turns a request reads

Every request carries the instructions, so that few turns in a request are dear ones. Keepsake therefore has a model read what was
said when its user has paused for two minutes (\`KEEPSAKE_UNDERSTAND_AFTER_MS\`), when a dozen messages wait, or after ten minutes; until
then the rules have understood it, and it is found word for word. A talk without long pauses costs what twelve turns at a time do; one
thing said every few minutes, what a turn at a time does.

| Read | Requests | Tokens in for 1,000 turns | Cost for 1,000 turns | without the cache |
|---|---|---|---|---|
${others.join("\n")}
${answersOf(main)}
## How it is measured

* What is taken in: the ${main.conversations} LoCoMo conversations beside the project, ${whole(main.turns)} turns of two people each, by their own words and in
  their own sessions, through the same code as in use: gate, batches, known memories under numbers, checks of each quote, ledger.
  ${whole(main.read)} turns were read, the gate spared the others; ${whole(main.memories)} memories were kept.
* Nobody is asked but a server of OpenAI's protocol in this process. It counts tokens with the real tokenizers (o200k_base for
  gpt-4o-mini, cl100k_base for text-embedding-3-small), 3 for each message and 3 for the answer besides, and the schema of the answer.
  OpenAI's own count of a schema is not published; ours is that of its JSON.
* The prompt cache is modelled by OpenAI's rules: from 1,024 tokens on, in steps of 128, what a prompt begins with as one
  before it did. A provider forgets a prompt after some minutes without use, so that the share can be smaller where little is said: the last column
  has none of it.
* What the model answers decides half of the cost, so that it is not made up: LoCoMo comes with the "observations" that a GPT model
  wrote down about these conversations, each with its turn. Each becomes an item in the shape that is asked for, two where it
  holds two statements, with a quote out of its turn: ${whole(main.items)} items, ${(main.items / main.turns).toFixed(2)} for each turn, ${Math.round(
    main.perThousand.understand.out / 1000 / (main.items / main.turns),
  )} tokens an item. A model that finds more costs more; the bar holds up to ${mostItems(main)} items for each turn.
* Prices: the dated table of \`src/domain/model-usage.ts\`, by the same ledger that \`keepsake stats\` shows.
* Retries, and answers that could not be used, are not in it.
`;
}

function answersOf({ answers }: Cost): string {
  if (!answers) return "";
  return `
## Answers

\`answer\` and \`/conversation\` by gpt-4o-mini take ${whole(answers.in / 1000)} tokens in and ${whole(answers.out / 1000)} out for a question (${whole(
    answers.asked,
  )} of LoCoMo's asked; an answer of two sentences): ${dollars(answers.dollars)} for 1,000 questions. Where nothing is known, nobody is asked.
`;
}
