import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../adapters/memory/index.ts";
import { createMemory } from "../../../memory.ts";

/** What is said, asked and forgotten, in order; and what an answer must and must not say. */
interface Step {
  readonly say?: string;
  readonly role?: "assistant";
  readonly forget?: string;
  readonly ask?: string;
  readonly at?: string;
  readonly as_of?: string;
  readonly user?: string;
  readonly session?: string;
  /** Of each group one must occur, as whole words in any case. */
  readonly must?: readonly (readonly string[])[];
  readonly must_not?: readonly string[];
  readonly abstain?: boolean;
}

interface Story {
  readonly id: string;
  readonly area: string;
  readonly steps: readonly Step[];
}

const STORIES = JSON.parse(
  readFileSync(new URL("./__fixtures__/stories.json", import.meta.url), "utf8"),
) as readonly Story[];
const AREAS = [...new Set(STORIES.map(({ area }) => area))];

/** Everything that is wrong with the answers of a story. */
async function faultsOf(story: Story): Promise<string[]> {
  let now = new Date("2025-01-01T00:00:00Z");
  const memory = await createMemory({ record: createInMemoryStore(), clock: () => now });
  const faults: string[] = [];
  for (const step of story.steps) {
    if (step.at) now = new Date(step.at);
    const scope = memory.scope({ user: step.user ?? "own" });
    const session = step.session ?? "one";
    if (step.say !== undefined)
      await scope.remember({ role: step.role ?? "user", content: step.say }, { session });
    if (step.forget !== undefined) await scope.forget(step.forget);
    if (step.ask === undefined) continue;
    const { text, abstained } = await scope.answer(step.ask, step.as_of ? { asOf: step.as_of } : {});
    faults.push(
      ...faultsIn(step, text, abstained).map((fault) => `${story.id}: "${step.ask}" ${fault}: ${text}`),
    );
  }
  await memory.close();
  return faults;
}

function faultsIn(step: Step, text: string, abstained: boolean): string[] {
  const lacks = (step.must ?? []).filter((group) => !group.some((words) => says(text, words)));
  const tells = (step.must_not ?? []).filter((words) => says(text, words));
  return [
    ...lacks.map((group) => `lacks ${group.join(" or ")}`),
    ...tells.map((words) => `must not say ${words}`),
    ...(step.abstain && !abstained ? ["should not be answered"] : []),
  ];
}

function says(text: string, words: string): boolean {
  const pattern = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "iu").test(text);
}

describe("conversations over several days are answered right", () => {
  it.each(AREAS)("%s", async (area) => {
    const faults: string[] = [];
    for (const story of STORIES) if (story.area === area) faults.push(...(await faultsOf(story)));
    expect(faults).toEqual([]);
  });
});
