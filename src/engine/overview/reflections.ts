import { checkCount, checkName } from "../../domain/limits.ts";
import type { Memory } from "../../domain/memory.ts";
import type { Scope } from "../../domain/scope.ts";
import { toIsoTime } from "../../domain/time.ts";
import { forEachInSlices } from "../../domain/time-slicing.ts";
import type { Reflection, Reflections, ReflectOptions } from "../api/reflection-types.ts";
import type { Ports } from "../ports.ts";
import { selectPresent } from "./present-memories.ts";

/** Statements that a reflection quotes. */
const MAX_QUOTED = 5;
const MEMORIES_AT_ONCE = 50;

interface TopicMonth {
  readonly topic: string;
  readonly month: string;
  readonly memories: Memory[];
}

/**
 * Sums up what a user said, by month and topic: the weightiest statements, word for word, with all their sources. A statement
 * may belong to several topics. Nothing is stored: a reflection contains only what is current, so it falls with its sources.
 */
export async function reflect(
  ports: Pick<Ports, "states" | "vocabulary" | "clock">,
  scope: Scope,
  options: ReflectOptions = {},
): Promise<Reflections> {
  const { limit, least, from, to, topic } = parseReflectOptions(options);
  options.signal?.throwIfAborted();
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
  return { items: all.slice(0, limit).map((group) => toReflection(ports, group)), total: all.length };
}

function parseReflectOptions({ limit = 50, minMemories = 2, from, to, topic }: ReflectOptions) {
  return {
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

function toReflection({ vocabulary }: Pick<Ports, "vocabulary">, group: TopicMonth): Reflection {
  const { topic, month } = group;
  const memories = group.memories.toSorted(
    (one, other) =>
      other.importance * Math.log2(1 + other.evidence) - one.importance * Math.log2(1 + one.evidence) ||
      (one.at < other.at ? 1 : -1),
  );
  const quoted = memories.slice(0, MAX_QUOTED).map(({ text }) => text);
  return {
    kind: "reflection",
    topic,
    month,
    text: vocabulary.writeReflection({ topic, month, statements: quoted, total: memories.length }),
    memories: memories.map(({ id }) => id),
    sources: [...new Set(memories.flatMap(({ sources }) => sources.map(({ message }) => message)))],
    ...(memories.some(({ sensitive }) => sensitive) ? { sensitive: true } : {}),
  };
}
