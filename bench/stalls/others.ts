import { Agent } from "node:http";
import { asked, type OneRequest, type Target } from "./asking.ts";

/** What the others saw in a window. Latencies in ms, from the moment at which a request was due. */
export interface OthersSeen {
  readonly latencies: readonly number[];
  /** Requests that got no good answer. */
  readonly failed: number;
}

/** Requests a second, all kinds together: light, so that what is measured is not this. */
const PER_SECOND = 40;
const PATIENCE_MS = 30_000;
const USERS = ["ana", "ben", "carla", "dmitri"] as const;

function lightRequest(number: number): OneRequest {
  const user = USERS[Math.floor(number / 4) % USERS.length] as string;
  const kind = number % 8;
  if (kind === 1 || kind === 5) {
    const body = JSON.stringify({ query: "What do I use for work?" });
    return { method: "POST", path: `/api/v1/memories/${user}/search`, body };
  }
  if (kind === 2) {
    const messages = [{ role: "user", content: `I put box ${number} on shelf ${number % 40}.` }];
    return { method: "POST", path: "/api/v1/messages", body: JSON.stringify({ user_id: user, messages }) };
  }
  if (kind === 6) {
    const messages = [{ role: "user", content: "What do I use for work?" }];
    const body = JSON.stringify({ model: "stub", user, messages });
    return { method: "POST", path: "/v1/chat/completions", body };
  }
  return { method: "GET", path: "/api/v1/health" };
}

/**
 * Run as a process of its own: sends light requests of other users at a fixed pace, each at its time, whether those before
 * have been answered or not. Told "begin" and "end", it gives what it saw in between, once all of that is answered.
 */
async function sendLight(target: Target): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  let window: { latencies: number[]; failed: number; open: Promise<void>[] } | undefined;
  process.once("disconnect", () => process.exit(1));
  process.on("message", async (word) => {
    if (word === "begin") window = { latencies: [], failed: 0, open: [] };
    const ended = window;
    if (word !== "end" || !ended) return;
    window = undefined;
    await Promise.all(ended.open);
    process.send?.({ latencies: ended.latencies, failed: ended.failed } satisfies OthersSeen);
  });
  const begun = performance.now();
  for (let number = 0; process.connected; number += 1) {
    const due = begun + (number * 1000) / PER_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const own = window;
    const answer = asked(target, lightRequest(number), { agent, patienceMs: PATIENCE_MS }).then((outcome) => {
      own?.latencies.push(performance.now() - due);
      if (own && !outcome.startsWith("2")) own.failed += 1;
    });
    own?.open.push(answer);
  }
  agent.destroy();
}

const [url = "", key = ""] = process.argv.slice(2);
await sendLight({ url, key });
process.exit(0);
