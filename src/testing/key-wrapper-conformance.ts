import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KeyWrapper } from "../ports/stores/encryption.ts";

/** What the suite needs of a key wrapper. */
export interface KeyWrapperHarness {
  /** Shown in the test output. */
  readonly name: string;
  /** Opens a key wrapper as a program would. */
  open(): Promise<KeyWrapper>;
  /** Opens one with another master key, of the same kind. */
  openOther(): Promise<KeyWrapper>;
  /** Stops what `open` started. */
  teardown?(): Promise<void>;
  /** Timeout of one case, in ms (default 20,000). */
  readonly timeoutMs?: number;
}

/** Runs the whole contract of `KeyWrapper` in `ports/stores/encryption.ts` against one adapter. Call it at the top level of a test file. */
export function keyWrapperConformance(harness: KeyWrapperHarness): void {
  const timeout = harness.timeoutMs ?? 20_000;
  describe(`Key wrapper: ${harness.name}`, () => {
    let pair: KeyWrapperPair;
    beforeAll(async () => {
      pair = { wrapper: await harness.open(), other: await harness.openOther() };
    }, timeout);
    afterAll(() => harness.teardown?.());
    for (const [title, run] of Object.entries(KEY_WRAPPER_CASES)) it(title, { timeout }, () => run(pair));
  });
}

/** Two wrappers of one kind, with different master keys. */
interface KeyWrapperPair {
  readonly wrapper: KeyWrapper;
  readonly other: KeyWrapper;
}

/** One rule of the contract. */
type KeyWrapperCase = (pair: KeyWrapperPair) => Promise<void>;

const CONTEXT = JSON.stringify(["default", "ana", "0123456789abcdef"]);
const KEY = randomBytes(32);

const unwrapped = async (wrapper: KeyWrapper, wrapped: Uint8Array, context: string) => {
  const key = await wrapper.unwrap(wrapped, context);
  return key && Buffer.from(key).toString("hex");
};

/** Every rule of the contract, by title. */
export const KEY_WRAPPER_CASES: { readonly [title: string]: KeyWrapperCase } = {
  "has a name": async ({ wrapper }) => {
    expect(wrapper.name).toMatch(/\S/);
  },

  "unwraps what it wrapped, with the same context": async ({ wrapper }) => {
    const wrapped = await wrapper.wrap(KEY, CONTEXT);
    expect(Buffer.from(wrapped).includes(KEY)).toBe(false);
    expect(Buffer.from(wrapped).toString("latin1")).not.toContain(KEY.toString("base64"));
    expect(await unwrapped(wrapper, wrapped, CONTEXT)).toBe(KEY.toString("hex"));
  },

  "gives nothing for another context": async ({ wrapper }) => {
    const wrapped = await wrapper.wrap(KEY, CONTEXT);
    for (const other of [CONTEXT.replace("ana", "ben"), `${CONTEXT} `, ""])
      expect(await unwrapped(wrapper, wrapped, other)).toBeUndefined();
  },

  "gives nothing for what another master key wrapped": async ({ wrapper, other }) => {
    expect(await unwrapped(wrapper, await other.wrap(KEY, CONTEXT), CONTEXT)).toBeUndefined();
    expect(await unwrapped(other, await wrapper.wrap(KEY, CONTEXT), CONTEXT)).toBeUndefined();
  },

  "gives nothing for bytes that it did not wrap": async ({ wrapper }) => {
    const wrapped = Buffer.from(await wrapper.wrap(KEY, CONTEXT));
    const changed = Buffer.from(wrapped);
    // A letter of base64 stays one, where the bytes are text.
    const at = changed.length - 8;
    changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
    for (const bytes of [changed, randomBytes(64), Buffer.alloc(0), wrapped.subarray(0, 10)])
      expect(await unwrapped(wrapper, bytes, CONTEXT)).toBeUndefined();
  },

  "takes contexts with any characters, and long ones": async ({ wrapper }) => {
    for (const context of ["ünïcode 我 🦄", 'a"quote\\ and\nlines', "long ".repeat(2000)]) {
      const wrapped = await wrapper.wrap(KEY, context);
      expect(await unwrapped(wrapper, wrapped, context)).toBe(KEY.toString("hex"));
    }
  },

  "keeps keys that are wrapped at once apart": async ({ wrapper }) => {
    const keys = Array.from({ length: 8 }, () => randomBytes(32));
    const found = await Promise.all(
      keys.map(async (key, i) => unwrapped(wrapper, await wrapper.wrap(key, `${i}`), `${i}`)),
    );
    expect(found).toEqual(keys.map((key) => key.toString("hex")));
  },
};
