import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileKeyWrapper, secretKeyWrapper } from "../adapters/encryption/index.ts";
import { textSecret } from "../adapters/sqlite/index.ts";
import type { KeyWrapper } from "../ports/stores/encryption.ts";
import { KEY_WRAPPER_CASES, keyWrapperConformance } from "./key-wrapper-conformance.ts";

const newSecret = (): KeyWrapper => secretKeyWrapper(textSecret(randomBytes(32).toString("hex")));

function newFile(): KeyWrapper {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-master-key-"));
  try {
    const path = join(folder, "master.key");
    writeFileSync(path, randomBytes(32).toString("hex"));
    return fileKeyWrapper(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

keyWrapperConformance({ name: "secret", open: async () => newSecret(), openOther: async () => newSecret() });
keyWrapperConformance({ name: "file", open: async () => newFile(), openOther: async () => newFile() });

/** Faults of key wrappers. The suite must detect each of them alone. */
const FAULTS: { readonly [what: string]: (wrapper: KeyWrapper) => Partial<KeyWrapper> } = {
  "has no name": () => ({ name: "" }),
  "wraps nothing": () => ({ wrap: async (key) => key, unwrap: async (wrapped) => wrapped }),
  "takes no notice of the context": ({ wrap, unwrap }) => ({
    wrap: (key) => wrap(key, ""),
    unwrap: (wrapped) => unwrap(wrapped, ""),
  }),
  "throws for bytes of another master key": ({ unwrap }) => ({
    async unwrap(wrapped, context) {
      const key = await unwrap(wrapped, context);
      if (!key) throw new Error("authentication failed");
      return key;
    },
  }),
  "refuses characters beyond ASCII": ({ wrap }) => ({
    async wrap(key, context) {
      if (/[^\x20-\x7e]/.test(context)) throw new Error("not a header");
      return wrap(key, context);
    },
  }),
  "keeps the last key": ({ wrap }) => {
    let last: Uint8Array = new Uint8Array(32);
    return {
      async wrap(key, context) {
        last = key;
        await Promise.resolve();
        return wrap(last, context);
      },
    };
  },
};

async function countFailures(wrapper: KeyWrapper): Promise<number> {
  let failed = 0;
  const other = newSecret();
  for (const run of Object.values(KEY_WRAPPER_CASES))
    await run({ wrapper, other }).catch(() => {
      failed += 1;
    });
  return failed;
}

describe("the conformance suite of key wrappers", () => {
  it("passes a key wrapper without faults", async () => {
    expect(await countFailures(newSecret())).toBe(0);
  });

  it.each(Object.entries(FAULTS))("detects a key wrapper that %s", async (_what, fault) => {
    const sound = newSecret();
    expect(await countFailures({ ...sound, ...fault(sound) })).toBeGreaterThan(0);
  });
});
