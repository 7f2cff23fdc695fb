import type { Kind, Status } from "../../domain/memory.ts";
import type { ListOptions, ShownMemory } from "../../engine/surface.ts";
import { invalid } from "../../errors.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatDay, formatTable, toShortLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface ListCommandOptions extends CommonOptions {
  readonly kind?: Kind;
  readonly status?: Status | "all";
  readonly limit?: number;
  readonly cursor?: string;
  readonly setAside?: boolean;
}

export async function runList(options: ListCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const page = await memory.list(toListOptions(options));
    print.result(page, () => formatTable(page.items.map(formatMemoryRow)));
    if (page.total === 0) print.note(options.setAside ? "Nothing is set aside." : "Nothing is known.");
    if (page.cursor !== undefined) {
      print.note(`${page.items.length} of ${page.total}. The next page: --cursor ${page.cursor}`);
    }
    return EXIT.done;
  });
}

function toListOptions({ kind, status, limit, cursor, setAside }: ListCommandOptions): ListOptions {
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(status === undefined ? {} : { status }),
    ...(setAside ? { quarantined: true } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function formatMemoryRow({ id, at, kind, status, text, quarantined, why }: ShownMemory): string[] {
  const standing = quarantined ? `set aside: ${why ?? ""}` : status === "current" ? "" : status;
  return [id, formatDay(at), kind, standing, toShortLine(text)];
}

/** Lets in what was set aside: from then on it is recalled and given to models. */
export async function runApprove(id: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    if (!(await memory.get(id)).quarantined) throw invalid("this memory is not set aside.");
    const receipt = await memory.update(id, { quarantined: false });
    print.result(receipt, () => ["It is let in."]);
    return EXIT.done;
  });
}

export async function runGet(id: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const held = await memory.get(id);
    print.result(held, () => formatMemoryDetails(held));
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
    ["claim", claim ? [claim.subject, claim.relation, claim.value, claim.qualifier ?? ""].join(" · ") : ""],
    ["replaced by", held.supersededBy ?? ""],
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

interface ProfileCommandOptions extends CommonOptions {
  readonly maxTokens?: number;
}

export async function runProfile(options: ProfileCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { maxTokens } = options;
    const held = await memory.profile(maxTokens === undefined ? {} : { maxTokens });
    print.result(held, () =>
      held.text === "" ? [] : held.text.split("\n").map((line) => toShortLine(line, 1000)),
    );
    if (held.text === "") print.note("Nothing is known.");
    if (held.left > 0)
      print.note(`${formatCount(held.left, "line")} left out: --max-tokens makes room for more.`);
    return EXIT.done;
  });
}
