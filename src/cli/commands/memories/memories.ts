import type { LogEntry } from "../../../domain/change-set.ts";
import type { WhereText } from "../../../domain/filters/text-filter.ts";
import type { ListOrder } from "../../../domain/memories/memory-order.ts";
import type { Kind, KindGroup, Memory, PendingReview, Status } from "../../../domain/memory.ts";
import type { ListOptions, ShownMemory } from "../../../engine/api/listing-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { invalid, isMemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { colorText, dimText, formatCount, formatDay, formatTable, toShortLine } from "../../printer.ts";
import { allowsParts, createIdShortener, findMemoryId } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface ListCommandOptions extends CommonOptions {
  readonly kind?: Kind | KindGroup;
  readonly status?: Status | "all";
  readonly limit?: number;
  readonly cursor?: string;
  readonly sort?: ListOrder;
  readonly from?: string;
  readonly to?: string;
  readonly asOf?: string;
  readonly knownAt?: string;
  readonly quarantined?: boolean;
  readonly review?: boolean;
  readonly whereText?: WhereText;
}

export async function runList(options: ListCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const page = await memory.list(toListOptions(options));
    print.result(page, () => formatMemoryTable(page.items));
    if (page.total === 0) print.note(describeEmptyList(options));
    if (page.cursor !== undefined) {
      print.note(`${page.items.length} of ${page.total}. Next page: --cursor ${page.cursor}`);
    }
    return EXIT.done;
  });
}

function describeEmptyList({ quarantined, review }: ListCommandOptions): string {
  if (quarantined) return "No memory is quarantined.";
  return review ? "No memory waits for a review." : "No memories found.";
}

function toListOptions(options: ListCommandOptions): ListOptions {
  const { kind, status, limit, cursor, sort, from, to, asOf, knownAt, quarantined, review, whereText } =
    options;
  const given = { kind, status, limit, cursor, sort, from, to, asOf, knownAt, whereText };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(quarantined ? { quarantined: true } : {}),
    ...(review ? { review: true as const } : {}),
  };
}

function formatMemoryTable(items: readonly ShownMemory[]): string[] {
  const shorten = createIdShortener(items.map(({ id }) => id));
  return formatTable(
    items.map((memory) => [
      colorText("yellow", shorten(memory.id)),
      dimText(formatDay(memory.at)),
      colorText("cyan", memory.kind),
      colorText("yellow", formatListState(memory)),
      toShortLine(memory.text),
    ]),
  );
}

function formatListState({ status, quarantined, review, why }: ShownMemory): string {
  if (quarantined) return `quarantined: ${why ?? ""}`;
  if (status !== "current") return status;
  return review ? "to review" : "";
}

/** Approves a quarantined memory: from then on it is recalled and given to models. */
export async function runApprove(part: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const id = await findMemoryId(memory, part, allowsParts(print));
    if (!(await memory.get(id)).quarantined) throw invalid("this memory is not quarantined.");
    const receipt = await memory.update(id, { quarantined: false });
    print.result(receipt, () => ["Approved."]);
    return EXIT.done;
  });
}

export async function runGet(part: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const shown = await memory.get(await findMemoryId(memory, part));
    print.result(shown, () => formatMemoryDetails(shown));
    return EXIT.done;
  });
}

function formatMemoryDetails(held: ShownMemory): string[] {
  const { claim } = held;
  const facts = [
    ["kind", held.kind],
    ["status", [held.status, held.why].filter(Boolean).join(", ")],
    ["said", `${formatDay(held.at)}${held.evidence > 1 ? `, ${held.evidence} times` : ""}`],
    [
      "true",
      `${held.validFrom ? `from ${formatDay(held.validFrom)} ` : ""}until ${held.validTo ? formatDay(held.validTo) : "now"}`,
    ],
    ["when", held.when ?? ""],
    ["expires", held.expiresAt ? formatDay(held.expiresAt) : ""],
    ["confidence", held.confidence.toFixed(2)],
    ["recalled", formatUsage(held)],
    ["newness", held.decayScore === undefined ? "" : held.decayScore.toFixed(2)],
    ["claim", claim ? [claim.subject, claim.relation, claim.value, claim.qualifier ?? ""].join(" · ") : ""],
    ["replaced by", held.supersededBy ?? ""],
    ["to review", held.review ? formatReview(held.review) : ""],
    ["version", `${held.version}, made by revision ${held.revision}`],
  ];
  const sources = held.sources.map(
    ({ quote, role, name, at, message }) =>
      `  “${toShortLine(quote, 100)}”  ${toShortLine(name ?? role, 30)}, ${formatDay(at)}, message ${message}`,
  );
  return [
    toShortLine(held.text, 1000),
    "",
    ...formatTable(facts.filter(([, value]) => value !== "")),
    ...(sources.length > 0 ? ["", `${formatCount(sources.length, "source")}:`, ...sources] : []),
  ];
}

function formatReview({ since, because }: PendingReview): string {
  const grounds = because.length === 0 ? "something that was erased" : because.join(", ");
  return `since ${formatDay(since)}, because of ${grounds}`;
}

function formatUsage({ usage }: ShownMemory): string {
  if (!usage) return "";
  if (usage.lastAt === undefined) return "never";
  return `${formatCount(usage.count, "time")}, last on ${formatDay(usage.lastAt)}`;
}

interface ProfileCommandOptions extends CommonOptions {
  readonly maxTokens?: number;
}

export async function runProfile(options: ProfileCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { maxTokens } = options;
    const profile = await memory.profile(maxTokens === undefined ? {} : { maxTokens });
    print.result(profile, () =>
      profile.text === "" ? [] : profile.text.split("\n").map((line) => toShortLine(line, 1000)),
    );
    if (profile.text === "") print.note("No memories found.");
    if (profile.left > 0)
      print.note(`${formatCount(profile.left, "line")} left out: raise --max-tokens to see more.`);
    return EXIT.done;
  });
}

interface HistoryCommandOptions extends CommonOptions {
  readonly limit?: number;
}

/** Prints the versions of a memory or, without an id, all revisions, newest first. */
export async function runHistory(part: string | undefined, options: HistoryCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    if (part !== undefined) {
      const versions = await memory.history(await findMemoryId(memory, part));
      const story = print.json ? [] : await formatVersions(memory, versions);
      print.result(versions, () => story);
      return EXIT.done;
    }
    const { limit } = options;
    const log = await memory.history(undefined, limit === undefined ? {} : { limit });
    const lines = print.json ? [] : await formatLog(memory, log);
    print.result(log, () => lines);
    if (log.length === 0) print.note("No history yet.");
    return EXIT.done;
  });
}

/** Gives lines for each version of a memory: the decision, its reason, and the quote that caused it. */
async function formatVersions(memory: ScopedMemory, versions: readonly Memory[]): Promise<string[]> {
  const lines: string[] = [];
  for (const [i, version] of versions.entries()) {
    const { revision, storedAt, action, why, text, supersededBy } = version;
    const before = versions[i - 1];
    const head = `${version.version}  revision ${revision}  ${formatDay(storedAt)}  ${action}`;
    const said = before?.text === text ? "" : `: ${toShortLine(text)}`;
    lines.push(`${head}${said}${why === undefined ? "" : ` (${why})`}`);
    const next = supersededBy === undefined ? [] : await findVersions(memory, supersededBy);
    const by = before?.supersededBy === supersededBy ? undefined : next.at(-1);
    if (by) lines.push(dimText(`   by ${toShortLine(by.text)}`));
    const known = new Set(before?.sources.map((source) => JSON.stringify(source)));
    const fresh = by
      ? by.sources.slice(0, 1)
      : version.sources.filter((source) => !known.has(JSON.stringify(source)));
    for (const { quote, message } of fresh)
      lines.push(dimText(`   “${toShortLine(quote, 100)}”  message ${message}`));
  }
  return lines;
}

const MOST_SHOWN = 5;

/** Gives a line for each revision, followed by the memories that it changed. */
async function formatLog(memory: ScopedMemory, log: readonly LogEntry[]): Promise<string[]> {
  const lines: string[] = [];
  for (const entry of log) {
    lines.push(`${String(entry.revision).padStart(4)}  ${formatMinute(entry.at)}  ${formatLogEntry(entry)}`);
    const details: string[] = [];
    for (const { id, version, action } of entry.memories.slice(0, MOST_SHOWN)) {
      const text = (await findVersions(memory, id)).find((other) => other.version === version)?.text;
      if (text !== undefined) details.push(`${action}: ${toShortLine(text, 120)}`);
    }
    const erased = Math.min(entry.memories.length, MOST_SHOWN) - details.length;
    const more = entry.memories.length - MOST_SHOWN;
    if (erased > 0) details.push(`${formatCount(erased, "memory", "memories")} erased since`);
    if (more > 0) details.push(`and ${formatCount(more, "memory", "memories")} more`);
    lines.push(...details.map((line) => `      ${line}`));
  }
  return lines;
}

function formatLogEntry({ cause, undoes, messages, erased, linked = [], unlinked = [] }: LogEntry): string {
  const parts = [
    undoes === undefined ? cause : `${cause} of revision ${undoes}`,
    ...(messages.length > 0 ? [formatCount(messages.length, "message")] : []),
    ...(erased.length > 0 ? [`${formatCount(erased.length, "place")} erased`] : []),
    ...(linked.length > 0 ? [`${formatCount(linked.length, "association")} made`] : []),
    ...(unlinked.length > linked.length
      ? [`${formatCount(unlinked.length - linked.length, "association")} removed`]
      : []),
  ];
  return parts.join(", ");
}

function formatMinute(at: string): string {
  return at.slice(0, 16).replace("T", " ");
}

/** Gives a memory's versions; none if it was erased. */
async function findVersions(memory: ScopedMemory, id: string): Promise<Memory[]> {
  try {
    return await memory.history(id);
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return [];
    throw error;
  }
}
