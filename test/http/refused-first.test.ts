import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_OPERATIONS } from "../../src/http/app.ts";
import { type HttpSurface, surface } from "./surface.ts";

let here: HttpSurface;
beforeAll(async () => {
  here = await surface();
});
afterAll(() => here.close());

/** A body that says whether anybody looked at it. */
function watched(): { body: ReadableStream; readonly pulls: number } {
  let pulls = 0;
  const body = new ReadableStream(
    {
      pull(controller) {
        pulls += 1;
        if (pulls > 16) controller.close();
        else controller.enqueue(new Uint8Array(65_536).fill(0x7b));
      },
    },
    { highWaterMark: 0 },
  );
  return {
    body,
    get pulls() {
      return pulls;
    },
  };
}

const CLOSED = API_OPERATIONS.filter(({ scope }) => scope !== "none");
const WITH_BODY = CLOSED.filter(({ method }) => method !== "GET");
const pathOf = (path: string): string => path.replace(/\{\w+\}/g, "x");

describe("who has no key", () => {
  it("is refused by every operation, whatever the body is, before a byte of it is read", async () => {
    const headers = { authorization: `Bearer ks_${"0".repeat(12)}_${"A".repeat(43)}` };
    for (const { id, method, path } of WITH_BODY) {
      const seen = watched();
      for (const body of [undefined, "", "not json", seen.body]) {
        const { status } = await here.send({
          method,
          path: `${pathOf(path)}?limit=none`,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        expect([id, status]).toEqual([id, 401]);
      }
      expect([id, seen.pulls]).toEqual([id, 0]);
    }
    expect(WITH_BODY.length).toBeGreaterThan(15);
  });

  it("learns nothing of what a request lacks", async () => {
    for (const { id, method, path } of CLOSED) {
      const { text } = await here.send({ method, path: pathOf(path), headers: { authorization: "" } });
      expect([id, JSON.parse(text).errors]).toEqual([id, undefined]);
    }
  });
});

describe("whose key may not", () => {
  it("is refused before a byte of the body is read, too", async () => {
    const { key } = here.keys.create({ scopes: ["read"] });
    const closed = WITH_BODY.filter(({ scope }) => scope !== "any" && scope !== "read");
    for (const { id, method, path } of closed) {
      const seen = watched();
      const headers = { authorization: `Bearer ${key}` };
      const { status } = await here.send({ method, path: pathOf(path), headers, body: seen.body });
      expect([id, status, seen.pulls]).toEqual([id, 403, 0]);
    }
    expect(closed.length).toBeGreaterThan(10);
  });
});
