// What people told over several messages, and questions about it with the words that answer them: the files beside this one.
import { readFileSync } from "node:fs";

/** Words of a message, by their place in it. */
export interface AnswerWords {
  readonly message: number;
  readonly start: number;
  readonly end: number;
}

export interface WrittenQuestion {
  readonly text: string;
  /** The words that answer it; none where nothing that was told does. */
  readonly answers: readonly AnswerWords[];
}

export interface WrittenCase {
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly questions: readonly WrittenQuestion[];
  /** Words that stand in no message of the user's: mistakes of the file. */
  readonly missing: readonly string[];
}

/** The cases of a file, in order. */
export function readCases(file: string): WrittenCase[] {
  return readFileSync(file, "utf8")
    .split(/\n\s*\n/)
    .map(readCase)
    .filter(({ messages, questions }) => messages.length > 0 && questions.length > 0);
}

function readCase(block: string): WrittenCase {
  const lines = block.split("\n").filter((line) => !line.startsWith("#"));
  const messages = lines.flatMap((line) => {
    const [, by, text] = /^(A?)>\s?(.*)$/.exec(line) ?? [];
    return text === undefined
      ? []
      : [{ role: by === "A" ? ("assistant" as const) : ("user" as const), text }];
  });
  const missing: string[] = [];
  const questions = lines.flatMap((line) => {
    const [, said] = /^\?\s*(.*)$/.exec(line) ?? [];
    if (said === undefined || !said.includes("|")) return [];
    const [text = "", ...excerpts] = said.split("|").map((one) => one.trim());
    const wanted = excerpts.filter((one) => one !== "");
    const answers = wanted.flatMap((excerpt) => {
      const places = findWords(messages, excerpt);
      if (places.length === 0) missing.push(excerpt);
      return places;
    });
    // A question of whose answer a part is not found would be learned wrongly.
    return wanted.some((excerpt) => findWords(messages, excerpt).length === 0) ? [] : [{ text, answers }];
  });
  return { messages, questions, missing };
}

/** Where words stand in what the user said, in any case. */
function findWords(messages: WrittenCase["messages"], words: string): AnswerWords[] {
  const wanted = flatten(words);
  return messages.flatMap(({ role, text }, message) => {
    if (role !== "user") return [];
    const said = flatten(text);
    const places: AnswerWords[] = [];
    for (let at = said.indexOf(wanted); at >= 0; at = said.indexOf(wanted, at + 1))
      if (isWhole(said, at, at + wanted.length)) places.push({ message, start: at, end: at + wanted.length });
    return places;
  });
}

const flatten = (text: string): string => text.toLowerCase().replaceAll(/[’‘]/g, "'");

function isWhole(text: string, start: number, end: number): boolean {
  return !/[\p{L}\p{N}]$/u.test(text.slice(0, start)) && !/^[\p{L}\p{N}]/u.test(text.slice(end));
}
