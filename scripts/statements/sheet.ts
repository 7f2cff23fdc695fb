import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { findEnglishSpans } from "../../src/language/en/detect-language.ts";
import { isInPlay, isTextWork } from "../../src/language/en/grammar/no-facts/borrowed.ts";
import { readableSpans, rulesExtractor } from "../../src/language/en/grammar/rules.ts";
import { agreementFeatures, findClauseAt } from "../../src/language/en/statements/agreement.ts";
import { clauseFeatures } from "../../src/language/en/statements/features.ts";
import { readClauses } from "../../src/language/en/statements/read-clauses.ts";
import { isTold } from "../../src/language/en/statements/reconcile.ts";
import { type DevelopmentMessage, developmentMessages } from "./messages.ts";

/** Draws messages with a seed and prints the memories that the rules and the trees make of them, mixed. */
const { values } = parseArgs({
  options: {
    data: { type: "string" },
    half: { type: "string", default: "fit" },
    seed: { type: "string", default: "1" },
    counts: { type: "string", default: "longmemeval=300,locomo=300,beam=150,stories2=150" },
    out: { type: "string" },
  },
});
const order = (id: string): string => createHash("sha256").update(`${values.seed}/${id}`).digest("hex");
const all = developmentMessages(values.data ?? "").filter(({ half }) => half === values.half);
const rules = rulesExtractor();
const rows: object[] = [];
for (const [set, count] of (values.counts ?? "").split(",").map((one) => one.split("="))) {
  const drawn = all
    .filter((one) => one.set === set && /[a-z]/i.test(one.content))
    .sort((a, b) => order(a.id).localeCompare(order(b.id)))
    .slice(0, Number(count));
  for (const message of drawn) rows.push(...(await rowsOf(message)));
}
writeFileSync(values.out ?? "/dev/stdout", rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

async function rowsOf(message: DevelopmentMessage): Promise<object[]> {
  const stored = {
    id: message.id,
    role: "user",
    origin: "user_message",
    content: message.content,
    at: message.at,
    ...(message.name ? { name: message.name } : {}),
  };
  const earlier = message.earlier.map((turn, i) => ({
    id: `${i}`,
    origin: `${turn.role}_message`,
    at: message.at,
    ...turn,
  }));
  const proposals = await rules.propose({ messages: [stored], earlier, known: [] } as never);
  const byRules = proposals.flatMap((one) =>
    one.propose === "add"
      ? [{ text: one.text, start: one.start, end: one.end, ...(one.claim ? { claim: one.claim } : {}) }]
      : [],
  );
  const around = { isAmongPeople: message.name !== undefined, length: message.content.length };
  const text = message.content.slice(0, 40_000);
  const isOther = isTextWork(text) || isInPlay(text, earlier as never);
  const spans = isOther
    ? []
    : readableSpans(text, findEnglishSpans(text, splitSentences(text)), earlier as never);
  const clauses = readClauses(text, message.name ?? "the user", spans);
  const byTrees = clauses.filter(isTold).map(({ clause, wording, start, end }) => ({
    text: wording.text,
    start,
    end,
    features: Object.fromEntries(clauseFeatures(clause, wording, around)),
  }));
  const base = {
    message: message.id,
    set: message.set,
    name: message.name,
    content: message.content,
    before: message.earlier.at(-1)?.content,
  };
  return [
    ...byRules.map((one) => {
      const read = findClauseAt(clauses, one);
      const features = [
        ...(read ? clauseFeatures(read.clause, read.wording, around) : []),
        ...agreementFeatures(one, read),
      ];
      return { ...base, source: "rules", ...one, features: Object.fromEntries(features) };
    }),
    ...byTrees.map((one) => ({ ...base, source: "trees", ...one })),
  ];
}
