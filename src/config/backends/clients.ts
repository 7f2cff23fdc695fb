import { BULLMQ_CLIENT } from "../../adapters/bullmq/index.ts";
import { REDIS_CLIENT } from "../../adapters/redis/index.ts";
import type { BackendSettings } from "../backend-settings.ts";
import type { Redis } from "../vendor-packages.ts";
import { type Closing, closing } from "./closing.ts";
import { type RedisTrouble, redisClient } from "./redis.ts";

/** Clients that several parts share: each is made when the first asks for it. */
export interface Clients {
  readonly closing: Closing;
  readonly notices: string[];
  redis(): Promise<Redis>;
  /** For queues, whose commands wait for a server that is down. */
  queueRedis(): Promise<Redis>;
}

export function clientsOf({ redis: settings = { url: "redis://localhost:6379" } }: BackendSettings): Clients {
  const closer = closing();
  const notices: string[] = [];
  const connected = async (how: object): Promise<Redis> => {
    const { client, trouble } = await redisClient(settings, how);
    closer.add(() => client.disconnect());
    if (trouble && !notices.includes(TROUBLE[trouble])) notices.push(TROUBLE[trouble]);
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

const TROUBLE: { readonly [trouble in RedisTrouble]: string } = {
  down: "Redis does not answer: what it holds is taken from the record until it does.",
  refused: "Redis refuses the password: what it holds is taken from the record. Set REDIS_PASSWORD.",
};

/** The option of adapters on servers that others use, too. */
export function prefixOf({ prefix }: BackendSettings): { readonly prefix?: string } {
  return prefix === undefined ? {} : { prefix };
}
