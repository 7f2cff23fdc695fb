import { createInterface, type Interface } from "node:readline";
import type { Where } from "../../../domain/filters/metadata-filter.ts";
import type { WhereText } from "../../../domain/filters/text-filter.ts";
import {
  areCopiesUnreadable,
  type ErasurePlan,
  type ErasureReceipt,
  type VerifiedPlace,
} from "../../../domain/receipt.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import type { Forget } from "../../../engine/api/writing-types.ts";
import { invalid } from "../../../errors.ts";
import { EXIT, exitInterrupted } from "../../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { allowsParts, findAttachmentId, findItemId } from "../../short-ids.ts";
import { type CommandContext, type CommonOptions, withMemory } from "../../with-memory.ts";

interface ForgetCommandOptions extends CommonOptions {
  readonly id?: readonly string[];
  readonly attachment?: readonly string[];
  readonly session?: string;
  readonly from?: string;
  readonly to?: string;
  readonly topic?: string;
  readonly where?: string;
  readonly whereText?: WhereText;
  readonly everything?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function runForget(what: string | undefined, options: ForgetCommandOptions): Promise<void> {
  await withMemory(options, "reads", async (context) => {
    const { memory, print } = context;
    const target = await withWholeIds(
      memory,
      toForgetTarget(what, options),
      allowsParts({ json: print.json, yes: options.yes === true }),
    );
    const plan = await memory.forget(target, { dryRun: true });
    const isEmpty = isEmptyPlan(plan);
    if (options.dryRun) {
      print.result(plan, () => formatPlan(plan));
      return isEmpty ? EXIT.nothingFound : EXIT.done;
    }
    if (!isEmpty && !(await hasConsent(context, target, options, plan))) {
      print.note("Nothing was erased.");
      return EXIT.failed;
    }
    const receipt = await memory.forget(target);
    const { memories, messages, rewritten = 0 } = receipt.erased;
    const isNone = memories + messages + rewritten === 0;
    print.result(receipt, () => (isNone ? formatPlan(plan) : formatErasureReceipt(receipt)));
    if (isNone) return EXIT.nothingFound;
    return receipt.complete ? EXIT.done : EXIT.failed;
  });
}

function toForgetTarget(what: string | undefined, options: ForgetCommandOptions): Forget {
  const { id, attachment, session, from, to, topic, where, whereText, everything } = options;
  const time = from ?? to;
  const named = [what, id, attachment, session, time, topic, where, whereText, everything].filter(
    (value) => value !== undefined,
  );
  if (named.length !== 1) {
    throw invalid(
      "name exactly one of: words, --id (may be repeated), --attachment, --session, --from and --to, --topic, --where, " +
        "--where-text or --everything.",
    );
  }
  if (id) return { ids: id };
  if (attachment) return { attachments: attachment };
  if (session !== undefined) return { session };
  if (time !== undefined)
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  if (topic !== undefined) return { topic };
  if (where !== undefined) return { where: parseFilter(where) };
  if (whereText !== undefined) return { whereText };
  return everything ? { everything: true } : (what ?? "");
}

/** The same with whole ids for parts of them. Throws `invalid_input` if several fit a part, or if parts are not allowed. */
async function withWholeIds(memory: ScopedMemory, target: Forget, areAllowed: boolean): Promise<Forget> {
  if (typeof target === "string") return target;
  if ("ids" in target)
    return { ids: await Promise.all(target.ids.map((part) => findItemId(memory, part, areAllowed))) };
  if (!("attachments" in target)) return target;
  const { attachments: parts } = target;
  return { attachments: await Promise.all(parts.map((part) => findAttachmentId(memory, part, areAllowed))) };
}

function parseFilter(text: string): Where {
  try {
    return JSON.parse(text) as Where;
  } catch {
    throw invalid(`--where is not valid JSON: give a filter such as {"source": "import"}.`);
  }
}

/** Erasing everything needs --yes. On a terminal, any erasure needs --yes or an answer. */
async function hasConsent(
  { memory, print }: CommandContext,
  target: Forget,
  { yes }: ForgetCommandOptions,
  plan: ErasurePlan,
): Promise<boolean> {
  if (yes) return true;
  if (process.stdin.isTTY && process.stderr.isTTY && !print.json) {
    for (const line of formatPlan(plan)) print.note(line);
    return askForConsent();
  }
  if (await erasesEverything(memory, target, plan)) throw invalid("this erases everything: add --yes.");
  return true;
}

async function askForConsent(): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", exitInterrupted);
  try {
    return await askYesNo(lines, "Erase this permanently?");
  } finally {
    lines.close();
  }
}

/** Also true for words such as "forget everything you know about me". */
async function erasesEverything(
  memory: ScopedMemory,
  target: Forget,
  { memories }: ErasurePlan,
): Promise<boolean> {
  if (typeof target === "object") return "everything" in target;
  if (!/\b(?:everything|all)\b/i.test(target)) return false;
  return memories.length === (await memory.list({ status: "all", limit: 1 })).total;
}

export function isEmptyPlan({ memories, messages }: ErasurePlan): boolean {
  return memories.length === 0 && messages.length === 0;
}

const MOST_SHOWN = 20;

/** Gives lines that list what an erasure would remove. */
export function formatPlan(plan: ErasurePlan): string[] {
  if (isEmptyPlan(plan)) return ["No matching memories.", ...formatUnsure(plan)];
  const { memories, messages } = plan;
  const words = messages.flatMap(({ at, words }) =>
    words.map((quote) => ["words", formatDay(at), `“${toShortLine(quote, 100)}”`]),
  );
  const counts = [
    ...(memories.length > 0 ? [formatCount(memories.length, "memory", "memories")] : []),
    ...(messages.length > 0 ? [`words in ${formatCount(messages.length, "message")}`] : []),
    ...formatAttachmentCount(messages.reduce((sum, { attachments = 0 }) => sum + attachments, 0)),
  ];
  const rows = [
    ...limitRows(memories.map(({ text }) => ["memory", "", toShortLine(text)])),
    ...limitRows(words),
  ];
  return [
    `Would be erased: ${counts.join(", ")}.`,
    ...formatTable(rows).map((line) => `  ${line}`),
    ...formatUnsure(plan),
  ];
}

function formatAttachmentCount(count = 0): string[] {
  return count > 0 ? [formatCount(count, "image or recording", "images and recordings")] : [];
}

/** What may be meant too, and stays. */
function formatUnsure({ unsure = [] }: ErasurePlan): string[] {
  const rows = unsure.flatMap(({ memories, quotes }) => [
    ...memories.map(({ text }) => ["memory", "", toShortLine(text)]),
    ...quotes.map(({ at, quote }) => ["words", formatDay(at), `“${toShortLine(quote, 100)}”`]),
  ]);
  if (rows.length === 0) return [];
  return ["May be meant, and stays:", ...formatTable(limitRows(rows)).map((line) => `  ${line}`)];
}

function limitRows(rows: readonly string[][]): readonly string[][] {
  const more = rows.length - MOST_SHOWN;
  return more > 1 ? [...rows.slice(0, MOST_SHOWN), [rows[0]?.[0] ?? "", "", `and ${more} more`]] : rows;
}

function formatRemainingPlace({ place, found, until, why }: VerifiedPlace): string {
  const end = until === undefined ? "" : `, gone by ${formatDay(until)} at the latest`;
  return why ? `${place} (${why}; will be retried${end})` : `${place} (${found}${end})`;
}

function formatOlderBackups(names: readonly string[], isUnreadable: boolean): string[] {
  if (names.length === 0) return isUnreadable ? ["Its key is destroyed: earlier copies cannot be read."] : [];
  const list = names.join(", ");
  return [
    isUnreadable
      ? `Its key is destroyed: older backups contain it, but cannot be read: ${list}.`
      : `Older backups still contain it: ${list}.`,
  ];
}

/** Gives lines that describe what an erasure did. */
function formatErasureReceipt(receipt: ErasureReceipt): string[] {
  const { id, erased, verified, complete, backups = [], remains = [] } = receipt;
  const until = (end: string | undefined): string => (end === undefined ? "" : ` (until ${formatDay(end)})`);
  const olderBackups = backups.map((backup) => `${toShortLine(backup.name, 60)}${until(backup.until)}`);
  // A later scan that found nothing overrides an earlier report of remains.
  const clean = verified.filter(({ found }) => found === 0).map(({ place }) => place);
  const unreadable = remains
    .filter(({ place }) => !clean.includes(place))
    .map((remain) => `${remain.place}${until(remain.until)}`);
  const left = verified.filter(({ found }) => found > 0).map(formatRemainingPlace);
  return [
    `Erased: ${formatCount(erased.memories, "memory", "memories")} with ${formatCount(erased.versions, "version")}, words in ${formatCount(erased.messages, "message")}, ${[formatCount(erased.vectors, "vector"), ...formatAttachmentCount(erased.attachments)].join(", ")}.`,
    complete
      ? `Verified: no traces left in ${verified.map(({ place }) => place).join(", ")}.`
      : `Traces remain in: ${left.join(", ")}.`,
    ...formatOlderBackups(olderBackups, areCopiesUnreadable(receipt)),
    ...(unreadable.length > 0 ? [`No longer readable, but bytes remain in: ${unreadable.join(", ")}.`] : []),
    `Receipt ${id}.`,
  ];
}

/** Asks the user a yes-or-no question. Gives false if the input closes. */
export function askYesNo(lines: Interface, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    lines.once("close", () => resolve(false));
    lines.question(`${question} [y/N] `, (reply) => resolve(/^y(?:es)?$/i.test(reply.trim())));
  });
}
