/** The part of an ioredis client (5 or 6) that is used: any command, answered in texts or in bytes. */
export interface RedisClient {
  call(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
  callBuffer(command: string, args: (string | Buffer | number)[]): Promise<unknown>;
}

/** What every adapter of this folder takes. */
export interface RedisOptions {
  /** Made, and closed in the end, by the caller. `REDIS_CLIENT` says how it is best made. */
  readonly client: RedisClient;
  /** What every key begins with ("keepsake"): several programs can share one server. */
  readonly prefix?: string;
  /** How long one request may take, in ms. */
  readonly timeoutMs?: number;
}

/**
 * How a client for these adapters is best made: `new Redis({ ...REDIS_CLIENT, host, port, password })`. A command that cannot go
 * out now fails now: nothing waits in line for a server that is down, to be carried out when it is up again.
 */
export const REDIS_CLIENT = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2000,
  retryStrategy: (times: number): number => Math.min(2000, times * 100),
} as const;
