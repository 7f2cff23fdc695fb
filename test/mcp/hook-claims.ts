import { claimHooks, openHookServer } from "../../src/cli/hooks/hook-server.ts";
import { createMemory } from "../../src/memory.ts";

/*
 * A process that its parent tells by messages to become the one that listens for hooks, and to end that. It says whether it
 * is, and when it has ended.
 */

const keepsake = await createMemory({ path: ":memory:", jobs: "elsewhere" });
let end = async (): Promise<void> => {};

process.on("message", async (message: "end" | Parameters<typeof claimHooks>[0]) => {
  if (message === "end") {
    await end();
    process.send?.("ended");
    return;
  }
  const claim = await claimHooks(message);
  const server = claim && (await openHookServer(keepsake, message));
  end = async () => {
    await server?.close();
    claim?.release();
  };
  process.send?.(claim !== undefined);
});
process.send?.("ready");
