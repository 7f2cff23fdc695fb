import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createMemory } from "../../src/index.ts";
import { openReadings, type SavedReadings } from "./readings.ts";

const TURNS = [
  "I use Shram and Magnet as productivity tools.",
  "My sister Ada lives in Ghent with her dog Rolo.",
  "I don't use Magnet anymore.",
  "Forget that my sister lives in Ghent.",
  "She moved to Bruges.",
];

async function tell({ extractor }: SavedReadings, turns: readonly string[]): Promise<readonly string[]> {
  await using memory = await createMemory({ path: ":memory:", extractor, clock: () => new Date(0) });
  const mine = memory.scope({ user: "ada" });
  for (const turn of turns) await mine.remember(turn);
  const { items } = await mine.list({ status: "all" });
  return items.map(({ kind, text, status }) => `${kind} ${status} ${text}`);
}

it("saved readings give the memories of a first reading, without reading again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-readings-"));
  try {
    const path = join(folder, "readings.jsonl");
    const first = openReadings(path);
    const memories = await tell(first, TURNS);
    first.save();
    const second = openReadings(path);
    expect(await tell(second, TURNS)).toEqual(memories);
    expect(second.counts().read).toBeLessThan(TURNS.length / 2);
    expect(memories.join()).toContain("Shram");

    const other = openReadings(path);
    expect(await tell(other, ["I use Shram and Notion as productivity tools."])).not.toEqual(memories);
    expect(other.counts()).toEqual({ saved: 0, read: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
