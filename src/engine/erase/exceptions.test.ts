import { afterAll, beforeAll, expect, it } from "vitest";
import { createMemory } from "../../memory.ts";
import type { Keepsake } from "../api/keepsake.ts";

let memory: Keepsake;
beforeAll(async () => {
  memory = await createMemory({ path: ":memory:", clock: () => new Date("2026-11-01T12:00:00Z") });
});
afterAll(() => memory.close());

/** What is stored of each user after a request, as one text. */
async function ask(user: string, said: readonly string[], request: string) {
  const scope = memory.scope({ user });
  for (const text of said) await scope.remember(text);
  const receipt = await scope.remember(request);
  let stored = "";
  for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
  return { scope, receipt, stored };
}

const KNEE = [
  "My knee surgery is on 4 May at St Vincent hospital, and the physio's number for my knee is 555 0142.",
  "My knee still hurts on the stairs.",
];
const IKER = [
  "My brother Iker's number is 555 0188. Iker lives in Bilbao and sells bread.",
  "Iker is allergic to nuts.",
];
const BANK = ["My bank is Monzo, the sort code is 04-00-04 and the account number is 12345678."];

it.each([
  [
    KNEE,
    "Forget everything about my knee, but keep the physio's number.",
    ["555 0142"],
    ["surgery", "stairs"],
  ],
  [KNEE, "Forget everything about my knee except the hospital", ["St Vincent"], ["555 0142", "stairs"]],
  [IKER, "Forget everything about Iker but his number", ["555 0188"], ["Bilbao", "nuts", "bread"]],
  [IKER, "Forget Iker, except where he lives", ["Bilbao"], ["555 0188", "nuts", "bread"]],
  [BANK, "Delete my account number, don't delete the sort code.", ["04-00-04", "Monzo"], ["12345678"]],
  [["I use Magnet and Shram."], "Forget Magnet, not Shram.", ["Shram"], ["Magnet"]],
])("after %j and “%s”, %j stays and %j goes", async (said, request, kept, gone) => {
  const { stored, receipt } = await ask(`user ${request.length}`, said, request);
  expect(receipt.erasures).toMatchObject([{ complete: true }]);
  for (const words of kept) expect(stored).toContain(words);
  for (const words of gone) expect(stored).not.toContain(words);
});

it("asks before it erases anything if the exception names nothing that is stored", async () => {
  const { stored, receipt } = await ask(
    "blood",
    KNEE,
    "Forget everything about my knee, but keep my blood type",
  );
  expect(receipt.erasures).toBeUndefined();
  expect(receipt.waiting?.[0]?.quotes).toHaveLength(2);
  expect(stored).toContain("surgery");
});

it("does not offer what is excepted by a word and “one”, and erases none of it after a yes", async () => {
  const said = ["I owe Tom 40 euros.", "I owe my sister 200 euros."];
  const { scope, receipt } = await ask("debts", said, "Forget what I owe, but keep my sister's one.");
  expect(receipt.erasures).toMatchObject([{ complete: true }]);
  expect(JSON.stringify(receipt.waiting ?? [])).not.toContain("200");
  await scope.remember("yes, forget them");
  let stored = "";
  for await (const line of scope.export()) stored += JSON.stringify(line);
  expect(stored).toContain("200 euros");
  expect(stored).not.toContain("Tom");
});

it("asks before it erases if an exception is told by a word that is not stored", async () => {
  const said = ["My flat is at Kouter 7 in Ghent."];
  const { receipt, stored } = await ask("flat", said, "Forget my address, but the current one may stay.");
  expect(receipt.erasures).toBeUndefined();
  expect(stored).toContain("Kouter 7");
});

it("keeps an exception from everything, and does not list it as what would go", async () => {
  const { scope, receipt } = await ask("all", IKER, "Forget everything about me except Iker's number.");
  expect(receipt.waiting?.[0]?.memories.length).toBeGreaterThan(2);
  expect(JSON.stringify(receipt.waiting)).not.toContain("0188");
  await scope.remember("yes, forget them");
  let stored = "";
  for await (const line of scope.export()) stored += JSON.stringify(line);
  expect(stored).toContain("555 0188");
  expect(stored).not.toContain("nuts");
});

it("keeps an exception in what a program asks to forget, too", async () => {
  const scope = memory.scope({ user: "program" });
  for (const text of IKER) await scope.remember(text);
  const plan = await scope.forget("everything about Iker except his number", { dryRun: true });
  expect(plan.memories.length).toBeGreaterThan(1);
  expect(JSON.stringify(plan.messages)).not.toContain("0188");
});
