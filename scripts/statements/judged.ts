import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Message } from "../../src/domain/message.ts";
import { englishExtractor } from "../../src/language/en/extractor.ts";
import type { RulesReading } from "../../src/language/en/grammar/known-memory.ts";
import { rulesExtractor } from "../../src/language/en/grammar/rules.ts";
import { type DevelopmentMessage, developmentMessages } from "./messages.ts";

/**
 * Draws memories that the rules alone and the whole extractor make of conversations that neither was built on, and prints them mixed,
 * as a sheet to judge: message, then numbered memories. The key to the sheet goes to --key.
 *
 * usage: node scripts/statements/judged.ts --data DATA --sheet SHEET.txt --key KEY.json [--memories 100] [--seed 1]
 */
const { values } = parseArgs({
  options: {
    data: { type: "string" },
    sheet: { type: "string" },
    key: { type: "string" },
    memories: { type: "string", default: "100" },
    messages: { type: "string", default: "250" },
    seed: { type: "string", default: "1" },
  },
});
const digest = (text: string): string => createHash("sha256").update(`${values.seed}/${text}`).digest("hex");
const extractors = { rules: rulesExtractor(), whole: englishExtractor() };
type Source = keyof typeof extractors;

interface Made {
  readonly message: DevelopmentMessage;
  readonly source: Source;
  readonly text: string;
}

const drawn: Made[] = [];
const rates: Record<string, number> = {};
for (const set of ["longmemeval", "locomo", "beam"] as const) {
  const messages = developmentMessages(values.data ?? "")
    .filter((one) => one.set === set && one.half === "judge" && /[a-z]/i.test(one.content))
    .sort((a, b) => digest(a.id).localeCompare(digest(b.id)))
    .slice(0, Number(values.messages));
  for (const source of ["rules", "whole"] as const) {
    const made: Made[] = [];
    for (const message of messages)
      for (const text of await read(source, message)) made.push({ message, source, text });
    rates[`${set}/${source}`] = Math.round((100 * made.length) / messages.length);
    drawn.push(
      ...made
        .sort((a, b) => digest(a.message.id + a.text).localeCompare(digest(b.message.id + b.text)))
        .slice(0, Number(values.memories)),
    );
  }
}
console.log("memories per 100 messages:", rates);
print(drawn);

async function read(
  source: Source,
  { id, content, at, name, earlier }: DevelopmentMessage,
): Promise<string[]> {
  const message = {
    id,
    role: "user",
    origin: "user_message",
    content,
    at,
    ...(name ? { name } : {}),
  } as Message;
  const before = earlier.map(
    (turn, i) => ({ id: `${i}`, origin: `${turn.role}_message`, at, ...turn }) as Message,
  );
  const proposals = await extractors[source].propose({
    messages: [message],
    earlier: before,
    known: [],
  } as RulesReading);
  return proposals.flatMap((one) => (one.propose === "add" ? [one.text] : []));
}

/** One number for each different wording of a message, whoever made it. */
function print(all: readonly Made[]): void {
  const blocks = Map.groupBy(all, ({ message }) => message.id);
  const key: { number: number; message: string; sources: Source[] }[] = [];
  const lines = [...blocks]
    .sort(([a], [b]) => digest(`order${a}`).localeCompare(digest(`order${b}`)))
    .map(([id, made]) => {
      const message = made[0]?.message as DevelopmentMessage;
      const before = message.earlier.at(-1)?.content.slice(0, 160);
      const texts = [...Map.groupBy(made, ({ text }) => text)].sort(([a], [b]) =>
        digest(a).localeCompare(digest(b)),
      );
      const numbered = texts.map(([text, by]) => {
        key.push({ number: key.length, message: id, sources: [...new Set(by.map(({ source }) => source))] });
        return `${key.length - 1}\t${text}`;
      });
      const opening = `## MESSAGE by ${message.name ?? "user"}${before ? ` (turn before: ${JSON.stringify(before)})` : ""}, said ${message.at.slice(0, 10)}`;
      return [opening, message.content.slice(0, 2500).replaceAll("\n", " / "), ...numbered].join("\n");
    });
  writeFileSync(values.sheet ?? "", `${lines.join("\n\n")}\n`);
  writeFileSync(values.key ?? "", JSON.stringify(key));
  console.log(`${key.length} to judge`);
}
