import { Agent, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Keepsake } from "../../engine/api/keepsake.ts";
import { createMemory } from "../../memory.ts";
import type { RequestContext } from "../request-context.ts";
import { type Served, serve } from "../server.ts";
import { createFailedKeyThrottle } from "./rate-limits.ts";

let keepsake: Keepsake;
let served: Served;

beforeEach(async () => {
  keepsake = await createMemory({ path: ":memory:" });
  served = await serve({ keepsake, clock: () => new Date(), port: 0 });
});
afterEach(async () => {
  await served.close();
  await keepsake.close();
});

const wrongKey = (number: number): string => `ks_${String(number).padStart(12, "0")}_${"A".repeat(43)}`;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly ms: number;
}

function ask(key: string | undefined, localAddress = "127.0.0.1", path = "/api/v1/ready"): Promise<Answer> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const isSignIn = path === "/session";
    const asking = request(
      `${served.url}${path}`,
      {
        agent: new Agent(),
        localAddress,
        method: isSignIn ? "POST" : "GET",
        headers: isSignIn
          ? { "content-type": "application/json" }
          : key === undefined
            ? {}
            : { authorization: `Bearer ${key}` },
      },
      (answer) => {
        answer.resume();
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            retryAfter: answer.headers["retry-after"],
            ms: performance.now() - begun,
          }),
        );
      },
    );
    asking.on("error", reject);
    asking.end(isSignIn ? JSON.stringify({ key }) : undefined);
  });
}

const statuses = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** A request over a connection from this address. Its client has disconnected. */
function asked(remoteAddress: string): RequestContext {
  return {
    env: { incoming: { socket: { remoteAddress } } },
    req: { raw: { signal: AbortSignal.abort() } },
  } as unknown as RequestContext;
}

describe("failed keys", () => {
  it("of one address are slowed down, then get 429 with a time to retry", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, (_, number) => ask(wrongKey(number))));
    expect([statuses(answers, 401), statuses(answers, 429)]).toEqual([20, 20]);
    expect(
      answers.filter(({ status }) => status === 429).every(({ retryAfter }) => Number(retryAfter) >= 1),
    ).toBe(true);
    expect(answers.filter(({ status, ms }) => status === 401 && ms >= 900).length).toBeGreaterThanOrEqual(10);
  });

  it("do not affect valid keys at the same or another address", async () => {
    await Promise.all(Array.from({ length: 40 }, (_, number) => ask(wrongKey(number))));
    for (const address of ["127.0.0.1", "127.0.0.2"]) {
      expect((await ask(served.firstKey, address)).status).toBe(200);
    }
    expect((await ask(served.firstKey, "127.0.0.1", "/session")).status).toBe(201);
    expect((await ask(wrongKey(1), "127.0.0.2")).status).toBe(401);
  });

  it("at sign-in count like those of other calls", async () => {
    const tries = Array.from({ length: 40 }, (_, number) => ask(wrongKey(number), "127.0.0.1", "/session"));
    expect(statuses(await Promise.all(tries), 429)).toBe(20);
    expect((await ask(wrongKey(1))).status).toBe(429);
  });

  it("from many addresses are slowed down together", async () => {
    const failed = createFailedKeyThrottle({ now: () => 0 });
    const unknown = new Error("unknown");
    let heard = 0;
    for (let host = 0; host < 700; host += 1)
      if ((await failed.refusal(asked(`10.1.${host % 256}.${Math.floor(host / 256)}`), unknown)) === unknown)
        heard += 1;
    expect(heard).toBe(600);
  });

  it("are forgotten after a minute, for a limited number of addresses", async () => {
    let now = 0;
    const failed = createFailedKeyThrottle({ now: () => now, addresses: 100 });
    const unknown = new Error("unknown");
    const isHeard = async (address: string) => (await failed.refusal(asked(address), unknown)) === unknown;
    for (let number = 0; number < 25; number += 1) await isHeard("10.0.0.1");
    expect(await isHeard("10.0.0.1")).toBe(false);
    now += 60_000;
    expect(await isHeard("10.0.0.1")).toBe(true);
    for (let number = 0; number < 25; number += 1) await isHeard("10.0.0.1");
    expect(await isHeard("10.0.0.1")).toBe(false);
    for (let number = 0; number < 100; number += 1) await isHeard(`10.0.1.${number}`);
    expect(await isHeard("10.0.0.1")).toBe(true);
  });

  it("of one IPv6 network count as those of one address", async () => {
    const failed = createFailedKeyThrottle({ now: () => 0 });
    const unknown = new Error("unknown");
    const heard = async (address: string) => (await failed.refusal(asked(address), unknown)) === unknown;
    for (let number = 1; number <= 20; number += 1) expect(await heard(`2001:db8:1:2::${number}`)).toBe(true);
    expect(await heard("2001:db8:1:2:aaaa::1")).toBe(false);
    expect(await heard("2001:db8:1:3::1")).toBe(true);
  });

  it("do not include requests without a key", async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => ask(undefined, "127.0.0.1", "/api/v1/memories/ana")),
    );
    expect(statuses(answers, 401)).toBe(40);
  });
});
