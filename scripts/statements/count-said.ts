/**
 * Counts, of the memories that readers judged, those that are still made of their messages: node scripts/statements/count-said.ts
 *
 * `said.jsonl` has messages of other writers with the memories that were made of them, told apart by whether the message says them. What it does not
 * say and what is of no use are one figure. A memory that no reader has judged is counted apart.
 */
import { englishExtractor } from "../../src/language/en/extractor.ts";
import { readJudged } from "./said.ts";

/** The day on which the readers were told that all of them were typed. */
const AT = "2026-11-20T10:00:00.000Z";

const messages = readJudged().filter(({ set }) => set === "judged");
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
