import { existsSync } from "node:fs";
import { join } from "node:path";
import { asking } from "./asking.ts";
import { beamChats, idsIn } from "./beam.ts";
import { bm25 } from "./bm25.ts";
import { interval } from "./bootstrap.ts";
import { contexts } from "./contexts.ts";
import { haystacks } from "./longmemeval.ts";
import { ALL, named, type Table, table } from "./metrics.ts";
import type { Run, RunOptions } from "./report.ts";
import { toRemember, type Unit, withIds } from "./retrieval.ts";

/** Something said and later said anew, with a question after it. */
interface Change {
  readonly set: "longmemeval" | "beam";
  readonly name: string;
  readonly messages: readonly Unit[];
  readonly question: string;
  /** When it is asked; right after the last message, where it is not given. */
  readonly at?: string;
  readonly old: ReadonlySet<string>;
  readonly new: ReadonlySet<string>;
}

const COLUMNS = ["newer_first", "newer_first@10"];
/** The most that the library gives. */
const ALL_ITEMS = 1000;

/**
 * Does the newer statement come before the older one? The knowledge-update questions of LongMemEval, where sessions
 * are ranked by their best turn and the newest evidence session has to stand before the others, and those of BEAM
 * (100K), where messages are ranked. With neither found, or both in one item, the newer does not come first. The limit
 * holds for each of the two.
 */
export async function updates({ data, limit, embedder, progress }: RunOptions): Promise<Run> {
  const changes = changesIn(data, limit);
  const ours = table();
  const base = table();
  const context = contexts();
  const asked: object[] = [];
  for (const change of changes) {
    const { set, name, messages, question } = change;
    await using memory = await asking(name, toRemember(messages), embedder);
    const found = withIds(await memory.ask(question, change.at, ALL_ITEMS), messages);
    const order = bm25(messages.map(({ content }) => content)).rank(question);
    const ranked = order.map((i) => [messages[i]?.id ?? ""]);
    const metrics = {
      newer_first: isNewerFirst(found.far, change),
      "newer_first@10": isNewerFirst(found.first, change),
    };
    ours.add(set, metrics);
    base.add(set, {
      newer_first: isNewerFirst(ranked, change),
      "newer_first@10": isNewerFirst(ranked.slice(0, 10), change),
    });
    context.add(
      found,
      order.map((i) => messages[i]?.content ?? ""),
    );
    asked.push({ set, name, question, ...metrics });
    progress(asked.length, changes.length);
  }
  return {
    report: {
      set: "updates",
      metrics: { ...named("", ours, COLUMNS), ...context.ours() },
      baseline: { ...named("", base, COLUMNS), ...context.base() },
      intervals: ofGroups(ours, (group) => interval(ours.values("newer_first", group))),
      counts: ofGroups(ours, (group) => ours.count(group)),
      n: asked.length,
      per_question: asked,
    },
    notes: ["newer_first looks at the whole ranking, newer_first@10 at the first ten items alone."],
  };
}

/** A value of `newer_first` over all, then of each group. */
function ofGroups<Value>(kept: Table, value: (group: string) => Value): Record<string, Value> {
  const groups = kept.groups().reverse();
  return Object.fromEntries(
    groups.map((group) => [group === ALL ? "newer_first" : `newer_first (${group})`, value(group)]),
  );
}

/** 1 where a new id comes at an earlier place than every old one; an id that did not come stands behind all others. */
export function isNewerFirst(
  places: readonly (readonly string[])[],
  { old, new: newer }: Pick<Change, "old" | "new">,
): number {
  const first = (wanted: ReadonlySet<string>): number => {
    const place = places.findIndex((ids) => ids.some((id) => wanted.has(id)));
    return place < 0 ? places.length : place;
  };
  return first(newer) < first(old) ? 1 : 0;
}

/** The changes of both sets; one whose folder is not there has none. */
function changesIn(data: string, limit: number | undefined): Change[] {
  const has = (folder: string): boolean => existsSync(join(data, folder));
  const both = [
    ...(has("longmemeval_s") || !has("beam") ? [longmemevalChanges(data)] : []),
    ...(has("beam") ? [beamChanges(data)] : []),
  ];
  return both.flatMap((changes) => changes.slice(0, limit));
}

function longmemevalChanges(data: string): Change[] {
  return haystacks(data).flatMap(({ type, question, at, messages, evidence }, i) =>
    type === "knowledge-update" && evidence.length > 1
      ? [
          {
            set: "longmemeval" as const,
            name: `longmemeval-${i}`,
            messages,
            question,
            at,
            old: new Set(evidence.slice(0, -1)),
            new: new Set(evidence.slice(-1)),
          },
        ]
      : [],
  );
}

function beamChanges(data: string): Change[] {
  return beamChats(data).flatMap(({ name, messages, probes }) =>
    (probes.knowledge_update ?? []).flatMap(({ question, source_chat_ids }) => {
      const { original_info, updated_info } = (source_chat_ids ?? {}) as { [info: string]: unknown };
      const old = new Set(idsIn(original_info));
      const newer = new Set(idsIn(updated_info).filter((id) => !old.has(id)));
      return old.size > 0 && newer.size > 0
        ? [{ set: "beam" as const, name, messages, question, old, new: newer }]
        : [];
    }),
  );
}
