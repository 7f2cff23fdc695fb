// Conversations in which somebody asks to forget a topic, put together by chance from `scripts/forgetting/topics.txt`: descriptions of
// topics, what people say that falls under them, and what is near and does not. They show the reader many more pairs of a description
// and a statement than whole conversations do.
import { readFileSync } from "node:fs";
import { pick, type Random, seeded, shuffle } from "../../bench/speed/vocabulary.ts";
import { splitSentences } from "../../src/domain/text/split-text.ts";
import { unmark } from "../forgetting/marked-sentences.ts";
import type { WrittenConversation } from "../forgetting/written-conversations.ts";

/** A topic of one writer. Narrow parts have a number; part 0 is the rest. */
export interface WriterTopic {
  readonly writer: number;
  readonly descriptions: readonly Numbered[];
  readonly statements: readonly Numbered[];
  /** What is near, and falls under none of the descriptions. */
  readonly near: readonly string[];
}

interface Numbered {
  readonly part: number;
  readonly text: string;
}

export interface Topics {
  readonly topics: readonly WriterTopic[];
  /** Requests in which `[]` stands where a description goes. */
  readonly frames: readonly string[];
}

/** The topics and frames of a file; a line `== WRITER` begins what another writer wrote, `== FRAMES` their frames. */
export function readTopics(file: string | URL): Topics {
  const topics: WriterTopic[] = [];
  const frames: string[] = [];
  let writer = 0;
  for (const block of readFileSync(file, "utf8").split(/\n\s*\n/)) {
    const lines = block.split("\n").map((line) => line.trim());
    if (lines[0] === "== WRITER") writer += 1;
    if (lines[0] === "== FRAMES") frames.push(...lines.filter((line) => line.includes("[]")));
    else if (lines.some((line) => line.startsWith("?"))) topics.push(readTopic(lines, writer));
  }
  return { topics, frames };
}

function readTopic(lines: readonly string[], writer: number): WriterTopic {
  const marked = (sign: string): Numbered[] =>
    lines.flatMap((line) => {
      const [, own, part, text = ""] = /^([?.~])(\d?)\s+(.*)$/.exec(line) ?? [];
      return own === sign ? [{ part: Number(part || 0), text }] : [];
    });
  return {
    writer,
    descriptions: marked("?"),
    statements: marked("."),
    near: marked("~").map(({ text }) => text),
  };
}

/** A statement, and whether it is to go. */
interface Told {
  readonly text: string;
  readonly isMeant: boolean;
}

/** What is told of a topic; where it is to go, also the description by which it is asked for, and of what is to stay of it. */
interface Telling {
  readonly told: readonly Told[];
  readonly asked?: string;
  readonly exception?: string;
}

/** The share of conversations in which nothing of what is asked for was told. */
const ABSENT = 0.06;
/** The share of other topics that are asked for, too. */
const ASKED_BESIDE = 0.1;

/** A conversation whose last message asks to forget a topic. The same number gives the same. */
export function drawConversation({ topics, frames }: Topics, number: number): WrittenConversation {
  const random = seeded(0x70b1 + number * 7919);
  const topic = topics[number % topics.length] as WriterTopic;
  // Others of the same writer may fall under the description, too.
  const far = topics.filter(({ writer }) => writer !== topic.writer);
  const first = tellAsked(random, topic);
  const chosen = new Set(Array.from({ length: Math.floor(random() * 4) }, () => pick(random, far)));
  const others = [...chosen].map((other) =>
    random() < ASKED_BESIDE ? tellWide(random, other) : tellBeside(random, other),
  );
  const tellings = [first, ...others];
  const asked = tellings.flatMap((one) => one.asked ?? []);
  const request = phraseRequest(random, pick(random, frames), asked, first.exception);
  return toConversation(
    random,
    arrange(
      random,
      tellings.map(({ told }) => told),
    ),
    request,
  );
}

function tellAsked(random: Random, topic: WriterTopic): Telling {
  if (random() < ABSENT) return { ...tellWide(random, topic), told: tellNear(random, topic) };
  const narrow = shuffle(
    random,
    topic.descriptions.filter(({ part }) => part > 0),
  )[0];
  const form = random();
  if (!narrow || form < 0.4) return tellWide(random, topic);
  const isNarrow = form < 0.75;
  const parts = topic.statements.filter(({ part }) => part === narrow.part);
  const rest = topic.statements.filter(({ part }) => part !== narrow.part);
  const told = [
    ...parts.map(({ text }) => ({ text, isMeant: isNarrow })),
    ...some(random, rest, 3).map(({ text }) => ({ text, isMeant: !isNarrow })),
    ...tellNear(random, topic),
  ];
  if (isNarrow) return { told, asked: narrow.text };
  return { told, asked: widely(random, topic), exception: narrow.text };
}

function tellWide(random: Random, topic: WriterTopic): Telling {
  const told = some(random, topic.statements, 5).map(({ text }) => ({ text, isMeant: true }));
  return { told: [...told, ...tellNear(random, topic)], asked: widely(random, topic) };
}

function tellNear(random: Random, { near }: WriterTopic): Told[] {
  return some(random, near, 3).map((text) => ({ text, isMeant: false }));
}

function tellBeside(random: Random, { statements, near }: WriterTopic): Telling {
  const texts = some(random, [...statements.map(({ text }) => text), ...near], 4);
  return { told: texts.map((text) => ({ text, isMeant: false })) };
}

function widely(random: Random, { descriptions }: WriterTopic): string {
  return pick(
    random,
    descriptions.filter(({ part }) => part === 0),
  ).text;
}

/** One to `most` of them. */
function some<One>(random: Random, all: readonly One[], most: number): One[] {
  return shuffle(random, all).slice(0, 1 + Math.floor(random() * most));
}

const JOINTS = [" and ", ", and also ", ", plus ", " & "] as const;
const EXCEPTIONS = [", but keep {}", ", {} can stay", ". {} stays though", ", not {} though", " (leave {})"];

/** The frame with its descriptions in it, marked. */
function phraseRequest(
  random: Random,
  frame: string,
  asked: readonly string[],
  exception: string | undefined,
): string {
  const target = asked.map((one) => `[${one}]`).join(pick(random, JOINTS));
  const said = frame.replace("[]", () => target);
  if (exception === undefined) return said;
  const [, body = said, end = ""] = /^(.*?)([.!?]*)$/s.exec(said) ?? [];
  return body + pick(random, EXCEPTIONS).replace("{}", () => `{${exception}}`) + end;
}

/** Topic after topic, or all mixed. */
function arrange(random: Random, told: readonly (readonly Told[])[]): Told[] {
  return random() < 0.5 ? shuffle(random, told.flat()) : shuffle(random, told).flat();
}

function toConversation(random: Random, told: readonly Told[], request: string): WrittenConversation {
  const said: string[] = [];
  for (const { text } of told) {
    if (said.length > 0 && random() < 0.25) said.push(join(said.pop() ?? "", text));
    else said.push(text);
  }
  const before = random() < 0.15 ? said.pop() : undefined;
  const asking = unmark(before === undefined ? request : join(before, request));
  const messages = [...said.map((text) => ({ text, parts: [] })), asking];
  return {
    messages: messages.map(({ text, parts }) => ({ role: "user", text, marks: parts, isCall: false })),
    gone: told.flatMap(({ text, isMeant }) => (isMeant ? text : [])),
    kept: told.flatMap(({ text, isMeant }) => (isMeant ? [] : text)),
    request: {
      message: said.length,
      sentences: [...splitSentences(asking.text).entries()].flatMap(([number, { start, end }]) =>
        asking.parts.slice(start, end).some((part) => part > 0) ? number : [],
      ),
    },
  };
}

function join(one: string, other: string): string {
  return `${one}${/[.!?]$/.test(one) ? " " : ". "}${other}`;
}

/** Requests with their descriptions marked, for what reads single sentences. */
export function drawRequests({ topics, frames }: Topics, count: number): { text: string; parts: number[] }[] {
  const random = seeded(0x70b2);
  return Array.from({ length: count }, (_, number) =>
    unmark(
      phraseRequest(
        random,
        frames[number % frames.length] as string,
        [widely(random, pick(random, topics))],
        undefined,
      ),
    ),
  );
}
