/**
 * Reads 200 sentences of our own in the manner of chat, and counts where the subject, the predicate, the object and the negation of the
 * main clause are as labelled: `node scripts/parser/chat-sentences.ts [--model FILE] [--faults]`. A line of the list is the sentence,
 * its subject, its predicate (as in Universal Dependencies: `I am a nurse` has `nurse`), its object, and whether it is negated.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { loadParser, type ParsedSentence, type ParsedToken } from "../../src/language/en/parser/parser.ts";

const SHIPPED = new URL("../../assets/parser-en.bin", import.meta.url);
const NEGATIONS = new Set(["not", "n't", "n’t", "nt", "t", "never"]);
const SLOTS = ["subject", "predicate", "object", "negation"] as const;

type Clause = { readonly [slot in (typeof SLOTS)[number]]: string };

function readMainClause(sentence: ParsedSentence | undefined): Clause {
  const tokens = sentence?.tokens ?? [];
  const root = tokens.findIndex(({ head }) => head === -1);
  const children = tokens.filter(({ head }) => head === root);
  const find = (pattern: RegExp): string => children.find(({ label }) => pattern.test(label))?.text ?? "-";
  const isNegation = ({ lower }: ParsedToken): boolean => NEGATIONS.has(lower);
  return {
    subject: find(/^[nc]subj/),
    predicate: tokens[root]?.text ?? "-",
    object: find(/^obj$/),
    negation: children.some(isNegation) ? "yes" : "no",
  };
}

const { values } = parseArgs({ options: { model: { type: "string" }, faults: { type: "boolean" } } });
const parser = loadParser(readFileSync(values.model ?? SHIPPED));
const lines = readFileSync(new URL("./chat-sentences.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
const right = { subject: 0, predicate: 0, object: 0, negation: 0, all: 0 };
for (const line of lines) {
  const [text = "", subject = "", predicate = "", object = "", negation = ""] = line.split(" | ");
  const expected: Clause = { subject, predicate, object, negation };
  const read = readMainClause(parser.parse(text)[0]);
  const wrong = SLOTS.filter((slot) => read[slot] !== expected[slot]);
  for (const slot of SLOTS) if (!wrong.includes(slot)) right[slot] += 1;
  if (wrong.length === 0) right.all += 1;
  else if (values.faults)
    console.log(text, ...wrong.map((slot) => `[${slot}: ${read[slot]}, not ${expected[slot]}]`));
}
console.log(JSON.stringify({ sentences: lines.length, ...right }));
