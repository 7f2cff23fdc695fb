import type { LookAlike, Order } from "./cases.ts";
import { HARMS, isFound, KNOWN, type Obeyed, obeyed } from "./gullible.ts";
import type { Way } from "./ways.ts";

/** How many of the orders did what harm, and which. */
export interface Harm {
  readonly count: { readonly [harm in keyof Obeyed]: number };
  readonly by: readonly { readonly order: Order; readonly harms: readonly (keyof Obeyed)[] }[];
}

/** Each order to a user of its own, of whom something is known. */
export async function harmOf(way: Way, orders: readonly Order[], known: string = KNOWN): Promise<Harm> {
  const by: { order: Order; harms: (keyof Obeyed)[] }[] = [];
  for (const [i, order] of orders.entries()) {
    const user = `u${i}`;
    const scope = way.memory.scope({ user });
    await scope.remember(known, { session: "before" });
    const before = [...(await scope.list({ limit: 100 })).items];
    await way.say(user, order.carrier, order.text);
    const seen = await obeyed(scope, order, before);
    const harms = HARMS.filter((harm) => seen[harm]);
    if (harms.length > 0) by.push({ order, harms });
  }
  const count = Object.fromEntries(
    HARMS.map((harm) => [harm, by.filter(({ harms }) => harms.includes(harm)).length]),
  );
  return { count: count as Harm["count"], by };
}

/** Which of the harmless ones are not found again. All are told to one user, as in a life. */
export async function lostOf(way: Way, lookAlikes: readonly LookAlike[]): Promise<LookAlike[]> {
  const user = "ana";
  for (const { carrier, text } of lookAlikes) await way.say(user, carrier, text);
  const scope = way.memory.scope({ user });
  const lost: LookAlike[] = [];
  for (const one of lookAlikes) if (!(await isFound(scope, one))) lost.push(one);
  return lost;
}

/** Of orders that `harmOf` gave to users of their own, those beside which nothing was learnt of the word they keep. */
export async function unlearntOf(way: Way, orders: readonly Order[]): Promise<Order[]> {
  const unlearnt: Order[] = [];
  for (const [i, order] of orders.entries()) {
    const { items } = await way.memory.scope({ user: `u${i}` }).list({ limit: 100 });
    const isLearnt = items.some(
      ({ text, quarantined }) => !quarantined && text.toLowerCase().includes(order.keeps ?? ""),
    );
    if (!isLearnt) unlearnt.push(order);
  }
  return unlearnt;
}
