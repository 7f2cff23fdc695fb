import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toStorableText } from "../../src/domain/limits.ts";
import { BROKEN_TEXTS, NO_JSON, ODD_TEXTS } from "./corpus.ts";
import { type HttpSurface, surface } from "./surface.ts";

let here: HttpSurface;
beforeAll(async () => {
  here = await surface();
});
afterAll(() => here.close());

const problemIn = (text: string): { code: string; detail: string } => JSON.parse(text);

describe("texts that programs stumble over", () => {
  it("come back as they were sent: as a memory, as its metadata, and as the name of a user and of a session", async () => {
    for (const text of ODD_TEXTS) {
      const user = text.slice(0, 100).trim();
      const field = user.startsWith("$") || user === "__proto__" ? `f${user}` : user;
      const body = JSON.stringify({
        user_id: user,
        content: text,
        metadata: JSON.parse(
          `{${JSON.stringify(field)}:${JSON.stringify(text)},"plain":${JSON.stringify(text)}}`,
        ),
      });
      const made = await here.send({ path: "/api/v1/memories", body });
      expect([text, made.status]).toEqual([text, 201]);
      const { id } = JSON.parse(made.text) as { id: string };
      const path = `/api/v1/memories/${encodeURIComponent(user)}/${id}`;
      const read = JSON.parse((await here.send({ method: "GET", path })).text);
      expect(read).toMatchObject({ user_id: user, content: text });
      expect(Object.entries(read.metadata)).toEqual(
        expect.arrayContaining([
          [field, text],
          ["plain", text],
        ]),
      );

      const messages = [{ role: "user", content: text, session_id: user }];
      const said = await here.send({
        path: "/api/v1/messages",
        body: JSON.stringify({ user_id: user, messages }),
      });
      expect([text, said.status]).toEqual([text, 201]);
    }
  });

  it("can be searched for, and asked about, without an error", async () => {
    for (const text of ODD_TEXTS) {
      for (const path of [
        "/api/v1/memories/ana/search",
        `/api/v1/memories/ana/search?${new URLSearchParams({ query: text })}`,
      ]) {
        const body = path.includes("?") ? undefined : JSON.stringify({ query: text, explain: true });
        const found = await here.send({ path, ...(body === undefined ? {} : { body }) });
        expect([text, found.status]).toEqual([text, 200]);
      }
      const said = await here.send({
        path: "/api/v1/conversation",
        body: JSON.stringify({ user_id: "ana", message: text }),
      });
      expect([text, said.status]).toEqual([text, 200]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each(BROKEN_TEXTS)("that hold %s are refused by name, in every place", async (_what, json) => {
    const bodies = [
      ["/api/v1/memories", `{"user_id":"ana","content":${json}}`],
      ["/api/v1/memories", `{"user_id":${json},"content":"A word."}`],
      [
        "/api/v1/messages",
        `{"user_id":"ana","session_id":${json},"messages":[{"role":"user","content":"A word."}]}`,
      ],
      ["/api/v1/memories/ana/search", `{"query":${json}}`],
      ["/api/v1/context", `{"user_id":"ana","request":${json}}`],
      ["/api/v1/erasures", `{"user_id":"ana","ids":[${json}]}`],
      ["/api/v1/keys", `{"label":${json}}`],
    ] as const;
    for (const [path, body] of bodies) {
      const { status, text } = await here.send({ path, body });
      // No thing has such an id: then it is one that is not there.
      const isId = path.endsWith("/erasures");
      expect([path, status, problemIn(text).code]).toEqual([
        path,
        ...(isId ? [404, "not_found"] : [400, "invalid_input"]),
      ]);
      if (!isId) expect(problemIn(text).detail).toMatch(/is empty|control characters|well-formed/);
    }
  });
});

describe("messages", () => {
  it.each(BROKEN_TEXTS)(
    "that hold %s are stored with what can be stored, beside the others of their batch",
    async (what, json) => {
      const body = `{"user_id":"bea","messages":[{"role":"user","content":"My cat is called Tom."},{"role":"user","content":${json}}]}`;
      const { status, text } = await here.send({ path: "/api/v1/messages", body });
      const { messages, memories } = JSON.parse(text);
      const isBlank = toStorableText(JSON.parse(json)).text.trim() === "";
      expect([what, status, messages.length]).toEqual([what, 201, isBlank ? 1 : 2]);
      expect(memories).toContainEqual(
        expect.objectContaining({
          action: "refused",
          why: expect.stringMatching(isBlank ? /without words/ : /cannot be stored/),
        }),
      );
      const said = await here.send({
        path: "/api/v1/conversation",
        body: `{"user_id":"bea","message":${json}}`,
      });
      expect([what, said.status]).toEqual([what, isBlank ? 400 : 200]);
      const simple = await here.send({ path: "/message", body: `{"userId":"bea","message":${json}}` });
      expect([what, simple.status]).toEqual([what, isBlank ? 400 : 200]);
    },
  );
});

describe("bodies that are no JSON", () => {
  it("are refused, all of them", async () => {
    for (const body of NO_JSON) {
      const { status, text } = await here.send({ path: "/api/v1/memories", body });
      expect([body.slice(0, 40), status]).toEqual([body.slice(0, 40), 400]);
      expect(problemIn(text).code).toBe("invalid_input");
    }
  });

  it("are refused where they are no UTF-8, and where they are packed", async () => {
    const bytes = [
      [0xff, 0xfe, 0x7b, 0x7d],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22],
    ];
    for (const one of bytes) {
      const { status } = await here.send({ path: "/api/v1/memories", body: Uint8Array.from(one) });
      expect(status).toBe(400);
    }
    // A megabyte of a packed text is a gigabyte of text: nothing here unpacks it.
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20));
    const headers = { "content-encoding": "gzip" };
    const { status } = await here.send({ path: "/api/v1/memories", body: bomb, headers });
    expect([400, 415]).toContain(status);
  });
});

describe("values that JSON can say and nobody means", () => {
  const add = (fields: string) =>
    here.send({ path: "/api/v1/memories", body: `{"user_id":"ana","content":"A word.",${fields}}` });

  it.each([
    ["a number beyond all", '"confidence":1e400'],
    ["a share above one", '"confidence":1.0000001'],
    ["a turn that is no whole number", '"source_turn":1.5'],
    ["a turn below nothing", '"source_turn":-1'],
    ["a turn beyond the safe numbers", '"source_turn":9007199254740993'],
    ["a field that is not known", '"polluted":true'],
    ["a prototype", '"__proto__":{"polluted":true}'],
    ["a constructor", '"constructor":{"prototype":{"polluted":true}}'],
    ["metadata in metadata", '"metadata":{"a":{"b":1}}'],
    ["metadata that is a list", '"metadata":[]'],
    ["a date that is a number", '"expires_at":1767225600'],
    ["a month of thirteen", '"valid_from":"2026-13-01"'],
  ])("as %s are refused", async (_what, fields) => {
    expect((await add(fields)).status).toBe(400);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("as a prototype in metadata are refused, and not dropped without a word; a constructor is a name", async () => {
    const { status, text } = await add('"metadata":{"a":[{"__proto__":"x"}]}');
    expect([status, problemIn(text).detail]).toEqual([400, expect.stringContaining("__proto__")]);
    expect((await add('"metadata":{"__proto__":"x"}')).status).toBe(400);
    expect(JSON.parse((await add('"metadata":{"constructor":"y"}')).text).metadata).toEqual({
      constructor: "y",
    });
  });

  it("as minus nothing, or a name that comes twice, are taken as JavaScript takes them", async () => {
    const { status, text } = await add('"confidence":-0,"importance":0.1,"importance":0.2');
    expect([status, JSON.parse(text).confidence, JSON.parse(text).importance]).toEqual([201, 0, 0.2]);
  });
});

describe("sizes", () => {
  const memory = (bytes: number) =>
    here.send({
      path: "/api/v1/memories",
      body: JSON.stringify({ user_id: "big", content: "word ".repeat(bytes / 5) }),
    });

  it.each([
    [65_536, 201],
    [999_995, 201],
    [1_000_005, 400],
    [1_048_576, 413],
    [3_000_000, 413],
  ])("of %i bytes are answered with %i", async (bytes, status) => {
    expect((await memory(bytes)).status).toBe(status);
  });

  it("that are not said beforehand are measured as they come, and read no further than they may be", async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    expect((await here.send({ path: "/api/v1/memories", body: endless })).status).toBe(413);
    expect(pulled).toBeLessThan(2_000_000);
  });
});
