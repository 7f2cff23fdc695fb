// Says how much anonymous memory of this process windows of messages take that are read at once, beyond those read one by one.
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { rulesInThread } from "../../src/adapters/rules/thread.ts";
import { getGarbageCollectorFlags } from "../../src/adapters/shared/worker-channel.ts";

const WARM_UP = 6;
const AT_ONCE = 32;
const TOKENS = 230;

for (const flag of getGarbageCollectorFlags()) setFlagsFromString(flag);
const rules = rulesInThread();
// A thread that nobody waits for keeps no program alive.
const alive = setInterval(() => {}, 1000);

async function readWindow(number: number): Promise<void> {
  const tokens = Array.from({ length: TOKENS }, (_, i) => 100 + ((number * 7919 + i * 31) % 20_000));
  const roles = tokens.map((_token, i) => (i < 10 ? 0 : 1));
  const clauses = [{ from: 10, to: 15 }];
  await rules.rateWindow(
    { tokens, roles, clauses },
    (["meant", "answers", "ends"] as const)[number % 3] ?? "meant",
  );
}

function anonymousMegabytes(): number {
  const [, kilobytes] = /^RssAnon:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

for (let number = 0; number < WARM_UP; number += 1) await readWindow(number);
const before = anonymousMegabytes();
await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => readWindow(WARM_UP + i)));
const after = anonymousMegabytes();
console.log(JSON.stringify({ windows: AT_ONCE, before, after }));
clearInterval(alive);
process.exit(0);
