import { expect, it } from "vitest";
import { selectMemoriesAt } from "../../../domain/memories/current-memories.ts";
import type { Memory } from "../../../domain/memory.ts";
import { rulesQuestionReader } from "../questions/questions.ts";
import { answerIndex } from "./answer-index.ts";
import { candidates } from "./candidates.ts";
import { matches } from "./match.ts";
import { subjectFit } from "./subjects.ts";

const AT = "2026-03-10T12:00:00.000Z";
const SUBJECTS = [
  "user",
  "user/sister",
  "user/cat",
  "user/car",
  "user/piano teacher",
  "Yusuf",
  "user/kid Ada",
];
const RELATIONS = [
  "use",
  "live in",
  "be",
  "be called",
  "have",
  "like",
  "sell",
  "used to live in",
  "not eat",
  "be on",
  "plan to visit",
];
const VALUES = [
  "Porto",
  "a red Skoda",
  "Magnet",
  "tennis",
  "a nurse at Acme",
  "the piano",
  "next Friday",
  "meat",
  "Rex",
  "two cats",
];
const QUALIFIERS = [undefined, "in Ledgerly", "for a living", "every Monday"];

/** Memories of every mixture, without chance: the tenth of them is over. */
function memories(count: number): Map<string, Memory> {
  return new Map(
    Array.from({ length: count }, (_, i): [string, Memory] => {
      const qualifier = QUALIFIERS[(i * 5) % QUALIFIERS.length];
      const claim = {
        subject: SUBJECTS[i % SUBJECTS.length] ?? "user",
        relation: RELATIONS[(i * 3) % RELATIONS.length] ?? "be",
        value: VALUES[(i * 7) % VALUES.length] ?? "",
        ...(qualifier === undefined ? {} : { qualifier }),
      };
      const id = `m${String(i).padStart(5, "0")}`;
      return [
        id,
        {
          id,
          version: 1,
          text: `${claim.subject} ${claim.relation} ${claim.value} ${qualifier ?? ""}.`,
          kind: i % 13 === 0 ? "event" : "fact",
          claim,
          status: i % 10 === 0 ? "superseded" : "current",
          confidence: 0.9,
          importance: 0.5,
          evidence: 1,
          origin: "user_message",
          at: new Date(Date.parse(AT) - (i % 50) * 86_400_000).toISOString(),
          sources: [],
          revision: 1,
          storedAt: AT,
          action: "added",
        },
      ];
    }),
  );
}

it.each([
  "What tools do I use?",
  "Where do I live?",
  "Where did I live before?",
  "What's my cat called?",
  "What colour is my car?",
  "Who is my teacher?",
  "When is my piano lesson?",
  "What do I do for a living?",
  "What do I use for my invoices?",
  "Do I eat meat?",
  "Do I still have the red Skoda?",
  "What does Yusuf like?",
  "How many cats do I have?",
  "Which car do I have?",
  "tell me about Porto",
])("%s finds among the candidates what it finds among all", (text) => {
  const all = memories(900);
  const question = rulesQuestionReader().read(text, { at: AT, known: [...all.values()] });
  const index = answerIndex(all);
  const asked = { text, question, fits: subjectFit(question.subject, index, () => true), around: () => "" };
  const found = (among: Iterable<Memory>) =>
    matches(asked, selectMemoriesAt(among, AT, undefined)).map(({ memory, score }) => [memory.id, score]);
  expect(found(candidates(asked, index))).toEqual(found(all.values()));
});

it("an index follows what is added, changed and gone", () => {
  const all = memories(20);
  expect(answerIndex(all).slots.get("user")?.size).toBeGreaterThan(0);
  const [first] = all.values();
  if (!first) throw new Error("no memory");
  all.set(first.id, { ...first, claim: { subject: "Nora", relation: "like", value: "figs" } });
  all.delete("m00019");
  const index = answerIndex(all);
  expect([...(index.slots.get("Nora")?.get("like") ?? [])]).toHaveLength(1);
  const held = new Set(
    [...index.slots.values()].flatMap((slot) => [...slot.values()].flatMap((one) => [...one])),
  );
  expect(held).toEqual(new Set(all.values()));
});
