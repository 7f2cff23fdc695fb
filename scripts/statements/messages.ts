import { beamChats } from "../../bench/quality/beam.ts";
import { readJson } from "../../bench/quality/files.ts";
import { talksIn } from "../../bench/quality/locomo.ts";
import { haystacks } from "../../bench/quality/longmemeval.ts";
import type { InputMessage } from "../../src/index.ts";

/** A message of a development set, with the turns before it in its session. */
export interface DevelopmentMessage {
  /** Names it for good: set, conversation, number. */
  readonly id: string;
  readonly set: "longmemeval" | "locomo" | "beam" | "stories2";
  /** `fit` to build on; `judge` is not looked at while building. */
  readonly half: "fit" | "judge";
  readonly content: string;
  readonly name?: string;
  readonly at: string;
  readonly earlier: readonly InputMessage[];
}

interface Story {
  readonly id: string;
  readonly steps: readonly { say?: string; role?: string; name?: string; session: string; at: string }[];
}

/** The users' messages of LongMemEval, LoCoMo, BEAM and the odd stories, in the order of the files. */
export function developmentMessages(data: string): DevelopmentMessage[] {
  return [
    ...longmemevalMessages(data),
    ...locomoMessages(data),
    ...beamMessages(data),
    ...storyMessages(data),
  ];
}

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
  readonly at: string;
  readonly session: string;
  readonly name?: string;
}

function inConversation(
  set: DevelopmentMessage["set"],
  conversation: string,
  half: DevelopmentMessage["half"],
  turns: readonly Turn[],
): DevelopmentMessage[] {
  return turns.flatMap((turn, i) => {
    if (turn.role !== "user") return [];
    const earlier = turns.slice(Math.max(0, i - 4), i).filter(({ session }) => session === turn.session);
    return [
      {
        id: `${set}/${conversation}/${i}`,
        set,
        half,
        content: turn.content,
        at: turn.at,
        ...(turn.name === undefined ? {} : { name: turn.name }),
        earlier,
      },
    ];
  });
}

/** Haystacks share sessions: each session is taken once, and a session in a judged haystack is judged. */
function longmemevalMessages(data: string): DevelopmentMessage[] {
  const halves = new Map<string, DevelopmentMessage["half"]>();
  const sessions = new Map<string, Turn[]>();
  haystacks(data).forEach(({ messages }, i) => {
    for (const { session = "" } of messages)
      if (i % 2 === 1 || !halves.has(session)) halves.set(session, i % 2 === 1 ? "judge" : "fit");
    const own = Map.groupBy(messages, ({ session }) => session ?? "");
    for (const [session, turns] of own)
      if (!sessions.has(session)) sessions.set(session, turns as unknown as Turn[]);
  });
  return [...sessions].flatMap(([session, turns]) =>
    inConversation("longmemeval", session, halves.get(session) ?? "fit", turns),
  );
}

function locomoMessages(data: string): DevelopmentMessage[] {
  return talksIn(data).flatMap(({ name, turns }) =>
    inConversation(
      "locomo",
      name,
      ["conv-42", "conv-43"].includes(name) ? "judge" : "fit",
      turns.map(({ session, at, speaker, text }) => ({
        role: "user",
        content: text,
        at: at ?? "",
        session,
        name: speaker,
      })),
    ),
  );
}

function beamMessages(data: string): DevelopmentMessage[] {
  return beamChats(data).flatMap(({ name, messages }) =>
    inConversation(
      "beam",
      name,
      Number(name.replace(/\D/g, "")) > 5 ? "judge" : "fit",
      messages as unknown as Turn[],
    ),
  );
}

function storyMessages(data: string): DevelopmentMessage[] {
  const stories = readJson<Story[]>(data, "stories2", "stories.json");
  return stories
    .filter((_story, i) => i % 2 === 0)
    .flatMap(({ id, steps }) => {
      const turns = steps.flatMap(({ say, role, name, session, at }): Turn[] =>
        say === undefined
          ? []
          : [
              {
                role: role === "assistant" ? "assistant" : "user",
                content: say,
                at,
                session,
                ...(name === undefined ? {} : { name }),
              },
            ],
      );
      return inConversation("stories2", id, "fit", turns);
    });
}
