import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { withTimeout } from "./model-calls/remote-call.ts";

const never = new Promise<never>(() => {});
const late = (): Error => new Error("late");

describe("withTimeout", () => {
  it("passes on results and errors that arrive in time", async () => {
    expect(await withTimeout(Promise.resolve(7), 1000, late)).toBe(7);
    await expect(withTimeout(Promise.reject(new Error("broken")), 1000, late)).rejects.toThrow("broken");
  });

  it("does not wait for late results", async () => {
    await expect(withTimeout(never, 5, late)).rejects.toThrow("late");
  });

  it("throws the abort reason, before and during the wait", async () => {
    const reason = new Error("enough");
    await expect(withTimeout(never, 1000, late, AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = withTimeout(never, 1000, late, controller.signal);
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });

  it("ignores errors that arrive too late", async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(withTimeout(promise, 5, late)).rejects.toThrow("late");
    reject(new Error("too late to matter"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

it("accepts a reply that arrived while this process was busy", async () => {
  const server = createServer((socket) => socket.end("here")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const answer = once(socket, "data").then(([data]) => String(data));
  const waiting = withTimeout(answer, 20, () => new Error("late"));
  await once(socket, "connect");
  const busyUntil = performance.now() + 60;
  while (performance.now() < busyUntil);
  expect(await waiting).toBe("here");
  server.close();
});
