// Asks the questions of a file of cases, and counts: node scripts/answers/ask-written.ts FILE [--show]
// A known question is answered rightly where the answer holds the words that answer it, or all their telling words.
import { parseArgs } from "node:util";
import { extractTerms } from "../../src/domain/search/search-terms.ts";
import { createMemory } from "../../src/index.ts";
import { readCases } from "./written-questions.ts";

const { values: options, positionals } = parseArgs({
  options: { show: { type: "boolean", default: false } },
  allowPositionals: true,
});
const cases = readCases(positionals[0] ?? "");
const known = {
  all: 0,
  sure: 0,
  hedged: 0,
  wrong: 0,
  quotedWrong: 0,
  unanswered: 0,
  words: 0,
  wordsFound: 0,
};
const unknown = { all: 0, sure: 0, quoting: 0, refused: 0 };

function holds(text: string, words: string): boolean {
  if (text.toLowerCase().includes(words.toLowerCase())) return true;
  const said = new Set(extractTerms(text));
  const terms = extractTerms(words).filter((term) => !/^(?:my|me|mine|our|i|we)$/.test(term));
  return terms.length > 0 && terms.every((term) => said.has(term));
}

for (const [i, { messages, questions }] of cases.entries()) {
  let now = Date.parse("2026-05-04T09:00:00Z");
  const memory = await createMemory({ path: ":memory:", clock: () => new Date(now) });
  const scope = memory.scope({ user: "ana" });
  for (const { role, text } of messages) {
    await scope.remember([{ role, content: text, at: new Date(now).toISOString() }]);
    now += 30 * 3_600_000;
  }
  for (const { text, answers } of questions) {
    const answer = await scope.answer(text);
    const words = answers.map(({ message, start, end }) => messages[message]?.text.slice(start, end) ?? "");
    const found = words.filter((one) => holds(answer.text, one)).length;
    let verdict: string;
    if (words.length === 0) {
      unknown.all += 1;
      verdict = !answer.abstained ? "sure" : answer.used.length > 0 ? "quoting" : "refused";
      unknown[verdict as "sure"] += 1;
    } else {
      known.all += 1;
      known.words += words.length;
      known.wordsFound += found;
      if (found > 0) verdict = answer.abstained ? "hedged" : "sure";
      else if (!answer.abstained) verdict = "wrong";
      else verdict = answer.used.length > 0 ? "quotedWrong" : "unanswered";
      known[verdict as "sure"] += 1;
    }
    if (options.show)
      console.log(
        `${i} ${words.length === 0 ? "unknown" : "known"} ${verdict}: ${text} -> ${answer.text} [${words.join(" | ")}]`,
      );
  }
  await memory.close();
}
console.log("known", JSON.stringify(known));
console.log("unknown", JSON.stringify(unknown));
