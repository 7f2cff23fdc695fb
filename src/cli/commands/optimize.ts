import type { JobState, Optimized } from "../../engine/surface.ts";
import { EXIT } from "../exit.ts";
import { formatCount, formatTable, toShortLine } from "../print.ts";
import { type CommonOptions, withMemory } from "../run.ts";

interface OptimizeCommandOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly currentTurn?: number;
}

export async function runOptimize(options: OptimizeCommandOptions): Promise<void> {
  await withMemory(options, "reads", async ({ memory, print }) => {
    const { dryRun = false, currentTurn } = options;
    const done = await memory.optimize({ dryRun, ...(currentTurn === undefined ? {} : { currentTurn }) });
    print.result(done, () => [...done.jobs.flatMap((job) => formatJobResult(job, dryRun))]);
    const revisions = done.jobs.flatMap((job) => job.revisions ?? []);
    if (revisions.length > 0) {
      print.note(`To take it back, the newest first: keepsake undo ${revisions.toReversed().join(", ")}`);
    }
    if (dryRun) print.note("Nothing was changed.");
    return EXIT.done;
  });
}

function formatJobResult({ name, memories }: Optimized["jobs"][number], dryRun: boolean): string[] {
  const [one] = memories;
  if (!one) return [`${name}: nothing to do`];
  const verb = one.action === "faded" ? "has faded" : `${dryRun ? "would be" : "was"} ${one.action}`;
  const verbs = one.action === "faded" ? "have faded" : `${dryRun ? "would be" : "were"} ${one.action}`;
  return [
    `${name}: ${formatCount(memories.length, `memory ${verb}`, `memories ${verbs}`)}`,
    ...formatTable(memories.map(({ id, text, why }) => [`  ${id}`, toShortLine(text, 60), why])),
  ];
}

export async function runJobs(options: CommonOptions): Promise<void> {
  await withMemory(options, "checks", async ({ keepsake, print }) => {
    const all = await keepsake.jobs();
    print.result({ jobs: all }, () => [
      ...formatTable([
        ["job", "last run", "did", "left", "found", "set aside", ""],
        ...all.map(formatJobRow),
      ]),
      "",
      ...formatTable(all.map(({ name, about }) => [name, about])),
    ]);
    return EXIT.done;
  });
}

function formatJobRow({ name, lastRun, done, left, found, setAside, problem }: JobState): string[] {
  const minute = lastRun?.slice(0, 16).replace("T", " ") ?? "never";
  return [name, minute, `${done}`, `${left ?? ""}`, `${found ?? ""}`, `${setAside ?? ""}`, problem ?? ""];
}
