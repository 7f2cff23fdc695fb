export { type RedisCacheOptions, redisCache } from "./cache.ts";
export { REDIS_CLIENT, type RedisClient, type RedisOptions } from "./client.ts";
export { createRedisVectorIndex } from "./follower.ts";
export { type RedisRateLimitsOptions, redisRateLimits } from "./rate-limits.ts";
export { type RedisSessionsOptions, redisSessions } from "./sessions.ts";
