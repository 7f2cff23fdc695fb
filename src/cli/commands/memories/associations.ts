import type { AssociationType, MemoryLink } from "../../../domain/change-set.ts";
import type { LinkReceipt, RelatedMemory, RelatedOptions } from "../../../engine/api/association-types.ts";
import type { ScopedMemory } from "../../../engine/api/scoped-memory.ts";
import { invalid, isMemoryError } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { colorText, dimText, formatTable, type Printer, toShortLine } from "../../printer.ts";
import { allowsParts, createIdShortener, findMemoryId } from "../../short-ids.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface LinkCommandOptions extends CommonOptions {
  readonly type?: AssociationType;
  readonly strength?: number;
}

export async function runLink(from: string, to: string, options: LinkCommandOptions): Promise<void> {
  const { type, strength } = options;
  await withMemory(options, "reads", async ({ memory, print }) => {
    const [start, end] = await findEnds(memory, [from, to], print);
    const receipt = await memory.link(start, end, {
      ...(type === undefined ? {} : { type }),
      ...(strength === undefined ? {} : { strength }),
    });
    const lines = print.json ? [] : await formatLinkReceipt(memory, receipt);
    print.result(receipt, () => lines);
    return EXIT.done;
  });
}

/** Gives whole ids for two memories. Throws `invalid_input` as `selectId` does. */
async function findEnds(
  memory: ScopedMemory,
  [from, to]: readonly [string, string],
  print: Printer,
): Promise<[string, string]> {
  const areAllowed = allowsParts(print);
  return [await findMemoryId(memory, from, areAllowed), await findMemoryId(memory, to, areAllowed)];
}

export async function runUnlink(from: string, to: string, options: LinkCommandOptions): Promise<void> {
  const { type } = options;
  await withMemory(options, "reads", async ({ memory, print }) => {
    const [start, end] = await findEnds(memory, [from, to], print);
    const receipt = await memory.unlink(start, end, type === undefined ? {} : { type });
    const lines = print.json ? [] : await formatLinkReceipt(memory, receipt);
    print.result(receipt, () => lines);
    return EXIT.done;
  });
}

async function formatLinkReceipt(
  memory: ScopedMemory,
  { revision, linked, unlinked }: LinkReceipt,
): Promise<string[]> {
  if (linked.length + unlinked.length === 0) return ["The association exists already."];
  const replaced = new Set(linked.map(toPair));
  const gone = unlinked.filter((link) => !replaced.has(toPair(link)));
  return [
    ...(await Promise.all(linked.map(async (link) => `associated: ${await formatLink(memory, link)}`))),
    ...(await Promise.all(gone.map(async (link) => `removed: ${await formatLink(memory, link)}`))),
    dimText(`revision ${revision}; \`keepsake undo ${revision}\` reverts it`),
  ];
}

function toPair({ from, type, to }: MemoryLink): string {
  return `${from} ${type} ${to}`;
}

interface LinksCommandOptions extends LinkCommandOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

/** Prints stored associations, all or those of one memory. */
export async function runLinks(id: string | undefined, options: LinksCommandOptions): Promise<void> {
  const { type, limit, cursor } = options;
  await withMemory(options, "reads", async ({ memory, print }) => {
    const page = await memory.links({
      ...(id === undefined ? {} : { memory: await findMemoryId(memory, id) }),
      ...(type === undefined ? {} : { type }),
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const lines = print.json ? [] : await Promise.all(page.items.map((link) => formatLink(memory, link)));
    print.result(page, () => lines);
    if (page.total === 0) print.note("No associations found.");
    if (page.cursor !== undefined)
      print.note(`${page.items.length} of ${page.total}. Next page: --cursor ${page.cursor}`);
    return EXIT.done;
  });
}

async function formatLink(memory: ScopedMemory, { from, type, to, strength }: MemoryLink): Promise<string> {
  const [one, other] = await Promise.all([readText(memory, from), readText(memory, to)]);
  return `${one} ${dimText(`${type} ${strength}`)} ${other}`;
}

async function readText(memory: ScopedMemory, id: string): Promise<string> {
  try {
    return `“${toShortLine((await memory.get(id)).text, 80)}”`;
  } catch (error) {
    if (isMemoryError(error) && error.code === "not_found") return id;
    throw error;
  }
}

interface RelatedCommandOptions extends LinkCommandOptions {
  readonly depth?: number;
  readonly minStrength?: number;
  readonly limit?: number;
  readonly inferred?: boolean;
}

/** Prints the memories related to one, strongest first. */
export async function runRelated(part: string, options: RelatedCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const id = await findMemoryId(memory, part);
    const related = await memory.related(id, toRelatedOptions(options));
    const shorten = createIdShortener(related.items.map((item) => item.memory.id));
    print.result(related, () =>
      formatTable(
        related.items.map((item) => [
          colorText("yellow", shorten(item.memory.id)),
          ...formatRelation(id, item),
          toShortLine(item.memory.text),
        ]),
      ),
    );
    if (related.total === 0) print.note("No related memories found.");
    else if (related.items.length < related.total)
      print.note(`${related.items.length} of ${related.total}: raise --limit to see more.`);
    return related.total === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

function toRelatedOptions({
  type,
  depth,
  minStrength,
  limit,
  inferred,
}: RelatedCommandOptions): RelatedOptions {
  return {
    ...(type === undefined ? {} : { types: [type] }),
    ...(depth === undefined ? {} : { depth }),
    ...(minStrength === undefined ? {} : { minStrength }),
    ...(limit === undefined ? {} : { limit }),
    ...(inferred === undefined ? {} : { inferred }),
  };
}

/** The strength of a relation, and the way to it. */
function formatRelation(start: string, { strength, path }: RelatedMemory): string[] {
  let place = start;
  const way = path.map(({ from, type, to, inferred }) => {
    const isForward = from === place;
    place = isForward ? to : from;
    return inferred ?? (isForward || type === "related_to" ? type : `← ${type}`);
  });
  return [strength.toFixed(2), way.join(", ")];
}

/** Ends the review of a memory: it is still true. */
export async function runConfirm(part: string, options: CommonOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const id = await findMemoryId(memory, part, allowsParts(print));
    if (!(await memory.get(id)).review) throw invalid("this memory does not wait for a review.");
    const receipt = await memory.update(id, { reviewed: true });
    print.result(receipt, () => ["Confirmed."]);
    return EXIT.done;
  });
}
