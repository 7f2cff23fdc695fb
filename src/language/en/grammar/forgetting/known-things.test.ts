import { describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../../../adapters/memory/index.ts";
import { createMemory } from "../../../../memory.ts";

async function left(lines: readonly string[]): Promise<string> {
  const keepsake = await createMemory({ record: createInMemoryStore() });
  const memory = keepsake.scope({ user: "home" });
  for (const line of lines) await memory.remember(line);
  const stored: string[] = [];
  for await (const line of memory.export()) stored.push(JSON.stringify(line));
  return stored.join(" ");
}

describe("an order to delete a thing", () => {
  it.each([
    ["My shed lock number is the year Lima flooded.", "delete the shed lock number please", "Lima"],
    ["My wifi password hint is my first goat, the grey one.", "delete the password hint please", "goat"],
    ["The alarm code word is Walnut, by the way.", "erase the code word", "Walnut"],
  ])("%s goes with “%s”, value and all", async (fact, asks, word) => {
    expect(await left([fact])).toContain(word);
    expect(await left([fact, asks])).not.toContain(word);
  });

  it.each([
    ["The kitchen counter is oak, oiled in March.", "wipe the kitchen counter", "oak"],
    ["The print queue jams every time Bob sends plans.", "purge the print queue again please", "jams"],
  ])("%s stays with “%s”, which is said of the thing in the world", async (fact, asks, word) => {
    expect(await left([fact, asks])).toContain(word);
  });

  it("is none where nothing is known of the thing", async () => {
    expect(await left(["I like tea.", "delete the row number please"])).toContain("row number");
  });
});

describe("an order with a verb of throwing away", () => {
  it("is asked back where a thing of that name was told", async () => {
    const lines = ["I got an eviction letter in May.", "please scrap the eviction stuff"];
    expect(await left(lines)).toContain("eviction letter");
    expect(await left([...lines, "yes, forget it"])).not.toContain("eviction letter");
  });
});

describe("what is off the record", () => {
  it.each([
    "between us and not for the file: I failed the bar exam",
    "this stays off the record, I failed the bar exam",
    "this isn't for the record but I failed the bar exam",
    "keep this between us: I failed the bar exam",
    "for your ears only: I failed the bar exam",
    "strictly between ourselves, I failed the bar exam",
    "please don't note any of this: I failed the bar exam",
    "I failed the bar exam, but don't write that down",
  ])("%s: is not kept", async (line) => {
    expect(await left([line])).not.toContain("bar exam");
  });

  it.each(["between us we own two cars", "the lake is between us and the town"])(
    "%s: is kept",
    async (line) => {
      expect(await left([line])).toContain(line);
    },
  );
});
