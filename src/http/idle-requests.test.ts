import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../engine/api/keepsake.ts";
import { createMemory } from "../memory.ts";
import { type Served, serve } from "./server.ts";

const clock = () => new Date("2026-03-01T12:00:00Z");
/** A fraction of the usual, so that a request takes several times as long. */
const IDLE_MS = 1000;

let keepsake: Keepsake;
let served: Served;
let socket: Socket;
let answer: string;
let isClosed: boolean;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:", clock });
  served = await serve({ keepsake, clock, port: 0, idleMs: IDLE_MS });
  answer = "";
  isClosed = false;
});
afterEach(async () => {
  socket.destroy();
  await served.close();
  await keepsake.close();
});

/** Sends the head of an import in chunks. */
async function begin(key = served.firstKey): Promise<void> {
  socket = connect(Number(new URL(served.url).port), "127.0.0.1");
  socket.on("data", (bytes) => {
    answer += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  socket.write(
    `POST /api/v1/import/ana?extract=never&format=jsonl HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n` +
      "content-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n",
  );
}

function send(text: string): void {
  socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
}

describe("the time that a request may take to arrive", () => {
  it("is not limited for an import while more of it comes", async () => {
    await begin();
    for (let i = 0; i < 25; i += 1) {
      send(`${JSON.stringify({ id: `n${i}`, content: `Note ${i}.` })}\n`);
      await sleep(IDLE_MS / 10);
    }
    expect([answer, isClosed]).toEqual(["", false]);
    socket.write("0\r\n\r\n");
    await expect.poll(() => answer).toContain('"stored":25');
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("ends with 408 and the connection if nothing more comes", async () => {
    await begin();
    send(`${JSON.stringify({ id: "n", content: "A note." })}\n`);
    await expect.poll(() => isClosed).toBe(true);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("ends with the connection for the rest of a request that was refused, even if it goes on", async () => {
    await begin("a-key-that-nobody-has-0123456789");
    const drip = setInterval(() => send("x"), 50);
    try {
      await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 401 /);
      await expect.poll(() => isClosed).toBe(true);
    } finally {
      clearInterval(drip);
    }
  });
});
