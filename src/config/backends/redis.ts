import type { RedisSettings } from "../backend-settings.ts";
import { loadVendorPackage, type Redis } from "../vendor-packages.ts";

/** So long the start waits for the first connection, in ms; then it goes on, and the client tries by itself. */
const FIRST_CONNECTION_MS = 2000;

/** Why a first connection came to nothing. */
export type RedisTrouble = "down" | "refused";

/**
 * A client of the Redis that the settings name, and what hinders it now: one that is down or refuses us is no reason not to start,
 * for all that is there is a copy. `how` it is made says the adapter that uses it.
 */
export async function connectRedis(
  { url, password }: RedisSettings,
  how: object,
): Promise<{ readonly client: Redis; readonly trouble?: RedisTrouble }> {
  const { Redis: Client } = await loadVendorPackage("ioredis", "REDIS_URL");
  const client = new Client(url, {
    ...how,
    lazyConnect: true,
    connectionName: "keepsake",
    ...(password === undefined ? {} : { password }),
  });
  // Every call says for itself that the server is gone; without a listener the client would write to stderr.
  let isRefused = false;
  client.on("error", ({ message }: Error) => {
    if (REFUSED_MESSAGE.test(message)) isRefused = true;
  });
  const isUp = (await tryConnect(client)) && !isRefused;
  return { client, ...(isUp ? {} : { trouble: isRefused ? "refused" : "down" }) };
}

/** What Redis says of wrong credentials, and of none where it wants some. */
const REFUSED_MESSAGE = /^(?:WRONGPASS|NOAUTH|NOPERM)\b/;

async function tryConnect(client: Redis): Promise<boolean> {
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
