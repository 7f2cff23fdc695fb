import { afterAll, describe, expect, it } from "vitest";
import type { ImportEntry } from "../../engine/api/transfer-types.ts";
import { readImportFile } from "../index.ts";
import { collect, createImportFolder, memoriesOf, skippedOf, textsOf } from "./__fixtures__/import-files.ts";

const { file, remove } = createImportFolder();
afterAll(remove);

describe("a file of another kind", () => {
  it("is refused with what to do", async () => {
    const refused: readonly (readonly [string | Buffer, RegExp])[] = [
      [Buffer.from("PK\u0003\u0004rest of the archive"), /unpack it/],
      ['[{"mapping": {}}', /truncated|not valid/],
      ['[{"mapping": {}} {"mapping": {}}]', /not valid JSON/],
      ['[{"mapping": {}}] more', /more after/],
    ];
    for (const [content, message] of refused) {
      const path = file(content);
      await expect(collect(readImportFile(path))).rejects.toThrow(message);
    }
  });

  it("is read from a stream of single bytes in a time that grows with its length only", {
    timeout: 30_000,
  }, async () => {
    const long = "x".repeat(400_000);
    const source = (async function* () {
      for (const byte of Buffer.from(JSON.stringify([{ memory: long }]))) yield Uint8Array.of(byte);
    })();
    const [entry] = await collect(readImportFile(source, "mem0"));
    expect(entry?.memory?.text.length).toBe(long.length);
  });

  it("has an element that is too large for a server passed over, and the others read", async () => {
    const conversation = (uuid: string, text: string) => ({
      uuid,
      chat_messages: [{ uuid, sender: "human", text, content: [] }],
    });
    const large = "x".repeat(900_000);
    const huge = { ...conversation("b", "Hi."), other: Array.from({ length: 5 }, () => large) };
    const graph = (id: string, more: object = {}) => ({
      id,
      mapping: { a: { message: { author: { role: "user" }, content: { parts: ["Hi."] } } } },
      ...more,
    });
    for (const content of [
      [huge, conversation("a", "Hi.")],
      [graph("b", { other: huge.other }), graph("a")],
    ]) {
      const bytes = Buffer.from(JSON.stringify(content));
      const source = (async function* () {
        for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      })();
      const entries = await collect(readImportFile(source, "auto"));
      expect(textsOf(entries)).toEqual(["Hi."]);
      expect(skippedOf(entries)).toEqual([
        "a conversation of more than 4 MB; the command line and the library read larger ones",
      ]);
    }
  });

  describe("with an element that is too large for a server", () => {
    const LARGE = Array.from({ length: 5 }, () => "x".repeat(900_000));
    const HINT = "of more than 4 MB; the command line and the library read larger ones";
    const said = (id: number, more: object = {}) => ({ id, type: "message", text: "Hi.", ...more });
    const memory = (text: string, more: object = {}) => ({ id: text, memory: text, ...more });
    const block = (value: string, more: object = {}) => ({ label: "human", value, ...more });
    const pam = (content: string, more: object = {}) => ({ id: content, type: "fact", content, ...more });
    const PAM = { schema: "portable-ai-memory", schema_version: "1.0" };
    const PAM_TALK = { schema: "portable-ai-memory-conversation", schema_version: "1.0", id: "c" };
    const line = (more: object = {}) => ({ role: "user", content: { text: "Hi." }, ...more });

    const readSlowly = (content: object): Promise<ImportEntry[]> => {
      const bytes = Buffer.from(JSON.stringify(content));
      const source = (async function* () {
        for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      })();
      return collect(readImportFile(source, "auto"));
    };

    it.each([
      ["mem0", [memory("Tea", { other: LARGE }), memory("Hi.")], "a memory"],
      ["mem0, in a field", { results: [memory("Tea", { other: LARGE }), memory("Hi.")] }, "a memory"],
      [
        "Telegram",
        { name: "Tea", type: "personal_chat", id: 1, messages: [said(1, { other: LARGE }), said(2)] },
        "a message",
      ],
      [
        "Letta",
        { agent_type: "memgpt_agent", core_memory: [block("Tea", { other: LARGE }), block("Hi.")] },
        "a block",
      ],
      [
        "Letta, of messages",
        {
          agent_type: "memgpt_agent",
          core_memory: [],
          messages: [
            { ...said(1), role: "user", other: LARGE },
            { ...said(2), role: "user" },
          ],
        },
        "a message",
      ],
      ["PAM", { ...PAM, memories: [pam("Tea", { other: LARGE }), pam("Hi.")] }, "a memory"],
      ["PAM, of a conversation", { ...PAM_TALK, messages: [line({ other: LARGE }), line()] }, "a message"],
    ])("has it passed over and the others read: %s", async (_format, content, what) => {
      const entries = await readSlowly(content);
      expect(
        entries.flatMap(({ memory, message }) => [memory?.text ?? message?.content].filter(Boolean)),
      ).toEqual(["Hi."]);
      expect(skippedOf(entries)).toEqual([`${what} ${HINT}`]);
    });

    it("is refused if it is a PAM with a checksum, which covers the element", async () => {
      const integrity = { checksum: "sha256:00", total_memories: 2 };
      const content = { ...PAM, integrity, memories: [pam("Tea", { other: LARGE }), pam("Hi.")] };
      await expect(readSlowly(content)).rejects.toThrow("the checksum of the file cannot be checked");
    });

    it("keeps the ids of the messages after it", async () => {
      const ids = async (more: object): Promise<readonly (string | undefined)[]> => {
        const messages = [line({ ...more, role: "assistant" }), line({ created_at: "2024-01-01T00:00:00Z" })];
        return (await readSlowly({ ...PAM_TALK, messages })).flatMap(({ message }) => message?.id ?? []);
      };
      expect(await ids({ other: LARGE })).toEqual((await ids({})).slice(1));
    });
  });

  it("is recognised and read from a stream in pieces of any size", async () => {
    const bytes = Buffer.from(JSON.stringify([{ memory: "Likes tea" }, { memory: 'Says "hë\\llo"' }]));
    for (const size of [1, 2, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_one, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const entries = await collect(readImportFile(ReadableStream.from(pieces) as AsyncIterable<Uint8Array>));
      expect(memoriesOf(entries).map(({ text }) => text)).toEqual(["Likes tea", 'Says "hë\\llo"']);
    }
  });
});
