import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Documents } from "../ports/stores/documents.ts";

export interface DocumentsHarness {
  /** Shown in the test output: "memory", "postgres". */
  readonly name: string;
  setup?(): Promise<void>;
  /** Opens an empty set of documents. */
  open(): Promise<Documents>;
  /** Opens a second handle on the same ones, as another server would. */
  second(documents: Documents): Promise<Documents>;
  teardown?(): Promise<void>;
}

const add = (text: string) => (held: string | undefined) => `${held ?? ""}${text}`;

type DocumentsCase = (documents: Documents, other: Documents) => Promise<void>;

/** One rule of the contract in `ports/documents.ts` per case. */
export const DOCUMENTS_CASES: { readonly [title: string]: DocumentsCase } = {
  "has no document before the first write, and a change without result writes nothing": async (documents) => {
    expect(await documents.read("keys")).toBeUndefined();
    expect(await documents.change("keys", (held) => held)).toBeUndefined();
    expect(await documents.read("keys")).toBeUndefined();
  },

  "shows what one handle wrote to the other, each name by itself": async (documents, other) => {
    const kept = await documents.change("keys", add("a\n\\\u{1f98a}"));
    expect(kept?.text).toBe("a\n\\\u{1f98a}");
    expect(await other.read("keys")).toEqual(kept);
    expect(await other.read("others")).toBeUndefined();
  },

  "returns no text for a known mark until the mark changes": async (documents, other) => {
    const { mark = "" } = (await documents.change("keys", add("a"))) ?? {};
    expect(await other.read("keys", mark)).toEqual({ mark });
    expect(await documents.change("keys", (held) => held)).toEqual({ mark, text: "a" });
    expect(await other.read("keys", mark)).toEqual({ mark });
    const later = await other.change("keys", add("b"));
    expect(later?.mark).not.toBe(mark);
    expect(await documents.read("keys", mark)).toEqual(later);
  },

  "passes on the error of a change and writes nothing": async (documents, other) => {
    await documents.change("keys", add("a"));
    const fault = new Error("no");
    const failing = (): string => {
      throw fault;
    };
    await expect(other.change("keys", failing)).rejects.toBe(fault);
    expect((await documents.read("keys"))?.text).toBe("a");
    expect((await other.change("keys", add("b")))?.text).toBe("ab");
  },

  "loses none of many simultaneous changes, including the first": async (documents, other) => {
    const both = [documents, other];
    await Promise.all(Array.from({ length: 20 }, (_, i) => both[i % 2]?.change("keys", add("x"))));
    expect((await documents.read("keys"))?.text).toBe("x".repeat(20));
  },
};

/** Runs the whole contract against one adapter. Call it at the top level of a test file. */
export function documentsConformance(harness: DocumentsHarness): void {
  describe(`Documents: ${harness.name}`, () => {
    let documents: Documents;
    let other: Documents;
    beforeAll(() => harness.setup?.());
    afterAll(() => harness.teardown?.());
    beforeEach(async () => {
      documents = await harness.open();
      other = await harness.second(documents);
    });
    for (const [title, run] of Object.entries(DOCUMENTS_CASES)) it(title, () => run(documents, other));
  });
}
