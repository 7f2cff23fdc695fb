import type { RedisSettings } from "../backend-settings.ts";
import { type Redis, vendorPackage } from "../vendor-packages.ts";

/** So long the start waits for the first connection, in ms; then it goes on, and the client tries by itself. */
const FIRST_CONNECTION_MS = 2000;

/**
 * A client of the Redis that the settings name, and whether it is connected: one that is down is no reason not to start, for all that
 * is there is a copy. `how` it is made says the adapter that uses it.
 */
export async function redisClient(
  { url, password }: RedisSettings,
  how: object,
): Promise<{ readonly client: Redis; readonly isUp: boolean }> {
  const { Redis: Client } = await vendorPackage("ioredis", "REDIS_URL");
  const client = new Client(url, {
    ...how,
    lazyConnect: true,
    connectionName: "keepsake",
    ...(password === undefined ? {} : { password }),
  });
  // Every call says for itself that the server is gone; without a listener the client would write to stderr.
  client.on("error", () => {});
  return { client, isUp: await connects(client) };
}

async function connects(client: Redis): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, FIRST_CONNECTION_MS, false);
  });
  try {
    const connected = client.connect().then(
      () => true,
      () => false,
    );
    return await Promise.race([connected, late]);
  } finally {
    clearTimeout(timer);
  }
}
