import type { RateLimits } from "../ports/rate-limits.ts";
import type { Bearer } from "./keys.ts";
import { refuse } from "./problem.ts";

/** Takes a request off the allowance of a key (429 where there is none left). Who has no key has no allowance. */
export async function withinRate(bearer: Bearer | undefined, limits: RateLimits | undefined): Promise<void> {
  if (!bearer || !limits) return;
  const waitMs = await limits.take(bearer.key);
  if (waitMs === 0) return;
  throw refuse({
    status: 429,
    code: "over_quota",
    detail: "Too many requests with this key. Come again later, or have the limit raised.",
    headers: { "retry-after": String(Math.ceil(waitMs / 1000)) },
  });
}
