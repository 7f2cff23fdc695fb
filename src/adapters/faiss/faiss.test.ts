import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { vectorIndexConformance } from "../../testing/vector-index/vector-index-conformance.ts";
import { createFaissVectorIndex } from "./index.ts";

const { KEEPSAKE_TEST_FAISS: python } = process.env;
const why = 'needs KEEPSAKE_TEST_FAISS: eval "$(test/services/up faiss)"';

describe.skipIf(!python)(`FAISS (${python ? "a real one" : why})`, () => {
  const folders = new Map<object, string>();
  const open = (path: string) => {
    const follower = createFaissVectorIndex({ path, python: python ?? "" });
    folders.set(follower, path);
    return follower;
  };
  const folderOf = (follower: object): string => folders.get(follower) ?? "";
  vectorIndexConformance({
    name: "faiss",
    open: async () => open(await mkdtemp(join(tmpdir(), "keepsake-faiss-"))),
    async reopen(follower) {
      await follower.close();
      return open(folderOf(follower));
    },
    second: async (follower) => open(folderOf(follower)),
    remove: (follower) => rm(folderOf(follower), { recursive: true, force: true }),
  });
});
