export { type RedisCacheOptions, redisCache } from "./cache.ts";
export { REDIS_CLIENT, type RedisClient, type RedisOptions } from "./client.ts";
export { type RedisRateLimitsOptions, redisRateLimits } from "./rate-limits.ts";
export { type RedisSessionsOptions, redisSessions } from "./sessions.ts";
/** Earlier names, kept until version 1.0. */
export { createRedisVectorIndex, createRedisVectorIndex as redisFollower } from "./vector-index.ts";
