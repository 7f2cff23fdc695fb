import { randomUUID } from "node:crypto";
import * as bullmq from "bullmq";
import { Redis } from "ioredis";
import { afterAll } from "vitest";
import type { Queue } from "../../ports/queue.ts";
import { queueConformance } from "../../testing/queue-conformance.ts";
import { BULLMQ_CLIENT, type BullmqLibrary, bullmqQueue } from "./index.ts";

const { KEEPSAKE_TEST_REDIS: address } = process.env;
/** The library as it is fits what is asked of it. */
const library: BullmqLibrary<Redis> = bullmq;
const run = `test-bullmq-${randomUUID()}`;
const prefixes = new WeakMap<Queue, string>();
const clients: Redis[] = [];
let count = 0;

function open(prefix: string, firstPauseMs: number): Queue {
  const connection = new Redis(address ?? "", BULLMQ_CLIENT);
  clients.push(connection);
  const queue = bullmqQueue({ library, connection, prefix, firstPauseMs, lockMs: 1000 });
  prefixes.set(queue, prefix);
  return queue;
}

async function cleared(): Promise<void> {
  const [client, ...others] = clients.splice(0);
  if (!client) return;
  for await (const keys of client.scanStream({ match: `${run}*`, count: 1000 })) {
    if (keys.length > 0) await client.del(keys);
  }
  for (const one of [client, ...others]) one.disconnect();
}

afterAll(cleared);

queueConformance({
  name: "bullmq",
  missing: address ? undefined : 'needs KEEPSAKE_TEST_REDIS: eval "$(test/services/up redis)"',
  async open({ firstPauseMs }) {
    count += 1;
    return open(`${run}-${count}`, firstPauseMs);
  },
  second: async (queue) => open(prefixes.get(queue) ?? "", 10),
  teardown: cleared,
});
