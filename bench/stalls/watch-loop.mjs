// Loaded into the server's process: measures how late its event loop is, and tells whoever started it when asked.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

// Threads and processes that the server begins inherit this word; only the server itself is measured.
if (isMainThread && process.send && /cli[\\/]main\.js$/.test(process.argv[1] ?? "")) {
  const delays = monitorEventLoopDelay({ resolution: 2 });
  delays.enable();
  process.on("message", (asked) => {
    if (asked === "begin") delays.reset();
    if (asked === "end") process.send?.({ worstMs: delays.max / 1e6 });
  });
  // A measurement that was broken off leaves no server behind.
  process.once("disconnect", () => process.exit(1));
  process.channel?.unref();
}
