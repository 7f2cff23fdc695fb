import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMemory, type Keepsake, type ScopedMemory } from "../../../index.ts";

/** "Forget Alma" takes what Alma is, under all its names, and nothing that is another thing with another name. */

let keepsake: Keepsake;
let ana: ScopedMemory;
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

async function forgetAfter(told: readonly string[], phrase: string): Promise<string> {
  for (const text of told) await ana.remember(text);
  const receipt = await ana.forget(phrase);
  expect(receipt.complete).toBe(true);
  const lines: string[] = [];
  for await (const line of ana.export()) lines.push(JSON.stringify(line));
  return lines.join("\n");
}

const BELA = "My sister's boat is called Bela.";

describe("forgetting Alma leaves another thing that is called something", () => {
  it.each([
    ["a thing of hers with a name of its own", ["My sister is called Alma.", BELA], BELA],
    [
      "what is told of that thing",
      ["I have a sister, Alma.", BELA, "My sister's boat is red."],
      "My sister's boat is red.",
    ],
    ["one that she named", ["Alma calls him Rex.", "Rex has a red collar."], "Rex has a red collar."],
    [
      "one that she named, told with a pronoun",
      ["My sister Alma has a dog and she calls him Rex.", "Rex has a red collar."],
      "Rex has a red collar.",
    ],
    ["one that she met", ["Alma met Boris, also known as Bo.", "Bo sings."], "Bo sings."],
    [
      "a place that she works at",
      ["Alma works at the port, also known as Terminal Nord.", "The Terminal Nord opens at six."],
      "The Terminal Nord opens at six.",
    ],
    ["a word that she uses", ["Alma uses the term Kanban for it.", "Kanban works for us."], "Kanban works"],
    ["another one's thing of the same kind", ["My boat is called Alma.", BELA], BELA],
  ])("%s", async (_name, told, kept) => {
    const left = await forgetAfter(told, "Alma");
    expect(left).not.toContain("Alma");
    expect(left).toContain(kept);
  });
});

describe("forgetting Alma takes the same thing under its other name", () => {
  it.each([
    ["in apposition", ["Our project Alma, code-named Cira, is late.", "Cira ships in May."]],
    ["also known as", ["My boat Alma is also known as Cira.", "Cira needs paint."]],
    ["goes by", ["Alma goes by Cira.", "Cira sings."]],
    ["with the same possessor and kind", ["My boat is called Alma.", "My boat is called Cira now."]],
  ])("%s", async (_name, told) => {
    expect(await forgetAfter(told, "Alma")).not.toMatch(/Alma|Cira/);
  });
});

describe("forgetting what is “my …” leaves what is somebody else's", () => {
  it.each([
    ["boat", ["My boat is called Alma.", BELA], "my boat", /Alma/, BELA],
    [
      "salary",
      ["My salary is 4000 euros.", "My sister's salary is 5100 euros."],
      "my salary",
      /4000/,
      "5100",
    ],
    [
      "address",
      ["My address is 5 Oak Road.", "My mum's address is 4 Elm Road."],
      "my address",
      /Oak/,
      "4 Elm",
    ],
  ])("%s", async (_name, told, phrase, gone, kept) => {
    const left = await forgetAfter(told, phrase);
    expect(left).not.toMatch(gone);
    expect(left).toContain(kept);
  });

  it("boat, in a sentence that speaks of both", async () => {
    const told = ["My boat is bigger than my sister's boat."];
    expect(await forgetAfter(told, "my boat")).not.toMatch(/bigger/);
  });
});

it("forgetting “my mother's PIN” means what was told of Mum's", async () => {
  await ana.remember("Mum's bank PIN is 5190. I do her shopping.");
  const { unsure } = await ana.forget("my mother's PIN");
  expect(unsure).toBeUndefined();
  let stored = "";
  for await (const line of ana.export()) stored += JSON.stringify(line);
  expect([stored.includes("5190"), stored.includes("shopping")]).toEqual([false, true]);
});

it("forgetting “my sister's boat” leaves the user's own boat", async () => {
  const left = await forgetAfter([BELA, "My boat is called Alma."], "my sister's boat");
  expect(left).not.toContain("Bela");
  expect(left).toContain("My boat is called Alma.");
});

it("forgetting a name that nothing stored has erases nothing, however alike the rest is", async () => {
  await ana.remember("I use Kvasny every day.");
  await ana.remember("I use Zubrin every day.");
  await ana.remember("I work at Wexford and I play the oboe.");
  await ana.forget("Zubrin");
  const { erased } = await ana.forget("Zubrin");
  expect(erased).toMatchObject({ memories: 0, messages: 0 });
});
