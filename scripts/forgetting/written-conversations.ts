// The conversations of the files beside this one.
import { readFileSync } from "node:fs";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { readRequest } from "../../src/language/en/grammar/forgetting/request-network.ts";
import { unmark } from "./marked-sentences.ts";

export interface WrittenMessage {
  readonly role: "user" | "assistant";
  readonly name?: string;
  readonly text: string;
  /** Of each UTF-16 unit: the number of the mark around it, or 0. */
  readonly marks: readonly number[];
  /** True for an explicit call, which is nothing but a description. */
  readonly isCall: boolean;
}

export interface WrittenConversation {
  readonly messages: readonly WrittenMessage[];
  readonly gone: readonly string[];
  readonly kept: readonly string[];
  /** The message that asks and its sentences that do, by their numbers; undefined where nothing is to go. */
  readonly request?: { readonly message: number; readonly sentences: readonly number[] };
}

/** The conversations of a file, in order. */
export function readConversations(file: string): WrittenConversation[] {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  return text
    .split(/\n\s*\n/)
    .map(readConversation)
    .filter(({ messages }) => messages.length > 0);
}

function readConversation(block: string): WrittenConversation {
  const messages: WrittenMessage[] = [];
  const parts: { readonly [mark in "-" | "+"]: string[] } = { "-": [], "+": [] };
  for (const line of block.split("\n").filter((one) => !one.startsWith("#"))) {
    const [, by, said = ""] = /^([^\s>]*>|!|-|\+|=)\s?(.*)$/.exec(line) ?? [];
    if (by === undefined || by === "=") continue;
    if (by === "-" || by === "+") parts[by].push(...said.split(" | ").map((one) => one.trim()));
    else messages.push(toWritten(by, said));
  }
  const request = parts["-"].length === 0 ? undefined : findRequest(messages);
  return { messages, gone: parts["-"], kept: parts["+"], ...(request ? { request } : {}) };
}

function toWritten(by: string, said: string): WrittenMessage {
  const { text, parts: marks } = unmark(said);
  const who = by.replace(/[>!]/, "");
  return {
    role: who === "A" ? "assistant" : "user",
    ...(who === "" || who === "A" ? {} : { name: who }),
    text,
    marks,
    isCall: by === "!",
  };
}

/** The sentences with marks, or the whole of an explicit call; without either, the likeliest request. */
function findRequest(messages: readonly WrittenMessage[]): WrittenConversation["request"] {
  const rated = messages.flatMap(({ role, text, marks, isCall }, message) => {
    if (role === "assistant") return [];
    const sentences = splitSentences(text);
    if (isCall) return [{ message, sentences: [...sentences.keys()], probability: 2 }];
    const marked = [...sentences.keys()].filter((i) =>
      marks.slice(sentences[i]?.start, sentences[i]?.end).some((mark) => mark > 0),
    );
    if (marked.length > 0) return [{ message, sentences: marked, probability: 2 }];
    return sentences.map(({ start, end }, i) => ({
      message,
      sentences: [i],
      probability: readRequest(text.slice(start, end)).probability,
    }));
  });
  return rated.toSorted((one, other) => other.probability - one.probability)[0];
}
