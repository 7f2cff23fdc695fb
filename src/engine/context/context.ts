import type { ContextOptions, RequestContext } from "../../domain/context.ts";
import { checkCount } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import type { Scope } from "../../domain/scope.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { invalid } from "../../errors.ts";
import type { Ports } from "../ports.ts";
import { parseRecallOptions, toIndexFilters } from "../recall/options.ts";
import { recallFor } from "../recall/recall.ts";
import { toExcerpt } from "./excerpts.ts";
import { packRequest } from "./pack-request.ts";
import { selectProfileMemories, writeStandingPart } from "./standing-part.ts";

/** Default size of a context, in tokens. */
const DEFAULT_MAX_TOKENS = 1500;
const OPTION_NAMES: ReadonlySet<string> = new Set([
  "maxTokens",
  "asOf",
  "session",
  "where",
  "signal",
] satisfies (keyof ContextOptions)[]);

/**
 * What a model is told before it answers a request: wishes for answers, a short profile, and everything that bears on the
 * request, within the budget. Leaves a recall with its receipt. Throws `invalid_input` for a wrong request or option.
 */
export async function buildContext(
  ports: Ports,
  scope: Scope,
  request: string,
  options: ContextOptions = {},
): Promise<RequestContext> {
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.has(name))
      throw invalid(`unknown context option. Known options: ${[...OPTION_NAMES].join(", ")}.`);
  }
  const maxTokens = checkCount(options.maxTokens ?? DEFAULT_MAX_TOKENS, "maxTokens", 1, 1_000_000);
  const { maxTokens: _size, ...bounds } = options;
  const now = ports.clock().toISOString();
  const standing = await buildStandingPart(ports, scope, { bounds, now, maxTokens });
  const standingTokens = estimateTokens(`${standing.text}\n`);
  const { recall, spans } = await recallFor(ports, scope, request, bounds, async () => ({ maxTokens }));
  const terms = new Map(extractTerms(request).map((term) => [term, 1]));
  const spared = new Set<string>();
  const shown = recall.items.flatMap((item) => {
    const excerpt = toExcerpt(item, { promptGuard: ports.promptGuard, spans, terms });
    for (const id of excerpt?.spared ?? []) spared.add(id);
    return excerpt ? [excerpt.item] : [];
  });
  const extra = await readMemories(ports, scope, [...spared]);
  const packed = packRequest([...extra.map(toItem), ...shown], {
    maxTokens: maxTokens - standingTokens,
    title: "What they said (each under its day; where two lines disagree, the later one holds)",
    promptGuard: ports.promptGuard,
  });
  const text = [standing.text, packed.text].filter((part) => part !== "").join("\n");
  return {
    text,
    tokens: estimateTokens(text),
    parts: { standing: standing.text, request: packed.text },
    items: packed.items,
    left: packed.left,
    recall,
  };
}

function toItem({ id, text, kind, at, sources: _sources }: Memory): Item {
  return { id, type: "memory", text, kind, status: "current", score: 1, at, sources: [] };
}

async function readMemories(
  ports: Ports,
  scope: Scope,
  memories: readonly string[],
): Promise<readonly Memory[]> {
  if (memories.length === 0) return [];
  return (await ports.store.read(scope, { messages: [], memories })).memories;
}

async function buildStandingPart(
  ports: Ports,
  scope: Scope,
  { bounds, now, maxTokens }: { bounds: Omit<ContextOptions, "maxTokens">; now: string; maxTokens: number },
): Promise<{ readonly text: string }> {
  const { signal: _signal, ...rest } = bounds;
  const { filters } = parseRecallOptions(scope, "profile", rest, { now });
  const searchIndex = await ports.states.searchIndex(scope);
  const ids = selectProfileMemories(searchIndex, toIndexFilters(searchIndex, filters, undefined));
  const memories = await readMemories(ports, scope, ids);
  const order = new Map(ids.map((id, i) => [id, i]));
  const ordered = memories.toSorted((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0));
  return writeStandingPart(ports, ordered, { now: filters.asOf ?? now, maxTokens });
}
