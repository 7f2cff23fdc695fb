import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../adapters/sqlite/index.ts";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import type { HookRequest } from "./hook-events.ts";
import type { HookPlaces } from "./hook-places.ts";
import { claimHooks, openHookServer } from "./hook-server.ts";
import { listWaiting, spoolEvent } from "./hook-spool.ts";

let folder: string;
let places: HookPlaces;
let keepsake: Keepsake;
let server: Awaited<ReturnType<typeof openHookServer>> | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ks-"));
  const waiting = join(folder, "waiting");
  mkdirSync(waiting);
  places = {
    socket: join(folder, "socket"),
    claim: join(folder, "claim.db"),
    waiting,
    log: join(folder, "log"),
  };
  const record = () => openSqliteStore({ path: join(folder, "memory.db"), busyTimeoutMs: 50 });
  keepsake = await createMemory({ record, jobs: "elsewhere" });
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await keepsake.close();
  rmSync(folder, { recursive: true, force: true });
});

let count = 0;
function createRequest(text: string, fields: Partial<HookRequest> = {}): HookRequest {
  count += 1;
  const at = new Date().toISOString();
  return { id: `event${count}`, kind: "prompt", user: "ana", project: "default", text, at, ...fields };
}

/** Asks as a hook does, and gives the answer. */
function ask(request: object | string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(places.socket, () => {
      socket.write(`${typeof request === "string" ? request : JSON.stringify(request)}\n`);
    });
    let answer = "";
    socket.on("data", (text) => {
      answer += text.toString();
    });
    socket.once("error", reject);
    socket.once("end", () => resolve((JSON.parse(answer) as { readonly text: string }).text));
  });
}

const readLog = (): { readonly [field: string]: unknown }[] =>
  readFileSync(places.log, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

const ana = () => keepsake.scope({ user: "ana" });
const isStored = (request: HookRequest): Promise<boolean> =>
  ana()
    .message(request.id)
    .then(
      () => true,
      () => false,
    );
const expectStored = (request: HookRequest) => expect.poll(() => isStored(request)).toBe(true);

describe("a server of hooks", () => {
  it("stores a prompt also if the recall for it fails, and logs the failure", async () => {
    server = await openHookServer(keepsake, places);
    const request = createRequest("My cat is called Moss.");
    spoolEvent(places, request);
    expect(await ask({ ...request, text: "" })).toBe("");
    await expectStored(request);
    expect(readLog()).toContainEqual(expect.objectContaining({ given: "failed", problem: "invalid_input" }));
  });

  it("answers a request that is no JSON with nothing, and goes on", async () => {
    server = await openHookServer(keepsake, places);
    expect(await ask("{")).toBe("");
    await ana().remember("My cat is called Moss.");
    expect(await ask(createRequest("What is my cat called?"))).toContain("Moss");
  });

  it("gives what bears on a prompt with colours of a terminal in it", async () => {
    await ana().remember("My cat is called Moss.");
    server = await openHookServer(keepsake, places);
    expect(await ask(createRequest("What is my \u001b[31mcat\u001b[0m called?"))).toContain("Moss");
  });

  it("gives the profile and what bears on the folder at the start of a session", async () => {
    await ana().remember("I live in Porto.");
    await ana().remember("In the larder project we deploy on Fridays only.");
    server = await openHookServer(keepsake, places);
    const start = createRequest("", { kind: "start" });
    const plain = await ask(start);
    expect(plain).toContain("Porto");
    const both = await ask({ ...start, folder: "larder" });
    expect(both).toContain("Porto");
    expect(both).toContain("Fridays");
    expect(both.match(/^<keepsake-[0-9a-f]{16}>$/gm)?.length).toBe(2);
    expect(both.length / 4).toBeLessThan(900);
    expect(await ask({ ...start, folder: "zzyzx" })).not.toContain("Fridays");
  });

  it("does not give a prompt that is stored by now as an answer to itself", async () => {
    server = await openHookServer(keepsake, places);
    const request = createRequest("My parrot is called Quetzal.");
    spoolEvent(places, request);
    await ask({ ...request, kind: "reply", text: "" });
    await expectStored(request);
    expect(await ask(request)).toBe("");
    expect(await ask(createRequest("What is my parrot called?"))).toContain("Quetzal");
  });

  it("keeps the events that cannot be stored, and stores them when they can be", async () => {
    const [first, second] = [
      createRequest("My cat is called Moss."),
      createRequest("My dog is called Fern."),
    ];
    for (const request of [first, second]) spoolEvent(places, request);
    const other = new DatabaseSync(join(folder, "memory.db"));
    other.exec("BEGIN IMMEDIATE");
    server = await openHookServer(keepsake, places);
    await expect.poll(() => readLog().filter(({ stored }) => stored === "waits").length).toBe(2);
    expect(listWaiting(places).length).toBe(2);
    other.exec("ROLLBACK");
    other.close();
    await ask(createRequest("", { kind: "reply" }));
    await expectStored(second);
    expect(await isStored(first)).toBe(true);
    await expect.poll(() => listWaiting(places)).toEqual([]);
  });

  it("stores an event once that comes again", async () => {
    const request = createRequest("My cat is called Moss.");
    spoolEvent(places, request);
    server = await openHookServer(keepsake, places);
    await expectStored(request);
    await expect.poll(() => listWaiting(places)).toEqual([]);
    const before = await ana().revision();
    spoolEvent(places, request);
    await ask(createRequest("", { kind: "reply" }));
    await expect.poll(() => listWaiting(places)).toEqual([]);
    expect(await ana().revision()).toBe(before);
  });

  it("removes what no hook has written completely, and what is refused, and stores the others", async () => {
    writeFileSync(join(places.waiting, "000-torn.json"), '{"id":"a","kind":"pro');
    writeFileSync(join(places.waiting, "001-other.json"), "[]");
    writeFileSync(join(places.waiting, "002-old.draft"), "{");
    utimesSync(join(places.waiting, "002-old.draft"), new Date(0), new Date(0));
    spoolEvent(places, createRequest("Hello.", { user: "" }));
    const request = createRequest("My cat is called Moss.");
    spoolEvent(places, request);
    server = await openHookServer(keepsake, places);
    await expectStored(request);
    await expect.poll(() => readdirSync(places.waiting)).toEqual([]);
    expect(readLog().map(({ stored, problem }) => [stored, problem])).toContainEqual([
      "refused",
      "invalid_input",
    ]);
  });

  it("goes on if the folder of waiting events cannot be read, and logs that", async () => {
    await ana().remember("My cat is called Moss.");
    server = await openHookServer(keepsake, places);
    rmSync(places.waiting, { recursive: true });
    expect(await ask(createRequest("What is my cat called?"))).toContain("Moss");
    await expect.poll(() => readLog().at(-1)).toMatchObject({ stored: "waits", problem: "ENOENT" });
    expect(await ask(createRequest("What is my cat called?"))).toContain("Moss");
  });

  it("stores what came meanwhile before it ends", async () => {
    server = await openHookServer(keepsake, places);
    const request = createRequest("My cat is called Moss.");
    spoolEvent(places, request);
    await server.close();
    server = undefined;
    expect(await isStored(request)).toBe(true);
  });
});

describe("the claim on the hooks of a database", () => {
  it("is given to one at a time, and to the next one that waits when it is released", async () => {
    const first = await claimHooks(places);
    const second = claimHooks(places);
    let isGiven = false;
    void second.then(() => {
      isGiven = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([first !== undefined, isGiven]).toEqual([true, false]);
    first?.release();
    (await second)?.release();
    expect(await second).toBeDefined();
  });

  it("is not waited for while the one that has it answers", async () => {
    const first = await claimHooks(places);
    server = await openHookServer(keepsake, places);
    expect(await claimHooks(places)).toBeUndefined();
    first?.release();
  });
});
