import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import type { ScopedMemory } from "../../engine/api/scoped-memory.ts";
import type { ExportedPiece, ImportEntry } from "../../engine/api/transfer-types.ts";
import { createMemory } from "../../memory.ts";
import { detectFormat, readImportFile } from "../index.ts";
import { hashContent } from "../pam-export.ts";
import { decodeMultibaseKey, encodeMultibaseKey } from "./multibase-key.ts";
import { canonicalize } from "./pam.ts";

let folder: string;
let keepsake: Keepsake;
let ana: ScopedMemory;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-pam-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock: () => new Date("2026-03-01T12:00:00.5Z") });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

/** Gives all values of an iteration. */
async function collect<One>(values: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = [];
  for await (const one of values) all.push(one);
  return all;
}

/** Writes the files of an export into a new folder; gives its path. */
function save(name: string, pieces: readonly ExportedPiece[]): string {
  const place = join(folder, name);
  for (const { path, text } of joinPieces(pieces)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

/** The files of an export, whole. */
function joinPieces(pieces: readonly ExportedPiece[]): ExportedPiece[] {
  const files = new Map<string, string>();
  for (const { path, text } of pieces) files.set(path, (files.get(path) ?? "") + text);
  return [...files].map(([path, text]) => ({ path, text }));
}

const exportPam = async (): Promise<ExportedPiece[]> =>
  joinPieces(await collect(ana.exportFiles({ format: "pam" })));

type Json = { readonly [field: string]: unknown };

/** A store of the documented shape, made by hand; what a checksum covers may be changed. */
function pamStore(memories: readonly Json[], more: Json = {}): string {
  return JSON.stringify({
    schema: "portable-ai-memory",
    schema_version: "1.0",
    owner: { id: "ana" },
    memories,
    ...more,
  });
}

const OTHER = {
  id: "0190b5c0-0000-4000-8000-000000000001",
  type: "skill",
  status: "deprecated",
  content: "Ana  speaks Dutch.",
  content_hash: hashContent("Ana  speaks Dutch."),
  summary: "Dutch",
  tags: ["language"],
  confidence: {
    initial: 0.9,
    current: 0.5,
    decay_model: "time_linear",
    last_reinforced: "2025-02-01T00:00:00Z",
  },
  temporal: {
    created_at: "2025-01-01T00:00:00Z",
    updated_at: "2025-03-01T00:00:00Z",
    valid_from: "2024-01-01T00:00:00Z",
  },
  provenance: { platform: "chatgpt", conversation_ref: "c9", extraction_method: "llm_inference" },
  access: {
    visibility: "shared",
    exportable: true,
    shared_with: [{ entity: "work", permissions: ["read"] }],
  },
  metadata: { language: "en", domain: "personal", own: { a: 1 } },
};
const memoriesOf = (entries: readonly ImportEntry[]) => entries.flatMap(({ memory }) => memory ?? []);
const read = (text: string) => {
  const path = join(folder, "store.json");
  writeFileSync(path, text);
  return collect(readImportFile(path));
};

describe("a Portable AI Memory", () => {
  it("gives each type of memory a kind, and each status one of ours", async () => {
    const types = [
      "fact",
      "preference",
      "skill",
      "context",
      "relationship",
      "goal",
      "instruction",
      "identity",
    ];
    const all = [...types, "environment", "project"].map((type, i) => ({
      ...OTHER,
      id: `${type}-${i}`,
      type,
    }));
    const custom = [
      { ...OTHER, id: "e", type: "custom", custom_type: "event", status: "retracted" },
      { ...OTHER, id: "c", type: "custom", custom_type: "clearance", status: "archived" },
      { ...OTHER, id: "s", status: "superseded", temporal: { ...OTHER.temporal, superseded_by: "e" } },
    ];
    const memories = memoriesOf(await read(pamStore([...all, ...custom])));
    expect(memories.map(({ kind }) => kind)).toEqual([
      "fact",
      "preference",
      "fact",
      "context",
      "entity",
      "commitment",
      "instruction",
      "fact",
      "fact",
      "context",
      "event",
      "fact",
      "fact",
    ]);
    expect(memories.slice(-3).map(({ status }) => status)).toEqual(["retracted", "retracted", "superseded"]);
    expect(memories.at(-1)?.supersededBy).toBe(memories.at(-3)?.id);
    expect(memories[0]).toMatchObject({ at: "2025-01-01T00:00:00.000Z", confidence: 0.5 });
  });

  it("of another program comes out as it went in", async () => {
    const relation = {
      id: "r",
      from: OTHER.id,
      to: "b",
      type: "extends",
      confidence: 0.25,
      created_at: "2025-01-01T00:00:00Z",
    };
    const second = {
      ...OTHER,
      id: "b",
      type: "custom",
      custom_type: "clearance",
      content: "Level 2.",
      content_hash: hashContent("Level 2."),
    };
    const path = join(folder, "other.json");
    writeFileSync(path, pamStore([OTHER, second], { relations: [relation] }));
    await collect(ana.import(path, { format: "auto" }));
    const [piece] = await exportPam();
    const store = JSON.parse(piece?.text ?? "") as { memories: Json[]; relations: Json[] };
    const plain = store.memories.map(({ metadata, ...memory }) => {
      const { keepsake: _own, ...kept } = metadata as Json;
      return { ...memory, metadata: kept };
    });
    const id = store.memories[1]?.id;
    expect(plain).toEqual([OTHER, { ...second, id }]);
    expect(store.relations).toMatchObject([{ from: OTHER.id, to: id, type: "extends", confidence: 0.25 }]);
  });

  it("is refused before anything of it is given, if its checksum or its signature does not fit", async () => {
    await ana.remember("I live in Porto.");
    const [piece] = await exportPam();
    const text = piece?.text ?? "";
    expect(memoriesOf(await read(text))).toHaveLength(1);
    await expect(read(text.replace("lives in Porto", "lives in Ghent"))).rejects.toThrow(/checksum/);
    await expect(read(text.replace('"id": "ana"', '"id": "bo"'))).rejects.toThrow(/signature/);
    await expect(read(pamStore([OTHER]).replace('"1.0"', '"2.0"'))).rejects.toThrow(/version/);
  });

  it("has its signature checked without an integrity block, and one of another kind reported", async () => {
    await ana.remember("I live in Porto.");
    const [piece] = await exportPam();
    const { integrity: _integrity, ...store } = JSON.parse(piece?.text ?? "") as Json;
    expect(memoriesOf(await read(JSON.stringify(store)))).toHaveLength(1);
    const changed = JSON.stringify(store).replace("lives in Porto", "lives in Ghent");
    await expect(read(changed)).rejects.toThrow(/signature/);
    for (const signature of [{ algorithm: "RS256", value: "x" }, "x"]) {
      const entries = await read(JSON.stringify({ ...store, signature }));
      expect(memoriesOf(entries)).toHaveLength(1);
      expect(entries.flatMap(({ skipped }) => skipped ?? [])).toEqual([
        "a signature that is not checked, because it is of another kind than Ed25519",
      ]);
    }
  });

  it("names the files of conversations only where they are written", async () => {
    await ana.remember("I live in Porto.", { session: "s" });
    const indexOf = (text = "") => (JSON.parse(text) as { conversations_index: Json[] }).conversations_index;
    const [whole] = await exportPam();
    expect(indexOf(whole?.text)).toMatchObject([{ id: "s", storage: { ref: "conversations/000001.json" } }]);
    const pieces = await collect(ana.exportFiles({ format: "pam", conversations: false }));
    const alone = joinPieces(pieces);
    expect(alone.map(({ path }) => path)).toEqual(["memory-store.json"]);
    const [entry] = indexOf(alone[0]?.text);
    expect(entry).toMatchObject({ id: "s", message_count: 1 });
    expect(entry).not.toHaveProperty("storage");
  });

  it("gives messages of other programs ids that are their own, in each conversation and without an id", async () => {
    const place = join(folder, "foreign");
    mkdirSync(join(place, "conversations"), { recursive: true });
    writeFileSync(join(place, "memory-store.json"), pamStore([]));
    const uuid = "0190b5c0-0000-4000-8000-00000000000a";
    const message = (id: unknown, text: string) => ({ id, role: "user", content: { type: "text", text } });
    for (const [name, said] of [
      ["a", "One."],
      ["b", "Two."],
    ] as const) {
      const messages = [message("1", said), message(undefined, said), message(undefined, said)];
      const file = {
        schema: "portable-ai-memory-conversation",
        id: name,
        messages: name === "a" ? [...messages, message(uuid, "Three.")] : messages,
      };
      writeFileSync(join(place, "conversations", `${name}.json`), JSON.stringify(file));
    }
    const entries = await collect(readImportFile(place));
    const ids = entries.flatMap(({ message: one }) => one?.id ?? []);
    expect(new Set(ids).size).toBe(7);
    expect(ids).toEqual(expect.arrayContaining(["pam:a:1", "pam:b:1", uuid]));
    expect(ids.join()).not.toContain("undefined");
    expect((await collect(readImportFile(place))).flatMap(({ message: one }) => one?.id ?? [])).toEqual(ids);
  });

  it("of Keepsake goes out and in again equal: memories, relations and conversations", async () => {
    await ana.remember({
      role: "user",
      content: "I live in Porto.",
      id: "1",
      session: "s",
      at: "2025-01-01T00:00:00.25+01:00",
    });
    await ana.remember({
      role: "user",
      content: "I live in Ghent now.",
      id: "2",
      metadata: { mood: "fine" },
    });
    await ana.remember([{ role: "assistant", content: "Noted.", id: "3", name: "Sam" }]);
    const { memories } = await ana.add({ text: "Ana trains on Mondays.", kind: "event", importance: 0.9 });
    const home = (await collect(ana.list())).find(({ text }) => text.includes("Ghent"));
    await ana.link(memories[0]?.id ?? "", home?.id ?? "", { strength: 0.5, type: "extends" });
    const pieces = await exportPam();
    const place = save("bundle", pieces);
    expect(await detectFormat(place)).toBe("pam");

    const other = await createMemory({ path: ":memory:" });
    try {
      const copy = other.scope({ user: "ana" });
      const last = (await collect(copy.import(place, { format: "auto" }))).at(-1);
      expect(last).toMatchObject({ stored: 3, memories: pieces.length > 0 ? 3 : 0 });
      const again = joinPieces(await collect(copy.exportFiles({ format: "pam" })));
      expect(toComparable(again)).toEqual(toComparable(pieces));
      expect((await collect(copy.import(place, { format: "auto" }))).at(-1)).toMatchObject({
        stored: 0,
        memories: 0,
      });
    } finally {
      await other.close();
    }
  });
});

/** The files of an export without what names the export itself. */
function toComparable(pieces: readonly ExportedPiece[]): unknown {
  return pieces.map(({ path, text }) => {
    const {
      export_id: _id,
      export_date: _date,
      signature: _signed,
      integrity: _hash,
      ...file
    } = JSON.parse(text);
    const memories = (file.memories ?? []) as Json[];
    const relations = ((file.relations ?? []) as Json[]).map(({ created_at: _at, ...one }) => one);
    return {
      path,
      ...file,
      relations,
      memories: memories.toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
    };
  });
}

describe("the parts of Portable AI Memory", () => {
  it("hash texts without regard to case, spaces and the form of letters", () => {
    const expected = `sha256:${createHash("sha256").update("käse und brot").digest("hex")}`;
    for (const text of [" Käse  und\nBrot ", "KA\u0308SE und brot"]) expect(hashContent(text)).toBe(expected);
  });

  it("write canonical JSON: fields in order, no spaces, numbers as ECMAScript writes them", () => {
    expect(canonicalize({ b: [1.0, 1e21, -0], a: { 10: "é\n", 2: null }, c: undefined })).toBe(
      '{"a":{"10":"é\\n","2":null},"b":[1,1e+21,0]}',
    );
  });

  it("encode Ed25519 keys as did:key does, and decode them and plain ones", () => {
    const key = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
    const text = encodeMultibaseKey(key);
    expect(text).toMatch(/^z6Mk/);
    expect(decodeMultibaseKey(text)).toEqual(key);
    expect(decodeMultibaseKey(key.toString("base64url"))).toEqual(key);
    for (const wrong of ["z0", "z6Mk", "", 1, "z".repeat(200)])
      expect(decodeMultibaseKey(wrong)).toBeUndefined();
  });
});

describe("an export as Markdown", () => {
  it("lists current memories by topic, newest first, and what no longer holds", async () => {
    await ana.remember("I am allergic to nuts. I have a dog. I live in Porto.");
    await ana.remember("I live in Ghent now.");
    await ana.add({ text: "Likes <b>bold</b> *words*" });
    const [head, ...sections] = await collect(ana.exportFiles({ format: "markdown" }));
    expect(head).toMatchObject({ path: "memories.md", text: expect.stringMatching(/^# ana\n/) });
    const text = sections.map((one) => one.text).join("");
    expect(text).toMatch(/## Health\n\n\* The user is allergic to nuts\. \(2026-03-01\)/);
    expect(text).toMatch(/## No longer so\n\n\* The user lives in Porto\./);
    expect(text).toContain("Likes \\<b\\>bold\\</b\\> \\*words\\*");
  });
});
