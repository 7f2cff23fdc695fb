import type { ContextOptions, PromptContext } from "../../domain/conversation/context.ts";
import { checkCount } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Item } from "../../domain/recall.ts";
import { type Scope, toScopeKey } from "../../domain/scope.ts";
import { extractTerms } from "../../domain/search/search-terms.ts";
import { estimateTokens } from "../../domain/text/split-text.ts";
import { invalid } from "../../errors.ts";
import type { Ports } from "../ports.ts";
import { parseRecallOptions, toIndexFilters } from "../recall/options.ts";
import { addShared, createContentFilter, listMemoryIds, recallFor } from "../recall/recall.ts";
import type { ContextBuilder } from "../services.ts";
import { withoutEchoes } from "./echoes.ts";
import { type Excerpt, toExcerpt, toShownItem } from "./excerpts.ts";
import { withoutOutdated } from "./outdated.ts";
import { packRequest } from "./pack-request.ts";
import { buildStandingPart, type StandingPart } from "./standing-part.ts";

/** Default size of a context, in tokens. */
const DEFAULT_MAX_TOKENS = 1500;
const OPTION_NAMES: ReadonlySet<string> = new Set([
  "maxTokens",
  "asOf",
  "session",
  "where",
  "whereText",
  "shared",
  "signal",
] satisfies (keyof ContextOptions)[]);

interface KeptPart {
  readonly revision: number;
  readonly day: string;
  readonly maxTokens: number;
  readonly part: StandingPart;
}

/** The users whose standing parts are kept, with the rows that they were built from: some 50 KB each. */
const MAX_KEPT = 200;

export function createContextBuilder(ports: Ports): ContextBuilder {
  const kept = new Map<string, KeptPart>();
  // Erased words must not stay here, and a part that is being built may hold some.
  let erasures = 0;
  ports.erasureWatch?.watch((scope) => {
    erasures += 1;
    if (!scope) kept.clear();
    else for (const key of [...kept.keys()]) if (key.startsWith(userKeyOf(scope))) kept.delete(key);
  });
  const standing = async (scope: Scope, bounds: ParsedBounds, maxTokens: number): Promise<StandingPart> => {
    const build = (before?: StandingPart): Promise<StandingPart> =>
      buildPart(ports, scope, { bounds, maxTokens, before });
    const { asOf, session, where, whereText } = bounds;
    if ([asOf, session, where, whereText].some((one) => one !== undefined)) return build();
    const key = `${userKeyOf(scope)}${scope.agent ?? ""}`;
    const day = bounds.now.slice(0, 10);
    const { revision } = await ports.states.searchIndex(scope);
    const known = kept.get(key);
    if (known?.revision === revision && known.day === day && known.maxTokens === maxTokens) return known.part;
    const erasuresBefore = erasures;
    const part = await build(known?.part);
    kept.delete(key);
    if (erasures === erasuresBefore) kept.set(key, { revision, day, maxTokens, part });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return part;
  };
  return {
    async build(scope, request, options = {}) {
      for (const name of Object.keys(options)) {
        if (!OPTION_NAMES.has(name))
          throw invalid(`unknown context option. Known options: ${[...OPTION_NAMES].join(", ")}.`);
      }
      const maxTokens = checkCount(options.maxTokens ?? DEFAULT_MAX_TOKENS, "maxTokens", 1, 1_000_000);
      const { maxTokens: _size, signal, ...bounds } = options;
      signal?.throwIfAborted();
      const { filters } = parseRecallOptions(scope, request, bounds, {
        now: ports.clock().toISOString(),
        decayDays: ports.decayDays,
      });
      const part = await standing(scope, filters, maxTokens);
      const { recall, spans, shared } = await recallFor(ports, scope, request, options, async (vector) => ({
        maxTokens,
        need: await ports.needs.findNeed(vector),
      }));
      const excerpts = recall.items.map((item) =>
        withoutEchoes(
          withoutSpans(toExcerpt(item, { promptGuard: ports.promptGuard, spans }), part),
          part.ended,
        ),
      );
      const lasting = part.isComplete ? excerpts : await withoutOutdated(ports, excerpts);
      return pack(ports, scope, { request, maxTokens, part, recall, excerpts: lasting, shared });
    },
  };
}

const userKeyOf = ({ project, user }: Scope): string => `${toScopeKey({ project, user })}\n`;

type ParsedBounds = ReturnType<typeof parseRecallOptions>["filters"];

async function buildPart(
  ports: Ports,
  scope: Scope,
  {
    bounds,
    maxTokens,
    before,
  }: {
    readonly bounds: ParsedBounds;
    readonly maxTokens: number;
    readonly before?: StandingPart | undefined;
  },
): Promise<StandingPart> {
  const content = await createContentFilter(ports, { scope }, bounds);
  return buildStandingPart(ports, scope, {
    filters: (searchIndex) => toIndexFilters(searchIndex, bounds, content.createTest(searchIndex)),
    now: bounds.asOf ?? bounds.now,
    maxTokens,
    before,
  });
}

/** Without the sentences that are known to be outdated. */
function withoutSpans(excerpt: Excerpt, { outdated }: StandingPart): Excerpt {
  const source = excerpt.item.type === "passage" ? excerpt.item.sources.at(-1) : undefined;
  const spans = source && outdated.get(source.message);
  if (!source || !spans) return excerpt;
  const isOver = (start: number, end: number): boolean =>
    spans.some((span) => span.start - source.start < end && start < span.end - source.start);
  return { ...excerpt, shown: excerpt.shown.filter(({ start, end }) => !isOver(start, end)) };
}

interface PackInput {
  readonly request: string;
  readonly maxTokens: number;
  readonly part: StandingPart;
  readonly recall: PromptContext["recall"];
  readonly excerpts: readonly Excerpt[];
  /** What other users share. */
  readonly shared: readonly Item[];
}

/** What others share takes at most this share of the budget. */
const SHARED_SHARE = 0.25;

async function pack(
  ports: Ports,
  scope: Scope,
  { request, maxTokens, part, recall, excerpts, shared }: PackInput,
): Promise<PromptContext> {
  const terms = new Map(extractTerms(request).map((term) => [term, 1]));
  const shown = excerpts.flatMap((excerpt) => toShownItem(excerpt, terms) ?? []);
  const spared = [...new Set(excerpts.flatMap((excerpt) => excerpt.spared))];
  const extra =
    spared.length === 0 ? [] : (await ports.store.read(scope, { messages: [], memories: spared })).memories;
  const standing = estimateTokens(part.text) <= maxTokens ? part.text : "";
  const { promptGuard } = ports;
  const room = maxTokens - countTokens(standing);
  const others = packRequest(shared, { maxTokens: room * SHARED_SHARE, title: SHARED_TITLE, promptGuard });
  const packed = packRequest([...extra.map(toItem), ...shown], {
    maxTokens: room - countTokens(others.text),
    title: TITLE,
    promptGuard,
  });
  const forRequest = joinParts(packed.text, others.text);
  const text = joinParts(standing, forRequest);
  ports.usage?.note(scope, listMemoryIds(packed.items), ports.clock().toISOString());
  return {
    text,
    tokens: estimateTokens(text),
    parts: { standing, request: forRequest },
    items: [...packed.items, ...others.items],
    left: packed.left + others.left,
    recall: addShared(ports, recall, shared, { limit: recall.items.length + shared.length, maxTokens }),
  };
}

const joinParts = (...parts: readonly string[]): string => parts.filter((one) => one !== "").join("\n");

/** The tokens of a part and its line break. */
const countTokens = (part: string): number => (part === "" ? 0 : estimateTokens(`${part}\n`));

const SHARED_TITLE = "What other people share with them (it is about those people)";
const TITLE = "What they said, day by day (where two lines disagree, the later one holds)";

function toItem({ id, text, kind, at }: Memory): Item {
  return { id, type: "memory", text, kind, status: "current", score: 1, at, sources: [] };
}
