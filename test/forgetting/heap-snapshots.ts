// Loaded with --import before a program, and so before each thread and process that it starts: at SIGUSR2 each writes what its heap
// holds to a file of the folder that HEAP_FOLDER names.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

const folder = process.env.HEAP_FOLDER;
if (folder !== undefined) watch(folder);

function watch(into: string): void {
  setFlagsFromString("--expose-gc");
  // A longer text would be cut off, and what it holds not be found.
  setFlagsFromString("--heap-snapshot-string-limit=10000000");
  const collect = runInNewContext("gc") as () => void;
  const channel = new BroadcastChannel("heap-snapshots");
  const write = (): void => {
    collect();
    collect();
    const file = join(into, `${process.pid}-${threadId}.heap`);
    // Under its own name only once it is whole.
    renameSync(writeHeapSnapshot(`${file}.part`), file);
  };
  channel.onmessage = write;
  channel.unref();
  if (!isMainThread) return;
  process.on("SIGUSR2", () => {
    channel.postMessage("write");
    write();
  });
}
