import { beforeEach, describe, expect, it } from "vitest";
import { memoryRecord } from "../adapters/memory/index.ts";
import { uuidv7 } from "../adapters/system/index.ts";
import type { Memory } from "../domain/memory.ts";
import type { Message } from "../domain/message.ts";
import type { RecallOptions } from "../domain/recall.ts";
import type { Question } from "../ports/question-reader.ts";
import type { Record } from "../ports/record.ts";
import { hashEmbedder } from "../testing/hash-embedder.ts";
import { recall } from "./recall.ts";
import { unitsOf } from "./units.ts";
import { userStates } from "./user-state.ts";

const SCOPE = { project: "default", user: "ana" };
const NOW = "2026-06-01T00:00:00.000Z";
const embedder = hashEmbedder(256);
let record: Record;
let question: Question;

beforeEach(() => {
  record = memoryRecord();
  question = { asks: "unknown", relations: [] };
});

function ports() {
  return {
    record,
    embedder,
    states: userStates(record),
    questions: { read: () => question, isQuestion: () => true },
    clock: () => new Date(NOW),
    ids: uuidv7(),
  };
}

function said(id: string, content: string, fields: Partial<Message> = {}): Message {
  const at = fields.at ?? "2026-01-01T00:00:00.000Z";
  return {
    id,
    turn: 0,
    session: "s1",
    role: "user",
    content,
    origin: "user_message",
    at,
    storedAt: at,
    digest: "done",
    ...fields,
  };
}

function held(id: string, text: string, source: Message, fields: Partial<Memory> = {}): Memory {
  return {
    id,
    version: 1,
    text,
    kind: "fact",
    status: "current",
    confidence: 0.9,
    importance: 0.5,
    evidence: 1,
    origin: "user_message",
    at: source.at,
    validFrom: source.at,
    sources: [{ message: source.id, start: 0, end: source.content.length, quote: source.content }],
    revision: 1,
    storedAt: source.at,
    action: "added",
    ...fields,
  };
}

async function store(messages: readonly Message[], memories: readonly Memory[] = [], scope = SCOPE) {
  await record.commit(scope, {
    base: await record.revision(scope),
    at: NOW,
    cause: "remember",
    messages,
    memories,
    units: await unitsOf({ embedder }, messages, memories),
  });
}

const ask = (
  query: string,
  options: RecallOptions = {},
  scope: typeof SCOPE & { session?: string } = SCOPE,
) => recall(ports(), scope, query, options);
const ids = async (query: string, options: RecallOptions = {}) =>
  (await ask(query, options)).items.map(({ id }) => id);

describe("recall", () => {
  it("gives what the query is about, with its source", async () => {
    const tools = said("m1", "I use Shram and Magnet as productivity tools.");
    await store([tools, said("m2", "The weather was lovely in Porto.")]);
    const { items, context, abstained } = await ask("Which productivity tools do I use?");
    expect(items[0]).toMatchObject({ id: "m1#0", type: "passage", status: "current", text: tools.content });
    expect(items[0]?.sources).toEqual([
      {
        message: "m1",
        session: "s1",
        role: "user",
        at: tools.at,
        start: 0,
        end: tools.content.length,
        quote: tools.content,
      },
    ]);
    expect(items[0]?.score).toBeGreaterThan(0);
    expect(items[0]?.score).toBeLessThanOrEqual(1);
    expect(context).toContain(
      "[2026-01-01] user: I use Shram and Magnet as productivity tools. (message m1)",
    );
    expect(abstained).toBe(false);
  });

  it("gives nothing where nothing is relevant", async () => {
    await store([said("m1", "I use Shram every day.")]);
    expect(await ask("What is my blood type?")).toMatchObject({
      items: [],
      context: "",
      tokens: 0,
      abstained: true,
    });
  });

  it("gives nothing to a user who has said nothing", async () => {
    expect((await ask("Which tools do I use?")).abstained).toBe(true);
  });
});
