import type { Context } from "../context.ts";

/**
 * Whether people talk among themselves: the message bears a name, and no assistant has taken part in the turns before
 * it. Most of such a talk is said to the other one, and little of it tells of a life.
 */
export function isAmongPeople({ message, earlier }: Pick<Context, "message" | "earlier">): boolean {
  return message.name !== undefined && !earlier.some(({ role }) => role === "assistant");
}
