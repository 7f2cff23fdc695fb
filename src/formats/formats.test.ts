import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImportEntry } from "../engine/api/transfer-types.ts";
import { detectFormat, FORMATS, type ImportFormat } from "./index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-formats-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  const isRaw = typeof content === "string" || Buffer.isBuffer(content);
  writeFileSync(path, isRaw ? content : JSON.stringify(content));
  return path;
}

const lines = (...values: readonly unknown[]): string =>
  values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join("\n");

async function all<One>(source: AsyncIterable<One>): Promise<One[]> {
  const found: One[] = [];
  for await (const one of source) found.push(one);
  return found;
}

async function read(format: ImportFormat, path: string): Promise<ImportEntry[]> {
  return all(FORMATS[format](path));
}

const messages = async (format: ImportFormat, path: string) =>
  (await read(format, path)).flatMap(({ message }) => message ?? []);

const refusal = (message: RegExp) =>
  expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(message) });

describe("JSON lines", () => {
  it("keep every field of a message and ignore others", async () => {
    const whole = {
      id: "a",
      role: "assistant",
      content: "Hello.",
      name: "Bo",
      at: "2024-05-01",
      session: "s",
    };
    const path = file("whole.jsonl", lines({ ...whole, metadata: { mood: "fine" }, extra: 1 }, "", "  "));
    expect(await messages("jsonl", path)).toEqual([{ ...whole, metadata: { mood: "fine" } }]);
  });

  it("have the role user if they name none", async () => {
    expect(await messages("jsonl", file("bare.jsonl", { content: "Hello." }))).toMatchObject([
      { role: "user" },
    ]);
  });

  it("without ids get ids from their content, and repeated lines get separate ids", async () => {
    const hello = { role: "user", content: "Hello." };
    const first = await messages("jsonl", file("one.jsonl", lines(hello, hello, { content: "Bye." })));
    const second = await messages("jsonl", file("two.jsonl", lines({ content: "Bye." }, "", hello, hello)));
    expect(new Set(first.map(({ id }) => id)).size).toBe(3);
    expect(second.map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
  });

  it("without ids differ by session, time, role and name", async () => {
    const said = [{}, { session: "s" }, { at: "2024-05-01" }, { role: "assistant" }, { name: "Bo" }];
    const path = file("differ.jsonl", lines(...said.map((fields) => ({ content: "Hello.", ...fields }))));
    expect(new Set((await messages("jsonl", path)).map(({ id }) => id)).size).toBe(said.length);
  });

  it("are refused by line number if not JSON, not an object, not UTF-8 or without content", async () => {
    const bad: readonly (readonly [string | Buffer, RegExp])[] = [
      [lines({ content: "a" }, "", "{oops"), /^line 3 is not valid JSON\.$/],
      [lines({ content: "a" }, "[1]"), /^line 2 is not a JSON object\.$/],
      [lines({ content: "a" }, { text: "b" }), /^line 2 has no content\.$/],
      [Buffer.from('{"content":"a"}\n{"content":"\xff"}', "latin1"), /^line 2 is not UTF-8\.$/],
    ];
    for (const [content, message] of bad) {
      await expect(read("jsonl", file("bad.jsonl", content))).rejects.toEqual(refusal(message));
    }
  });

  it("are read with Windows line ends, a byte order mark, and compressed", async () => {
    const text = `\ufeff{"content":"Käse"}\r\n{"content":"Brot"}\r\n`;
    const contents = async (path: string) => (await messages("jsonl", path)).map(({ content }) => content);
    expect(await contents(file("windows.jsonl", text))).toEqual(["Käse", "Brot"]);
    expect(await contents(file("packed.jsonl.gz", gzipSync(text)))).toEqual(["Käse", "Brot"]);
  });

  it("are split only at line ends, even if a chunk ends inside a character", async () => {
    const long = "ä".repeat(70_001);
    const path = file("long.jsonl", lines({ content: `x${long}` }, { content: "a\u2028b" }));
    expect((await messages("jsonl", path)).map(({ content }) => content)).toEqual([`x${long}`, "a\u2028b"]);
  });

  it("give the reason if the file cannot be read", async () => {
    await expect(read("jsonl", join(folder, "nowhere.jsonl"))).rejects.toMatchObject({ code: "unavailable" });
    await expect(read("jsonl", folder)).rejects.toEqual(refusal(/folder/));
    const cut = gzipSync(lines({ content: "a" }).repeat(100)).subarray(0, 30);
    await expect(read("jsonl", file("cut.jsonl.gz", cut))).rejects.toEqual(refusal(/truncated/));
    await expect(read("jsonl", file("not.jsonl.gz", "plain"))).rejects.toEqual(refusal(/not gzip/));
    await expect(read("jsonl", join(folder, "nowhere.jsonl.gz"))).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});

describe("LoCoMo", () => {
  const turn = (id: string, text: string, more = {}) => ({ speaker: "Ana", dia_id: id, text, ...more });
  const sample = {
    sample_id: "conv-1",
    qa: [{ question: "Who?", answer: "secret answer" }],
    conversation: {
      speaker_a: "Ana",
      speaker_b: "Bo",
      session_10_date_time: "12:05 am on 1 June, 2023",
      session_10: [turn("D10:1", "Last.")],
      session_2_date_time: "1:56 pm on 8 May, 2023",
      session_2: [turn("D2:1", "Hi!"), turn("D2:2", "Look.", { blip_caption: "a red door", query: "door" })],
      session_30_date_time: "1:00 pm on 9 June, 2023",
    },
  };

  it("becomes messages in order of sessions, with dates, names and picture captions", async () => {
    expect(await messages("locomo", file("locomo.json", [sample]))).toEqual([
      {
        id: "conv-1:D2:1",
        role: "user",
        name: "Ana",
        content: "Hi!",
        at: "2023-05-08T13:56:00.000Z",
        session: "conv-1:session_2",
      },
      {
        id: "conv-1:D2:2",
        role: "user",
        name: "Ana",
        content: "Look. [image: a red door]",
        at: "2023-05-08T13:56:01.000Z",
        session: "conv-1:session_2",
      },
      expect.objectContaining({ id: "conv-1:D10:1", at: "2023-06-01T00:05:00.000Z" }),
    ]);
  });

  it("is refused with an invalid turn or date", async () => {
    const wrongTurn = { ...sample, conversation: { ...sample.conversation, session_10: [{ text: 1 }] } };
    await expect(read("locomo", file("turn.json", [wrongTurn]))).rejects.toEqual(
      refusal(/conv-1, session_10, turn 1/),
    );
    for (const date of ["yesterday", "13:05 pm on 1 June, 2023", "1:05 pm on 31 June, 2023", undefined]) {
      const wrongDate = { ...sample, conversation: { ...sample.conversation, session_2_date_time: date } };
      await expect(read("locomo", file("date.json", [wrongDate]))).rejects.toEqual(refusal(/no valid date/));
    }
  });
});

describe("LongMemEval", () => {
  const turns = [
    { role: "user", content: "I like\u0000 tea.", has_answer: true },
    { role: "assistant", content: " " },
    { role: "assistant", content: "Noted." },
  ];
  const question = {
    question_id: "q1",
    question: "What do I like?",
    answer: "secret answer",
    haystack_session_ids: ["s1", "s2"],
    haystack_dates: ["2023/05/30 (Tue) 23:40", "2023/06/01 (Thu) 08:00"],
  };
  const official = [
    { ...question, haystack_sessions: [turns, [{ role: "user", content: "Hello." }]] },
    {
      ...question,
      haystack_session_ids: ["s1"],
      haystack_dates: ["2023/07/01 (Sat) 00:00"],
      haystack_sessions: [turns],
    },
  ];
  const expected = [
    { id: "s1:1", role: "user", content: "I like  tea.", at: "2023-05-30T23:40:00.000Z", session: "s1" },
    { id: "s1:3", role: "assistant", content: "Noted.", at: "2023-05-30T23:40:02.000Z", session: "s1" },
    { id: "s2:1", role: "user", content: "Hello.", at: "2023-06-01T08:00:00.000Z", session: "s2" },
  ];

  it("gives each session once, without answers and evidence marks", async () => {
    expect(await messages("longmemeval", file("lme.json", official))).toEqual(expected);
    expect(await messages("longmemeval", file("lme.jsonl", lines(...official)))).toEqual(expected);
  });

  it("is read from a folder with questions and sessions", async () => {
    const place = join(folder, "lme");
    mkdirSync(place);
    writeFileSync(join(place, "questions.jsonl.gz"), gzipSync(lines(question)));
    const sessions = lines(
      { session_id: "s2", turns: [{ role: "user", content: "Hello." }] },
      { session_id: "s1", turns },
    );
    writeFileSync(join(place, "sessions.jsonl.gz"), gzipSync(sessions));
    expect(await detectFormat(place)).toBe("longmemeval");
    expect(await messages("longmemeval", place)).toEqual(expected);
    expect(await messages("longmemeval", join(place, "questions.jsonl.gz"))).toEqual(expected);
    await expect(read("longmemeval", join(place, "sessions.jsonl.gz"))).rejects.toEqual(refusal(/folder/));
  });

  it("is refused if a session is missing", async () => {
    const path = file("lonely.json", [question]);
    await expect(read("longmemeval", path)).rejects.toEqual(refusal(/session s1: its turns are missing/));
  });
});

describe("a Keepsake export", () => {
  const head = { type: "keepsake", version: 1, user: "ana", exportedAt: "2024-05-01T00:00:00.000Z" };
  const message = {
    id: "m1",
    turn: 1,
    role: "user",
    content: "I like tea.",
    origin: "user_message",
    at: "2024-04-01T00:00:00.000Z",
    storedAt: "2024-04-02T00:00:00.000Z",
    digest: "done",
  };
  const memory = {
    id: "x",
    text: "The user is tall.",
    kind: "fact",
    status: "current",
    confidence: 1,
    importance: 0.5,
    at: "2024-04-01T00:00:00.000Z",
    sources: [],
  };
  const parts = [{ type: "image_url", image_url: { url: "x" } }];

  it("gives its messages as they were read, and its memories with all fields, and says what it passes over", async () => {
    const source = { message: "m1", start: 0, end: 11, quote: "I like tea.", role: "user", at: message.at };
    const learnt = { ...memory, id: "y", sources: [source], when: "2024-05", sensitive: true, evidence: 3 };
    const past = { ...memory, id: "z", status: "superseded", supersededBy: "x", validTo: "2024-04-03" };
    const path = file(
      "export.jsonl",
      lines(
        head,
        { type: "message", message },
        { type: "message", message: { ...message, id: "m2", content: "" } },
        {
          type: "message",
          message: { ...message, id: "m3", content: "", parts, agent: "a", digest: "never" },
        },
        { type: "memory", memory },
        { type: "memory", memory: learnt },
        { type: "memory", memory: past },
        {
          type: "memory",
          memory: { ...memory, id: "u", status: "retracted", action: "retracted", why: "undone" },
        },
      ),
    );
    const plain = { id: "m1", role: "user", content: "I like tea.", at: message.at };
    expect(await messages("keepsake", path)).toEqual([plain, { ...plain, id: "m3", content: parts }]);
    const entries = await read("keepsake", path);
    expect(entries.flatMap(({ state = [] }) => state)).toEqual([
      { digest: "done" },
      { agent: "a", digest: "never" },
    ]);
    expect(entries.filter((entry) => entry.message).every(({ isRead }) => isRead)).toBe(true);
    const { role: _role, at: _at, ...span } = source;
    expect(entries.flatMap((entry) => entry.memory ?? [])).toMatchObject([
      { id: "x", text: "The user is tall.", isExact: true, sources: [] },
      { id: "y", when: "2024-05", sensitive: true, evidence: 3, sources: [span] },
      { id: "z", status: "superseded", supersededBy: "x", validTo: "2024-04-03" },
    ]);
    expect(entries.flatMap(({ skipped }) => skipped ?? [])).toEqual([
      "a message whose words were erased",
      "a memory that was undone",
    ]);
  });

  it("gives its associations by the ids of memories, and says what is no association", async () => {
    const link = { from: "a", type: "depends_on", to: "b", strength: 0.5 };
    const path = file(
      "links.jsonl",
      lines(
        head,
        { type: "link", link },
        { type: "link", link: { ...link, to: "a" } },
        { type: "link", link: { ...link, type: "supersedes" } },
        { type: "link", link: { ...link, strength: 2 } },
        { type: "link", link: 1 },
      ),
    );
    const entries = await read("keepsake", path);
    expect(entries.flatMap((entry) => entry.link ?? [])).toEqual([link]);
    expect(entries.flatMap(({ skipped }) => skipped ?? [])).toEqual([
      "an association of an unknown shape",
      "an association of an unknown type",
      "an association of an unknown shape",
      "a line of an unknown shape",
    ]);
  });

  it("is refused if it has another version", async () => {
    const path = file("newer.jsonl", lines({ ...head, version: 2 }));
    await expect(read("keepsake", path)).rejects.toEqual(refusal(/supported version/));
  });
});

describe("the format of a file", () => {
  it("is detected from its content, whatever its name", async () => {
    const known: { readonly [format in ImportFormat]?: unknown } = {
      jsonl: lines({ role: "user", content: "a" }),
      keepsake: lines({ type: "keepsake", version: 1 }),
      locomo: [{ sample_id: "c", conversation: {} }],
      longmemeval: [{ haystack_session_ids: [], haystack_dates: [] }],
    };
    for (const [format, content] of Object.entries(known)) {
      expect(await detectFormat(file(`${format}.txt`, content))).toBe(format);
    }
  });

  it("is refused if it is unknown", async () => {
    for (const content of ["", " \n", "hello", "[]", "{}", '"text"', "\u0000\u0001", '[{"role":"user"}]']) {
      await expect(detectFormat(file("unknown", content))).rejects.toMatchObject({ code: "invalid_input" });
    }
    await expect(detectFormat(join(folder, "nowhere"))).rejects.toMatchObject({ code: "unavailable" });
  });
});
