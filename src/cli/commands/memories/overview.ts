import type { Kind, KindGroup } from "../../../domain/memory.ts";
import type { MemoryCluster } from "../../../engine/api/association-types.ts";
import type { ReflectOptions } from "../../../engine/api/reflection-types.ts";
import { EXIT } from "../../exit.ts";
import { dimText, formatCount } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface ClustersCommandOptions extends CommonOptions {
  readonly limit?: number;
  readonly memories?: number;
  readonly kind?: Kind | KindGroup;
}

/** Prints memories grouped by topic. */
export async function runClusters(options: ClustersCommandOptions): Promise<void> {
  const { limit, memories, kind } = options;
  await withMemory(options, "reads", async ({ memory, print }) => {
    const found = await memory.clusters({
      ...(limit === undefined ? {} : { limit }),
      ...(memories === undefined ? {} : { memories }),
      ...(kind === undefined ? {} : { kind }),
    });
    print.result(found, () => found.items.flatMap(formatCluster));
    if (found.items.length === 0) print.note("No memories to group.");
    if (found.left > 0) print.note(`${formatCount(found.left, "memory", "memories")} in no group.`);
    return found.items.length === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

function formatCluster({ name, size, memories }: MemoryCluster): string[] {
  return [
    `${name} ${dimText(`(${formatCount(size, "memory", "memories")})`)}`,
    ...memories.map(({ text }) => `  ${text}`),
  ];
}

interface ReflectCommandOptions extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly topic?: string;
  readonly minMemories?: number;
  readonly limit?: number;
  readonly by?: "memory" | "model";
}

/** Prints what the user said, summed up by month and topic. */
export async function runReflect(options: ReflectCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const found = await memory.reflect(toReflectOptions(options));
    print.result(found, () => found.items.map(({ text }) => text));
    if (options.by === "model" && found.items.every(({ by }) => by === "memory") && found.total > 0)
      print.note("No model gave usable words, so these are those of the memories.");
    if (found.total === 0) print.note("Nothing to sum up.");
    else if (found.items.length < found.total)
      print.note(`${found.items.length} of ${found.total}: raise --limit to see more.`);
    return found.total === 0 ? EXIT.nothingFound : EXIT.done;
  });
}

function toReflectOptions({
  from,
  to,
  topic,
  minMemories,
  limit,
  by,
}: ReflectCommandOptions): ReflectOptions {
  return {
    ...(by === undefined ? {} : { by }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(topic === undefined ? {} : { topic }),
    ...(minMemories === undefined ? {} : { minMemories }),
    ...(limit === undefined ? {} : { limit }),
  };
}
