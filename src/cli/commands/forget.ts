import { createInterface, type Interface } from "node:readline";
import type { Where } from "../../domain/metadata-filter.ts";
import type { ErasurePlan, ErasureReceipt, VerifiedPlace } from "../../domain/receipt.ts";
import type { Forget, ScopedMemory } from "../../engine/api.ts";
import { invalid } from "../../errors.ts";
import { EXIT, exitInterrupted } from "../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../printer.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../with-memory.ts";

interface ForgetCommandOptions extends CommonOptions {
  readonly id?: readonly string[];
  readonly session?: string;
  readonly from?: string;
  readonly to?: string;
  readonly topic?: string;
  readonly where?: string;
  readonly everything?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function runForget(what: string | undefined, options: ForgetCommandOptions): Promise<void> {
  await withMemory(options, "reads", async (working) => {
    const { memory, print } = working;
    const meant = toForgetTarget(what, options);
    const plan = await memory.forget(meant, { dryRun: true });
    const isEmpty = isEmptyPlan(plan);
    if (options.dryRun) {
      print.result(plan, () => formatPlan(plan));
      return isEmpty ? EXIT.nothingFound : EXIT.done;
    }
    if (!isEmpty && !(await hasConsent(working, meant, options, plan))) {
      print.note("Nothing was erased.");
      return EXIT.failed;
    }
    const receipt = await memory.forget(meant);
    const { memories, messages, rewritten = 0 } = receipt.erased;
    const isNone = memories + messages + rewritten === 0;
    print.result(receipt, () => (isNone ? formatPlan(plan) : formatErasureReceipt(receipt)));
    if (isNone) return EXIT.nothingFound;
    return receipt.complete ? EXIT.done : EXIT.failed;
  });
}

function toForgetTarget(what: string | undefined, options: ForgetCommandOptions): Forget {
  const { id, session, from, to, topic, where, everything } = options;
  const time = from ?? to;
  const named = [what, id, session, time, topic, where, everything].filter((one) => one !== undefined);
  if (named.length !== 1) {
    throw invalid(
      "say one thing to forget: words, --id (more than once if need be), --session, --from and --to, --topic, --where " +
        "or --everything.",
    );
  }
  if (id) return { ids: id };
  if (session !== undefined) return { session };
  if (time !== undefined)
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  if (topic !== undefined) return { topic };
  if (where !== undefined) return { where: parseFilter(where) };
  return everything ? { everything: true } : (what ?? "");
}

function parseFilter(text: string): Where {
  try {
    return JSON.parse(text) as Where;
  } catch {
    throw invalid(`--where is no JSON: give a filter such as {"source": "import"}.`);
  }
}

/** All there is takes a yes; so does anything else where a person sits at the terminal. */
async function hasConsent(
  { memory, print }: CommandContext,
  meant: Forget,
  { yes }: ForgetCommandOptions,
  plan: ErasurePlan,
): Promise<boolean> {
  if (yes) return true;
  if (process.stdin.isTTY && process.stderr.isTTY && !print.json) {
    for (const line of formatPlan(plan)) print.note(line);
    return askForConsent();
  }
  if (await erasesEverything(memory, meant, plan)) throw invalid("this takes all there is: add --yes.");
  return true;
}

async function askForConsent(): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  asking.on("SIGINT", exitInterrupted);
  try {
    return await askYesNo(asking, "Erase this for good?");
  } finally {
    asking.close();
  }
}

/** Also "forget everything you know about me" takes all there is. */
async function erasesEverything(
  memory: ScopedMemory,
  meant: Forget,
  { memories }: ErasurePlan,
): Promise<boolean> {
  if (typeof meant === "object") return "everything" in meant;
  if (!/\b(?:everything|all)\b/i.test(meant)) return false;
  return memories.length === (await memory.list({ status: "all", limit: 1 })).total;
}

export function isEmptyPlan({ memories, messages }: ErasurePlan): boolean {
  return memories.length === 0 && messages.length === 0;
}

const MOST_SHOWN = 20;

/** What would go, for people. */
export function formatPlan(plan: ErasurePlan): string[] {
  if (isEmptyPlan(plan)) return ["Nothing like that is known."];
  const { memories, messages } = plan;
  const words = messages.flatMap(({ at, words }) =>
    words.map((one) => ["words", formatDay(at), `“${toShortLine(one, 100)}”`]),
  );
  const counts = [
    ...(memories.length > 0 ? [formatCount(memories.length, "memory", "memories")] : []),
    ...(messages.length > 0 ? [`words in ${formatCount(messages.length, "message")}`] : []),
  ];
  const rows = [
    ...limitRows(memories.map(({ text }) => ["memory", "", toShortLine(text)])),
    ...limitRows(words),
  ];
  return [`These would go: ${counts.join(", ")}.`, ...formatTable(rows).map((line) => `  ${line}`)];
}

function limitRows(rows: readonly string[][]): readonly string[][] {
  const more = rows.length - MOST_SHOWN;
  return more > 1 ? [...rows.slice(0, MOST_SHOWN), [rows[0]?.[0] ?? "", "", `and ${more} more`]] : rows;
}

function formatRemainingPlace({ place, found, until, why }: VerifiedPlace): string {
  const end = until === undefined ? "" : `, gone by ${formatDay(until)} at the latest`;
  return why ? `${place} (${why}; it is tried again${end})` : `${place} (${found}${end})`;
}

/** What an erasure did, for people. */
export function formatErasureReceipt(receipt: ErasureReceipt): string[] {
  const { id, erased, verified, complete, backups = [], remains = [] } = receipt;
  const until = (end: string | undefined): string => (end === undefined ? "" : ` (until ${formatDay(end)})`);
  const held = backups.map((one) => `${toShortLine(one.name, 60)}${until(one.until)}`);
  // What was read again since is not among it any more.
  const clean = verified.filter(({ found }) => found === 0).map(({ place }) => place);
  const stays = remains
    .filter(({ place }) => !clean.includes(place))
    .map((one) => `${one.place}${until(one.until)}`);
  const left = verified.filter(({ found }) => found > 0).map(formatRemainingPlace);
  return [
    `Erased: ${formatCount(erased.memories, "memory", "memories")} with ${formatCount(erased.versions, "version")}, words in ${formatCount(erased.messages, "message")}, ${formatCount(erased.vectors, "vector")}.`,
    complete
      ? `Checked: none of it is left in ${verified.map(({ place }) => place).join(", ")}.`
      : `Some of it is still found in: ${left.join(", ")}.`,
    ...(held.length > 0 ? [`Backups made before still hold it: ${held.join(", ")}.`] : []),
    ...(stays.length > 0 ? [`No read gives it any more; its bytes stay in: ${stays.join(", ")}.`] : []),
    `Receipt ${id}.`,
  ];
}

/** Asks a person. No, where it is closed instead of answered. */
export function askYesNo(lines: Interface, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    lines.once("close", () => resolve(false));
    lines.question(`${question} [y/N] `, (reply) => resolve(/^y(?:es)?$/i.test(reply.trim())));
  });
}
