import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../src/engine/api/keepsake.ts";
import { keysFile, type Served, type ServeOptions, serve } from "../../src/http/index.ts";
import { createKeyManagement } from "../../src/http/keys/key-management.ts";
import { createMemory } from "../../src/memory.ts";

const clock = () => new Date();
let folder: string;
let path: string;
let keepsake: Keepsake;
let served: Served;

async function start(options: Partial<ServeOptions> = {}): Promise<void> {
  keepsake = await createMemory({ path });
  served = await serve({ keepsake, clock, port: 0, keysPath: `${path}.keys.json`, ...options });
}

async function stop(): Promise<void> {
  await served.close();
  await keepsake.close();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keepsake-http-"));
  path = join(folder, "memory.db");
  await start();
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would.
  readonly json: any;
}

async function call(method: string, where: string, body?: unknown, key = served.firstKey): Promise<Answer> {
  const response = await fetch(`${served.url}${where}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: await response.json() };
}

/** Every byte of every file beside the database. */
const bytesOf = (place: string): string =>
  readdirSync(place)
    .map((file) => readFileSync(join(place, file), "latin1"))
    .join("\n");

describe("the story, over HTTP", () => {
  it("a fact is learnt, answered in a new conversation, changed, and forgotten everywhere", async () => {
    const say = async (message: string, session: string): Promise<Answer["json"]> =>
      (await call("POST", "/api/v1/conversation", { user_id: "ana", message, session_id: session })).json;

    const told = await say("I use Shram and Magnet as productivity tools.", "one");
    expect(told.receipt.memories.map((line: { action: string }) => line.action)).toEqual(["added", "added"]);

    const asked = await say("What are the productivity tools that I use?", "two");
    expect(asked.reply).toBe("You use Shram and Magnet.");
    expect(asked.memories_used).toHaveLength(2);

    const changed = await say("I don't use Magnet anymore.", "two");
    expect(changed.receipt.memories).toMatchObject([{ action: "superseded" }]);
    expect((await say("What are the productivity tools that I use?", "three")).reply).toBe("You use Shram.");

    const forgotten = await say("Forget that I ever mentioned Magnet.", "three");
    expect(forgotten.receipt.erasures).toMatchObject([{ complete: true, erased: { memories: 1 } }]);
    expect((await say("What are the productivity tools that I use?", "four")).reply).toBe("You use Shram.");

    const [receipt] = forgotten.receipt.erasures;
    expect((await call("GET", `/api/v1/erasures/${receipt.id}`)).json).toEqual(receipt);
    const list = (await call("GET", "/api/v1/memories/ana?status=all")).json;
    expect(JSON.stringify(list)).not.toContain("Magnet");
    expect(bytesOf(folder).toLowerCase()).not.toContain("magnet");
  });

  it("goes with the two simple calls as well", async () => {
    const message = async (text: string): Promise<string> =>
      (await call("POST", "/message", { userId: "ana", message: text })).json.reply;
    await message("I use Shram and Magnet as productivity tools.");
    expect(await message("What are the productivity tools that I use?")).toBe("You use Shram and Magnet.");
    await message("I don't use Magnet anymore.");
    expect(await message("What are the productivity tools that I use?")).toBe("You use Shram.");
    const { status, json } = await call("POST", "/forget", {
      userId: "ana",
      message: "Forget that I ever mentioned Magnet.",
    });
    expect([status, json.reply]).toEqual([200, expect.stringMatching(/^Forgotten: 1 memory/)]);
    expect(bytesOf(folder).toLowerCase()).not.toContain("magnet");
  });

  it("is still there after a restart, and the first key with it", async () => {
    const key = served.firstKey;
    await call("POST", "/message", { userId: "ana", message: "I use Shram as a productivity tool." });
    await stop();
    await start();
    expect(served.firstKey).toBeUndefined();
    const { json } = await call(
      "POST",
      "/message",
      { userId: "ana", message: "What productivity tool do I use?" },
      key,
    );
    expect(json.reply).toBe("You use Shram.");
  });
});

describe("a running server", () => {
  it("keeps no key in any file, and its own files to their owner", async () => {
    await call("GET", "/api/v1/ready");
    const secret = served.firstKey?.split("_").slice(2).join("_") ?? "";
    expect(secret).toHaveLength(43);
    expect(bytesOf(folder)).not.toContain(secret);
    const modes = readdirSync(folder).map((file) => statSync(join(folder, file)).mode & 0o077);
    expect(modes).toEqual(modes.map(() => 0));
  });

  it("gives the link that signs the page in, with the key where no server sees it", () => {
    expect(served.signInUrl).toBe(`${served.url}/#key=${served.firstKey}`);
  });

  it("takes the key that it is given", async () => {
    await stop();
    await start({ apiKey: "a-key-of-my-own-0123456789" });
    expect(served.signInUrl).toBeUndefined();
    expect((await call("GET", "/api/v1/ready", undefined, "a-key-of-my-own-0123456789")).status).toBe(200);
    expect((await call("GET", "/api/v1/ready", undefined, "another-one")).status).toBe(401);
  });

  it("listens on this machine alone", () => {
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it("does not listen where others could reach it as long as there is no key", async () => {
    const keysPath = join(folder, "other.keys.json");
    const open = { keepsake, clock, port: 0, host: "0.0.0.0", keysPath };
    await expect(serve(open)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("keepsake keys create"),
    });
    expect(readdirSync(folder)).not.toContain("other.keys.json");
    const { key } = createKeyManagement(keysFile(keysPath), clock).create();
    for (const options of [
      open,
      { ...open, keysPath: `${keysPath}.none`, apiKey: "a-key-of-my-own-0123456789" },
    ]) {
      const other = await serve(options);
      const headers = { authorization: `Bearer ${options === open ? key : "a-key-of-my-own-0123456789"}` };
      expect((await fetch(`${other.url}/api/v1/ready`, { headers })).status).toBe(200);
      expect((await fetch(`${other.url}/session`)).status).toBe(401);
      await other.close();
    }
  });

  it("says which port is taken", async () => {
    const port = Number(new URL(served.url).port);
    await expect(serve({ keepsake, clock, port })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(String(port)),
    });
  });

  it.each([2_000_000, 20_000_000])(
    "answers a body of %i bytes with 413 instead of breaking off",
    async (size) => {
      const { status, json } = await call("POST", "/message", { userId: "ana", message: "x".repeat(size) });
      expect([status, json.code]).toEqual([413, "invalid_input"]);
      expect((await call("GET", "/api/v1/ready")).status).toBe(200);
    },
  );

  it("answers whoever has no key before it takes in what they send", async () => {
    const body = { userId: "ana", message: "x".repeat(20_000_000) };
    expect((await call("POST", "/message", body, "hunter2")).status).toBe(401);
    expect((await call("GET", "/api/v1/ready")).status).toBe(200);
  });

  it("refuses a name that is not its own on the wire", async () => {
    const answer = await raw(
      `GET /api/v1/health HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("outlives what is no HTTP", async () => {
    expect(await raw("\u0000\u0001 nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    const long = `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await raw(long)).toMatch(/^HTTP\/1\.1 431 /);
    expect((await call("GET", "/api/v1/ready")).status).toBe(200);
  });

  it("lets what is at work finish when it closes, and takes nothing new", async () => {
    const messages = Array.from({ length: 300 }, (_, number) => ({
      role: "user",
      content: `I visited place number ${number} with my sister and liked it a lot.`,
    }));
    const atWork = call("POST", "/api/v1/messages", { user_id: "ana", messages });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const closing = served.close();
    const { status, json } = await atWork;
    expect([status, json.messages.length]).toEqual([201, 300]);
    await closing;
    await expect(call("GET", "/api/v1/health")).rejects.toThrow();
  });

  it("keeps writes by many at once apart, and loses none", async () => {
    const users = Array.from({ length: 20 }, (_, number) => `user ${number}/${number}`);
    const notes = [1, 2, 3];
    const added = users.flatMap((user) =>
      notes.map((note) =>
        call("POST", "/api/v1/memories", { user_id: user, content: `Note ${note} of ${user}.` }),
      ),
    );
    expect((await Promise.all(added)).map(({ status }) => status)).toEqual(added.map(() => 201));
    for (const user of users) {
      const { json } = await call("GET", `/api/v1/memories/${encodeURIComponent(user)}`);
      const texts = json.items.map((item: { content: string }) => item.content).sort();
      expect(texts).toEqual(notes.map((note) => `Note ${note} of ${user}.`));
    }
  });
});

/** Sends bytes as they are, and gives what comes back. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = new URL(served.url);
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes, "latin1"));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.setTimeout(5_000, () => socket.destroy());
  });
}
