/**
 * Counts, of the memories that readers judged, those that are still made of their messages: node scripts/statements/count-said.ts
 *
 * `said.jsonl` has messages of other writers with the memories that were made of them, told apart by whether the message says them. Those with
 * `isHeld` are not to be read while the reading is worked on. A memory that nobody has judged is counted apart.
 */
import { readFileSync } from "node:fs";
import { englishExtractor } from "../../src/language/en/extractor.ts";

interface JudgedMessage {
  readonly set: string;
  readonly isHeld: boolean;
  readonly before?: readonly string[];
  readonly text: string;
  readonly said: readonly string[];
  readonly unsaid: readonly string[];
}

/** All of them were typed on this day, as their readers were told. */
const AT = "2026-11-20T10:00:00.000Z";

const messages = readFileSync(new URL("said.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as JudgedMessage)
  .filter(({ set, before }) => set === "judged" && before === undefined);
const extractor = englishExtractor();
for (const isHeld of [false, true]) {
  const counts = { said: 0, unsaid: 0, unjudged: 0 };
  for (const message of messages.filter((one) => one.isHeld === isHeld))
    for (const text of await memoriesOf(message.text)) {
      const verdict = message.said.includes(text)
        ? "said"
        : message.unsaid.includes(text)
          ? "unsaid"
          : "unjudged";
      counts[verdict] += 1;
    }
  console.log(isHeld ? "held out" : "may be read", JSON.stringify(counts));
}

async function memoriesOf(content: string): Promise<string[]> {
  const message = { id: "m", role: "user", origin: "user_message", content, at: AT };
  const reading = { messages: [message], earlier: [], known: [] };
  const proposals = await extractor.propose(reading as never);
  return proposals.flatMap((one) => (one.propose === "add" ? [one.text] : []));
}
