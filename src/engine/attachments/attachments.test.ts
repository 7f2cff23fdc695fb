import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createInMemoryStore } from "../../adapters/memory/index.ts";
import { sniffMediaType } from "../../domain/attachment.ts";
import { createMemory } from "../../memory.ts";
import type { InputAttachment } from "../api/attachment-types.ts";
import type { Keepsake } from "../api/keepsake.ts";
import type { ScopedMemory } from "../api/scoped-memory.ts";

let keepsake: Keepsake;
let ana: ScopedMemory;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  ana = keepsake.scope({ user: "ana" });
});
afterEach(() => keepsake.close());

const code = (wanted: string): object => expect.objectContaining({ code: wanted });
const PNG = "\x89PNG\r\n\x1a\n";

/** A picture that is only its first bytes and a name: nothing here looks at what it shows. */
function picture(name: string, start = PNG): Buffer {
  return Buffer.concat([
    Buffer.from(start, "latin1"),
    Buffer.from(` the picture of ${name}, and some more `),
  ]);
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function image(name: string, description?: string): InputAttachment {
  return { type: "image", data: picture(name), ...(description ? { description } : {}) };
}

async function listed(memory: ScopedMemory = ana): Promise<(string | undefined)[]> {
  return (await memory.attachments()).items.map(({ description, id }) => description ?? id);
}

describe("an image in a message", () => {
  it("is kept by its digest and its media type, and given with its bytes to its user only", async () => {
    const said = [{ type: "text", text: "Look at my cat." }, image("cat", "My cat is called Quixote.")];
    await ana.remember({ id: "m1", role: "user", content: said }, { session: "s" });
    const id = digestOf(picture("cat"));
    const shown = {
      id,
      type: "image",
      mediaType: "image/png",
      size: picture("cat").length,
      description: "My cat is called Quixote.",
      isKept: true,
      message: "m1",
      session: "s",
    };
    expect((await ana.attachments()).items).toMatchObject([shown]);
    const { bytes, ...rest } = await ana.attachment(id);
    expect(rest).toMatchObject(shown);
    expect(Buffer.compare(bytes ?? Buffer.alloc(0), picture("cat"))).toBe(0);
    const ben = keepsake.scope({ user: "ben" });
    await ben.remember("I live in Porto.");
    await expect(ben.attachment(id)).rejects.toEqual(code("not_found"));
    expect((await ben.attachments()).total).toBe(0);
    await expect(keepsake.scope({ user: "ana", project: "other" }).attachment(id)).rejects.toEqual(
      code("not_found"),
    );
  });

  it("is learnt from and recalled by its description, which names its message", async () => {
    const said = [{ type: "text", text: "From the garden:" }, image("cat", "My cat is called Quixote.")];
    await ana.remember({ id: "m1", role: "user", content: said });
    expect((await ana.answer("What is my cat called?")).text).toContain("Quixote");
    const [memory] = (await ana.list()).items;
    const message = await ana.message(memory?.sources[0]?.message ?? "");
    expect(message.content).toBe("From the garden:\nMy cat is called Quixote.");
    expect(message.parts?.[1]).toMatchObject({ type: "image", id: digestOf(picture("cat")) });
    expect(memory?.sources[0]).toMatchObject({ attachment: digestOf(picture("cat")) });
  });

  it("takes no bytes of the message, and is stored once for two messages", async () => {
    for (const id of ["m1", "m2"]) await ana.remember({ id, role: "user", content: [image("cat")] });
    expect(await listed()).toHaveLength(2);
    const { parts } = await ana.message("m1");
    expect(JSON.stringify(parts)).not.toContain(picture("cat").toString("base64").slice(0, 20));
  });

  it("is listed in pages, by type and by session", async () => {
    const wave = { type: "audio", data: picture("wave", "RIFF1234WAVE") } as const;
    await ana.remember(
      { role: "user", content: [image("one", "one"), image("two", "two")] },
      { session: "a" },
    );
    await ana.remember({ role: "user", content: [wave, image("three", "three")] }, { session: "b" });
    expect(await listed()).toEqual(["three", digestOf(wave.data), "two", "one"]);
    const first = await ana.attachments({ limit: 3 });
    expect(first).toMatchObject({ total: 4, cursor: expect.any(String) });
    const rest = await ana.attachments({ limit: 3, cursor: first.cursor ?? "" });
    expect([rest.items.map(({ description }) => description), rest.cursor]).toEqual([["one"], undefined]);
    expect((await ana.attachments({ type: "audio" })).items).toMatchObject([{ mediaType: "audio/wav" }]);
    expect((await ana.attachments({ session: "a" })).total).toBe(2);
    await expect(ana.attachments({ cursor: "x" })).rejects.toEqual(code("invalid_input"));
    await expect(ana.attachments({ type: "video" as "image" })).rejects.toEqual(code("invalid_input"));
  });

  it("returns the first receipt for the same idempotency key, and a conflict for another image", async () => {
    const write = (name: string) =>
      ana.remember({ role: "user", content: [image(name)] }, { idempotencyKey: "k" });
    const [one, other] = [await write("cat"), await write("cat")];
    expect(other.messages).toEqual(one.messages);
    await expect(write("dog")).rejects.toEqual(code("conflict"));
    expect((await ana.attachments()).total).toBe(1);
  });
});

describe("an attachment that cannot be kept", () => {
  it.each([
    ["bytes in another format", { type: "image", data: Buffer.from("<svg onload=alert(1)></svg>") }],
    ["no bytes", { type: "image", data: new Uint8Array() }],
    ["text that is not base64", { type: "image", data: "%%%" }],
    ["a recording that is said to be an image", { type: "image", data: picture("x", "OggS") }],
    ["an address without encryption", { type: "image", url: "http://a.example/x.png" }],
    ["an address with a password", { type: "image", url: "https://a:b@a.example/x.png" }],
    ["a description that is no text", { ...image("x"), description: 7 }],
    ["a description that is too long", { ...image("x"), description: "x".repeat(16_385) }],
    ["more bytes than are accepted", { type: "image", data: picture("x".repeat(2000)) }],
  ])("is refused with its message: %s", async (_what, part) => {
    const limited = await createMemory({ path: ":memory:", attachments: { maxBytes: 1000 } });
    const scope = limited.scope({ user: "ana" });
    const content = [{ type: "text", text: "I live in Porto." }, part as InputAttachment];
    await expect(scope.remember({ role: "user", content })).rejects.toEqual(code("invalid_input"));
    expect((await scope.list()).total).toBe(0);
    await limited.close();
  });

  it("is refused in linear time if its text is white space without an end", async () => {
    const data = `${" ".repeat(4_000_000)}!`;
    await expect(ana.remember({ role: "user", content: [{ type: "image", data }] })).rejects.toEqual(
      code("invalid_input"),
    );
  });

  it("is refused if the user has no room left, and has room again after an erasure", async () => {
    const size = picture("one").length;
    const limited = await createMemory({ path: ":memory:", attachments: { maxUserBytes: size + 10 } });
    const scope = limited.scope({ user: "ana" });
    await scope.remember({ role: "user", content: [image("one")] });
    const two = () => scope.remember({ role: "user", content: [image("two")] });
    await expect(two()).rejects.toEqual(code("over_quota"));
    await scope.remember({ role: "user", content: [image("one")] });
    await limited.scope({ user: "ben" }).remember({ role: "user", content: [image("two")] });
    await scope.forget({ attachments: [digestOf(picture("one"))] });
    await two();
    expect(await listed(scope)).toEqual([digestOf(picture("two"))]);
    await limited.close();
  });

  it("is left out of a message in the shapes of other programs, and the words are kept", async () => {
    const content = [
      { type: "text", text: "I live in Porto." },
      { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PHN2Zy8+" } },
      { type: "image_url", image_url: { url: "http://a.example/x.png" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ];
    const receipt = await ana.remember({ id: "m1", role: "user", content });
    expect(receipt.memories.filter(({ action }) => action === "refused")).toHaveLength(2);
    expect((await ana.answer("Where do I live?")).text).toContain("Porto");
    expect((await ana.message("m1")).parts).toEqual([
      content[0],
      { type: "image_url", left_out: true },
      content[2],
      { type: "input_audio", left_out: true },
    ]);
    expect((await ana.attachments()).total).toBe(0);
  });

  it("is refused by a store that keeps none, unless it is an address", async () => {
    const { attachments: _attachments, ...record } = createInMemoryStore();
    const memory = await createMemory({ record });
    const scope = memory.scope({ user: "ana" });
    await expect(scope.remember({ role: "user", content: [image("cat")] })).rejects.toEqual(
      code("unsupported"),
    );
    await scope.remember({
      role: "user",
      content: [{ type: "image", url: "https://a.example/x.png", description: "My cat is called Quixote." }],
    });
    expect((await scope.attachments()).items).toMatchObject([
      { url: "https://a.example/x.png", isKept: false },
    ]);
    await scope.forget("Quixote");
    expect((await scope.attachments()).total).toBe(0);
    await memory.close();
  });
});

describe("an attachment in the shapes of other programs", () => {
  it("is kept like one of our own", async () => {
    const base64 = picture("x").toString("base64");
    const wave = picture("x", "RIFF1234WAVE").toString("base64");
    const content = [
      { type: "image_url", image_url: { url: `data:image/jpeg;base64,${base64}` } },
      { type: "input_image", image_url: "https://a.example/y.png" },
      { type: "input_audio", input_audio: { data: wave, format: "wav" } },
      {
        type: "image",
        source: { type: "base64", media_type: "image/png", data: picture("z").toString("base64") },
      },
    ];
    await ana.remember({ role: "user", content });
    expect((await ana.attachments()).items.toReversed()).toMatchObject([
      { mediaType: "image/png", isKept: true },
      { url: "https://a.example/y.png", isKept: false },
      { type: "audio", mediaType: "audio/wav", isKept: true },
      { id: digestOf(picture("z")) },
    ]);
  });
});

describe("an erasure", () => {
  const idOf = (name: string): string => digestOf(picture(name));

  it("of the words of a description removes the attachment with its bytes, and no other", async () => {
    const content = [image("cat", "My cat is called Quixote."), image("boat", "My boat is called Fulmar.")];
    await ana.remember({ id: "m1", role: "user", content });
    const plan = await ana.forget("Quixote", { dryRun: true });
    expect(plan.messages).toMatchObject([{ id: "m1", attachments: 1 }]);
    const receipt = await ana.forget("Quixote");
    expect(receipt).toMatchObject({ complete: true, erased: { attachments: 1 } });
    expect(receipt.verified).toContainEqual({ place: "attachments", found: 0 });
    expect(await listed()).toEqual(["My boat is called Fulmar."]);
    await expect(ana.attachment(idOf("cat"))).rejects.toEqual(code("not_found"));
    expect((await ana.answer("What is my boat called?")).text).toContain("Fulmar");
  });

  it("of one attachment by its id removes its description and what was learnt from it", async () => {
    const content = [
      { type: "text", text: "I live in Porto." },
      image("cat", "My cat is called Quixote."),
      image("one"),
      image("two"),
    ];
    await ana.remember({ id: "m1", role: "user", content });
    const receipt = await ana.forget({ attachments: [idOf("cat"), idOf("one")] });
    expect(receipt).toMatchObject({ complete: true, erased: { attachments: 2, memories: 1 } });
    expect(await listed()).toEqual([idOf("two")]);
    expect((await ana.list()).items.map(({ text }) => text)).toEqual(["The user lives in Porto."]);
    expect((await ana.message("m1")).content.trim()).toBe("I live in Porto.");
    await expect(ana.forget({ attachments: [idOf("cat")] })).rejects.toEqual(code("not_found"));
    await expect(ana.forget({ attachments: [] })).rejects.toEqual(code("invalid_input"));
  });

  it("of a message without words removes its attachments one by one", async () => {
    await ana.remember({ id: "m1", role: "user", content: [image("one"), image("two")] });
    expect((await ana.forget({ attachments: [idOf("one")] })).erased).toMatchObject({ attachments: 1 });
    expect(await listed()).toEqual([idOf("two")]);
    await ana.forget({ attachments: [idOf("two")] });
    expect(await listed()).toEqual([]);
    await expect(ana.message("m1")).rejects.toEqual(code("not_found"));
  });

  it("of the only described attachment of a message keeps the others, and one of its session keeps none", async () => {
    const content = [image("cat", "My cat is called Quixote."), image("one")];
    await ana.remember({ id: "m1", role: "user", content }, { session: "s" });
    await ana.forget({ attachments: [idOf("cat")] });
    expect(await listed()).toEqual([idOf("one")]);
    await ana.remember({ id: "m2", role: "user", content }, { session: "t" });
    await ana.forget({ session: "t" });
    await ana.forget({ session: "s" });
    expect(await listed()).toEqual([]);
  });

  it("keeps the bytes while another message refers to them", async () => {
    await ana.remember({ id: "m1", role: "user", content: [image("cat")] }, { session: "a" });
    await ana.remember({ id: "m2", role: "user", content: [image("cat")] }, { session: "b" });
    const first = await ana.forget({ session: "a" });
    expect([first.complete, first.erased.attachments]).toEqual([true, undefined]);
    expect((await ana.attachment(idOf("cat"))).message).toBe("m2");
    expect((await ana.forget({ session: "b" })).erased.attachments).toBe(1);
    await expect(ana.attachment(idOf("cat"))).rejects.toEqual(code("not_found"));
  });

  it("of words of a message removes the attachments that nothing describes", async () => {
    const content = [{ type: "text", text: "I live in Porto. My cat is called Quixote." }, image("cat")];
    await ana.remember({ id: "m1", role: "user", content });
    await ana.forget("Quixote");
    expect(await listed()).toEqual([]);
    expect((await ana.message("m1")).content).toContain("Porto");
  });

  it("of everything removes all attachments of the user, and nobody else's", async () => {
    const ben = keepsake.scope({ user: "ben" });
    for (const scope of [ana, ben])
      await scope.remember({ role: "user", content: [image("cat", "A cat."), image("dog")] });
    expect((await ana.forget({ everything: true })).erased.attachments).toBe(2);
    expect([(await ana.attachments()).total, (await ben.attachments()).total]).toEqual([0, 2]);
    expect((await ben.attachment(idOf("cat"))).bytes?.length).toBe(picture("cat").length);
  });

  it("is counted once for two concurrent ones, and leaves no attachment", async () => {
    await ana.remember({ role: "user", content: [image("cat", "My cat is called Quixote.")] });
    const receipts = await Promise.all([ana.forget("Quixote"), ana.forget({ everything: true })]);
    expect(receipts.map(({ erased }) => erased.attachments ?? 0).toSorted()).toEqual([0, 1]);
    expect(await listed()).toEqual([]);
  });
});

describe("an export", () => {
  it("has the bytes, and an import stores them again, also after an erasure of other words", async () => {
    const content = [
      { type: "text", text: "I live in Porto. I work at Vantor." },
      image("cat", "My cat is called Quixote."),
      { type: "image", url: "https://a.example/x.png" } as const,
    ];
    await ana.remember({ id: "m1", role: "user", content });
    await ana.forget("Vantor");
    const lines: string[] = [];
    for await (const line of ana.export()) lines.push(JSON.stringify(line));
    const eva = keepsake.scope({ user: "eva" });
    const source = (async function* () {
      yield Buffer.from(lines.join("\n"));
    })();
    for await (const _ of eva.import(source, { format: "keepsake" }));
    const [before, after] = [await ana.message("m1"), await eva.message("m1")];
    // Where words were cut out, the space between the rest may differ.
    const wordsOf = ({ content: words }: { content: string }) => words.split(/\s+/);
    expect([wordsOf(after), after.parts]).toEqual([wordsOf(before), before.parts]);
    const { bytes } = await eva.attachment(digestOf(picture("cat")));
    expect(bytes?.length).toBe(picture("cat").length);
    expect((await eva.answer("What is my cat called?")).text).toContain("Quixote");
  });
});

it("an image of some megabytes comes back by an export and an import, as a stream and as the same bytes", async () => {
  const data = Buffer.concat([Buffer.from(PNG, "latin1"), Buffer.alloc(6_000_000, "a picture ")]);
  await ana.remember({ id: "m1", role: "user", content: [{ type: "image", data }] });
  const lines: string[] = [];
  for await (const line of ana.export()) lines.push(JSON.stringify(line));
  const eva = keepsake.scope({ user: "eva" });
  const source = (async function* () {
    for (const line of lines) yield Buffer.from(`${line}\n`);
  })();
  for await (const _ of eva.import(source, { format: "auto" }));
  const { bytes } = await eva.attachment(digestOf(data));
  expect(Buffer.compare(bytes ?? Buffer.alloc(0), data)).toBe(0);
});

it("media types are told by the first bytes, whatever follows", () => {
  const told: [string, string][] = [
    [PNG, "image/png"],
    ["\xff\xd8\xff\xe0", "image/jpeg"],
    ["GIF89a", "image/gif"],
    ["RIFF\x00\x01\x02\x03WEBP", "image/webp"],
    ["RIFF\x00\x01\x02\x03WAVE", "audio/wav"],
    ["ID3\x04", "audio/mpeg"],
    ["\xff\xfb\x90", "audio/mpeg"],
    ["OggS", "audio/ogg"],
    ["\x1aE\xdf\xa3", "audio/webm"],
    ["\x00\x00\x00\x20ftypM4A ", "audio/mp4"],
  ];
  for (const [start, type] of told) expect(sniffMediaType(picture("x", start))).toBe(type);
  for (const start of ["<html>", "%PDF-1.7", "RIFF1234AVI ", "GIF90a", "\x00\x00\x00\x20ftypqt  ", ""])
    expect(sniffMediaType(Buffer.from(start, "latin1"))).toBeUndefined();
});
