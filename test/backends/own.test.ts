import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChromaClient } from "chromadb";
import { describe } from "vitest";
import { createChromaVectorIndex } from "../../src/adapters/chroma/index.ts";
import { createFaissVectorIndex } from "../../src/adapters/faiss/index.ts";
import { type HttpProxy, startHttpProxy } from "../../src/testing/http-proxy.ts";
import { ownServer } from "../services/own-server.ts";
import { type Hosted, treatedBadly } from "./treated-badly.ts";
import { signalWorkers } from "./workers.ts";

const { KEEPSAKE_TEST_CHROMA: chromaAddress, KEEPSAKE_TEST_FAISS: python } = process.env;

async function chroma(): Promise<Hosted> {
  const server = await ownServer("chroma");
  const proxy: HttpProxy = await startHttpProxy(server.address);
  const { hostname, port } = new URL(proxy.url);
  const meets = (trouble: NonNullable<HttpProxy["always"]>) => async () => {
    proxy.always = trouble;
    return async () => {
      proxy.always = undefined;
    };
  };
  return {
    follower: () =>
      createChromaVectorIndex({
        client: new ChromaClient({ host: hostname, port: Number(port) }),
        timeoutMs: 1000,
      }),
    faults: {
      async "is down"() {
        await server.kill();
        return () => server.start();
      },
      async hangs() {
        server.pause();
        return async () => server.goOn();
      },
      async "comes back empty"() {
        await server.empty();
        await server.start();
        return async () => {};
      },
      "is slow": meets({ afterMs: 600 }),
      "has too many requests": meets({ status: 429 }),
      "answers 503": meets({ status: 503 }),
      "does what it is told and does not say so": meets({ it: "does it and hangs" }),
    },
    async close() {
      await proxy.close();
      await server.remove();
    },
  };
}

async function faiss(): Promise<Hosted> {
  const folder = mkdtempSync(join(tmpdir(), "keepsake-faiss-"));
  const hangs = async (): Promise<() => Promise<void>> => {
    signalWorkers(folder, "SIGSTOP");
    return async () => signalWorkers(folder, "SIGCONT");
  };
  return {
    follower: () => createFaissVectorIndex({ path: folder, python: python ?? "" }),
    faults: {
      "is down": hangs,
      hangs,
      async "loses its process"() {
        signalWorkers(folder, "SIGKILL");
        return async () => {};
      },
      async "comes back empty"() {
        rmSync(folder, { recursive: true });
        return async () => {};
      },
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const whyChroma = 'needs KEEPSAKE_TEST_CHROMA: eval "$(test/services/up chroma)"';
describe.skipIf(!chromaAddress)(
  `Chroma beside a memory (${chromaAddress ? "its own server" : whyChroma})`,
  () => {
    treatedBadly(chroma, [
      "is down",
      "hangs",
      "comes back empty",
      "is slow",
      "has too many requests",
      "answers 503",
      "does what it is told and does not say so",
    ]);
  },
);

const whyFaiss = 'needs KEEPSAKE_TEST_FAISS: eval "$(test/services/up faiss)"';
describe.skipIf(!python)(`FAISS beside a memory (${python ? "a real one" : whyFaiss})`, () => {
  treatedBadly(faiss, ["hangs", "loses its process", "comes back empty"]);
});
