import { checkCount, checkName } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import { invalid } from "../../errors.ts";
import type { Reflection, Reflections, ReflectOptions } from "../api/reflection-types.ts";
import type { Ports } from "../ports.ts";
import { selectPresent } from "./present-memories.ts";
import { chooseWords, type GroupedReflection, wordReflections } from "./reflect-with-model.ts";

/** Statements that a reflection quotes. */
const MAX_QUOTED = 5;
const MEMORIES_AT_ONCE = 50;

type ReflectPorts = Pick<
  Ports,
  "states" | "vocabulary" | "clock" | "model" | "promptGuard" | "secret" | "patience"
>;

interface TopicMonth {
  readonly topic: string;
  readonly month: string;
  readonly memories: Memory[];
}

/**
 * Sums up what a user said, by month and topic: the weightiest statements, word for word, with all their sources. A statement
 * may belong to several topics. With `by: "model"`, a model puts them in its words. Nothing is stored: a reflection contains only
 * what is current, so it falls with its sources.
 */
export async function reflect(
  ports: ReflectPorts,
  scope: Scope,
  options: ReflectOptions = {},
): Promise<Reflections> {
  const checked = parseReflectOptions(options);
  const { drafts, total } = await collectDrafts(ports, scope, checked, options.signal);
  if (checked.by !== "model") return { items: drafts.map(({ reflection }) => reflection), total };
  const worded = await wordReflections(ports, scope, drafts, options.signal);
  // What was changed or erased while the model wrote is not in it.
  const present = await collectDrafts(ports, scope, checked, options.signal);
  return { items: present.drafts.map((draft) => chooseWords(draft, worded)), total: present.total };
}

async function collectDrafts(
  ports: ReflectPorts,
  scope: Scope,
  { limit, least, from, to, topic }: ReturnType<typeof parseReflectOptions>,
  signal: AbortSignal | undefined,
): Promise<{ readonly drafts: readonly GroupedReflection[]; readonly total: number }> {
  signal?.throwIfAborted();
  const state = await ports.states.of(scope);
  const groups = new Map<string, TopicMonth>();
  const memories = selectPresent(state, scope, ports.clock().toISOString(), undefined).filter(
    ({ at, kind }) => kind !== "reflection" && (!from || at >= from) && (!to || at < to),
  );
  await forEachInSlices(
    memories,
    (memory) => {
      for (const name of ports.vocabulary.listTopics(memory)) {
        if (topic !== undefined && name !== topic) continue;
        const month = memory.at.slice(0, 7);
        const key = `${month} ${name}`;
        const group = groups.get(key) ?? { topic: name, month, memories: [] };
        group.memories.push(memory);
        groups.set(key, group);
      }
    },
    MEMORIES_AT_ONCE,
  );
  const all = [...groups.values()].filter((group) => group.memories.length >= least).sort(compareGroups);
  return { drafts: all.slice(0, limit).map((group) => toDraft(ports, group)), total: all.length };
}

function parseReflectOptions({ limit = 50, minMemories = 2, from, to, topic, by }: ReflectOptions) {
  if (by !== undefined && by !== "memory" && by !== "model") throw invalid('by is "memory" or "model".');
  return {
    by,
    limit: checkCount(limit, "limit", 1, 1000),
    least: checkCount(minMemories, "minMemories", 1, 1000),
    from: from === undefined ? undefined : toIsoTime(from, "from"),
    to: to === undefined ? undefined : toIsoTime(to, "to"),
    topic: topic === undefined ? undefined : checkName(topic, "topic"),
  };
}

/** The newest month first; in a month, what most was said about. */
function compareGroups(one: TopicMonth, other: TopicMonth): number {
  if (one.month !== other.month) return one.month < other.month ? 1 : -1;
  return other.memories.length - one.memories.length || (one.topic < other.topic ? -1 : 1);
}

function toDraft({ vocabulary }: Pick<Ports, "vocabulary">, group: TopicMonth): GroupedReflection {
  const { topic, month } = group;
  const memories = group.memories.toSorted(
    (one, other) =>
      other.importance * Math.log2(1 + other.evidence) - one.importance * Math.log2(1 + one.evidence) ||
      (one.at < other.at ? 1 : -1),
  );
  const quoted = memories.slice(0, MAX_QUOTED).map(({ text }) => text);
  const reflection: Reflection = {
    kind: "reflection",
    by: "memory",
    topic,
    month,
    text: vocabulary.writeReflection({ topic, month, statements: quoted, total: memories.length }),
    memories: memories.map(({ id }) => id),
    sources: [...new Set(memories.flatMap(({ sources }) => sources.map(({ message }) => message)))],
    ...(memories.some(({ sensitive }) => sensitive) ? { sensitive: true } : {}),
  };
  return { reflection, memories };
}
