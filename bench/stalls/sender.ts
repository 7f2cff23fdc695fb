import { Agent } from "node:http";
import { asked, type RequestOutcome } from "./asking.ts";
import { CASES } from "./cases.ts";

/** What came of a case: how often each outcome, and how long it took until the last answer. */
export interface CaseSent {
  readonly outcomes: { readonly [outcome: RequestOutcome]: number };
  readonly ms: number;
}

/** Run as a process of its own: makes the requests of a case, says "ready", and sends them when told to. */
async function sendCase(name: string, url: string, key: string, patienceMs: number): Promise<void> {
  const one = CASES.find((other) => other.name === name);
  if (!one) throw new Error(`There is no case ${name}.`);
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const waves = one.requests();
  process.once("disconnect", () => process.exit(1));
  process.send?.("ready");
  await new Promise((resolve) => process.once("message", resolve));
  const begun = performance.now();
  const outcomes: Record<RequestOutcome, number> = {};
  for (const wave of waves) {
    const left = begun + patienceMs - performance.now();
    if (left <= 0) break;
    const answers = await Promise.all(
      wave.map((request) => asked({ url, key }, request, { agent, patienceMs: left })),
    );
    for (const outcome of answers) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  agent.destroy();
  process.send?.({ outcomes, ms: performance.now() - begun } satisfies CaseSent, () => process.exit(0));
}

const [name = "", url = "", key = "", patienceMs = "20000"] = process.argv.slice(2);
await sendCase(name, url, key, Number(patienceMs));
