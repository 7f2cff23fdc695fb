import type { Redis } from "ioredis";
import type { BackendSettings } from "../backend-settings.ts";
import { type Closing, closing } from "./closing.ts";
import { redisClient } from "./redis.ts";

/** Clients that several parts share: each is made when the first asks for it. */
export interface Clients {
  readonly closing: Closing;
  readonly notices: string[];
  redis(): Promise<Redis>;
}

export function clientsOf(settings: BackendSettings): Clients {
  const clients = { closing: closing(), notices: [] as string[] };
  let redis: Promise<Redis> | undefined;
  return {
    ...clients,
    redis() {
      redis ??= sharedRedis(settings, clients);
      return redis;
    },
  };
}

async function sharedRedis(
  settings: BackendSettings,
  { closing, notices }: Pick<Clients, "closing" | "notices">,
): Promise<Redis> {
  const { client, isUp } = await redisClient(settings.redis ?? { url: "redis://localhost:6379" });
  closing.add(() => client.disconnect());
  if (!isUp) notices.push("Redis does not answer: what it holds is taken from the record until it does.");
  return client;
}
