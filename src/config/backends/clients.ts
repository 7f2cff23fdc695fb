import { BULLMQ_CLIENT } from "../../adapters/bullmq/index.ts";
import { REDIS_CLIENT } from "../../adapters/redis/index.ts";
import type { BackendSettings } from "../backend-settings.ts";
import type { Redis } from "../vendor-packages.ts";
import { createResourceCloser, type ResourceCloser } from "./closing.ts";
import { connectRedis, type RedisTrouble } from "./redis.ts";

/** Clients that several parts share: each is made when the first asks for it. */
export interface BackendClients {
  readonly closing: ResourceCloser;
  readonly notices: string[];
  redis(): Promise<Redis>;
  /** For queues, whose commands wait for a server that is down. */
  queueRedis(): Promise<Redis>;
}

export function createBackendClients({
  redis: settings = { url: "redis://localhost:6379" },
}: BackendSettings): BackendClients {
  const closer = createResourceCloser();
  const notices: string[] = [];
  const connected = async (how: object): Promise<Redis> => {
    const { client, trouble } = await connectRedis(settings, how);
    closer.add(() => client.disconnect());
    if (trouble && !notices.includes(REDIS_TROUBLE_TEXTS[trouble]))
      notices.push(REDIS_TROUBLE_TEXTS[trouble]);
    return client;
  };
  let redis: Promise<Redis> | undefined;
  return {
    closing: closer,
    notices,
    redis() {
      redis ??= connected(REDIS_CLIENT);
      return redis;
    },
    queueRedis: () => connected(BULLMQ_CLIENT),
  };
}

const REDIS_TROUBLE_TEXTS: { readonly [trouble in RedisTrouble]: string } = {
  down: "Redis does not answer: what it holds is taken from the record until it does.",
  refused: "Redis refuses the password: what it holds is taken from the record. Set REDIS_PASSWORD.",
};

/** The option of adapters on servers that others use, too. */
export function toPrefixOption({ prefix }: BackendSettings): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}
