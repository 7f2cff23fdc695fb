// Runs the conversations of `conversations.txt` through the library: node scripts/forgetting/run-cases.ts [--show]
// Where the memory asks back, a yes is given. Prints what should be gone, what should be kept, and how often it asked.
import { readFileSync } from "node:fs";
import { createMemory } from "../../src/index.ts";
import { unmark } from "./marked-sentences.ts";

interface Case {
  readonly said: { readonly by: string; readonly text: string }[];
  readonly gone: string[];
  readonly kept: string[];
  isQuiet: boolean;
}

const flatten = (text: string): string => text.toLowerCase().replaceAll(/[’‘]/g, "'");
const file = process.argv.find((one) => one.endsWith(".txt")) ?? "conversations.txt";
const written = readFileSync(new URL(file, import.meta.url), "utf8");
/** Whether requests have marks around their words, as in `conversations-marked.txt`. */
const isMarked = /marked/.test(`${file} ${written.split("\n", 1)[0]}`);
const cases = written.split("\n\n").map(readCase);

function readCase(block: string): Case {
  const found: Case = { said: [], gone: [], kept: [], isQuiet: false };
  for (const line of block.split("\n").filter((one) => !one.startsWith("#"))) {
    const [, by, text = ""] = /^([^\s>]*>|!|-|\+|=)\s?(.*)$/.exec(line) ?? [];
    const parts = text
      .split(" | ")
      .map((one) => one.trim())
      .filter((one) => one !== "");
    if (by === "-") found.gone.push(...parts);
    else if (by === "+") found.kept.push(...parts);
    else if (by === "=") found.isQuiet = true;
    else if (by !== undefined)
      found.said.push({ by: by.replace(">", ""), text: isMarked ? unmark(text).text : text });
  }
  return found;
}

const isShown = process.argv.includes("--show");
let [asked, whole] = [0, 0];
/** Cases that were carried out without a question, and those of them that lost something. */
const unasked = { all: 0, lost: 0 };
const tally: Record<"gone" | "kept" | "quiet", [number, number]> = {
  gone: [0, 0],
  kept: [0, 0],
  quiet: [0, 0],
};
for (const { said, gone, kept, isQuiet } of cases) {
  let now = new Date("2026-03-02T10:00:00Z");
  const memory = await createMemory({ path: ":memory:", clock: () => now });
  const scope = memory.scope({ user: "ana" });
  const log: string[] = [];
  const askedBefore = asked;
  for (const { by, text } of said) {
    now = new Date(now.getTime() + 120_000);
    if (by === "!") {
      const { unsure } = await scope.forget(text);
      if (unsure)
        log.push(
          `unsure: ${JSON.stringify(unsure.flatMap(({ quotes }) => quotes.map(({ quote }) => quote)))}`,
        );
      continue;
    }
    const role = by === "A" ? "assistant" : "user";
    const name = by === "" || by === "A" ? {} : { name: by };
    const message = (content: string) => ({ role, content, at: now.toISOString(), ...name }) as const;
    const { waiting } = await scope.remember([message(text)], { session: "s" });
    if (waiting) {
      asked += 1;
      log.push(`asked: ${waiting.flatMap(({ quotes }) => quotes.map(({ quote }) => quote)).join(" / ")}`);
      await scope.remember([message("yes, forget them")], { session: "s" });
    }
  }
  let stored = "";
  for await (const line of scope.export()) stored += `${JSON.stringify(line)}\n`;
  const held = flatten(stored);
  const wrong = [
    ...gone.filter((text) => held.includes(flatten(text))).map((text) => `still there: ${text}`),
    ...kept.filter((text) => !held.includes(flatten(text))).map((text) => `lost: ${text}`),
  ];
  tally.gone[0] += gone.length - wrong.filter((one) => one.startsWith("still")).length;
  tally.gone[1] += gone.length;
  tally.kept[0] += kept.length - wrong.filter((one) => one.startsWith("lost")).length;
  tally.kept[1] += kept.length;
  const { length } = await scope.erasures();
  if (length > 0 && asked === askedBefore) {
    unasked.all += 1;
    if (isQuiet || wrong.some((one) => one.startsWith("lost"))) unasked.lost += 1;
  }
  if (isQuiet) {
    tally.quiet[1] += 1;
    if (length === 0) tally.quiet[0] += 1;
    else wrong.push("erased something");
  }
  if (wrong.length === 0) whole += 1;
  else if (isShown)
    console.log(`${said.map(({ text }) => text).join(" // ")}\n   ${[...wrong, ...log].join("; ")}`);
  await memory.close();
}
for (const [name, [right, all]] of Object.entries(tally)) console.log(`${name}: ${right}/${all}`);
console.log(`carried out without a question: ${unasked.all}, of which ${unasked.lost} lost something`);
console.log(`asked back: ${asked}; whole: ${whole}/${cases.length}`);
