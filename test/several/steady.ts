import { type Kind, type Sent, send } from "../../bench/load/generator.ts";

/** Requests a second over all servers. */
export interface Rates {
  readonly searches: number;
  readonly writes: number;
}

const USERS = 100;

/** People who search and write at random moments, whether they are answered or not: each server has its share of them. */
export async function steady(
  servers: readonly { readonly url: string; readonly key: string }[],
  { searches, writes }: Rates,
  seconds: number,
): Promise<{ readonly [kind: string]: { p50: number; p95: number; sent: number; errors: object } }> {
  const all = await Promise.all(
    servers.map((server, i) => {
      const kinds: readonly Kind[] = [
        {
          name: "search",
          perSecond: searches / servers.length,
          make: (number) => ({
            path: `/api/v1/memories/steady-${number % USERS}/search`,
            body: { query: "What sings at noon?" },
          }),
        },
        {
          name: "write",
          perSecond: writes / servers.length,
          make: (number) => ({
            path: "/api/v1/messages",
            body: {
              user_id: `steady-${number % USERS}`,
              messages: [
                { id: `s${i}-${number}`, role: "user", content: `My kettle no. ${number} sings at noon.` },
              ],
            },
          }),
        },
      ];
      const asked = kinds.filter(({ perSecond }) => perSecond > 0);
      return send(server, asked, seconds, 17 + i);
    }),
  );
  const names = [...new Set(all.flat().map(({ name }) => name))];
  return Object.fromEntries(names.map((name) => [name, figuresOf(all.flat(), name)]));
}

function figuresOf(all: readonly Sent[], kind: string) {
  const ours = all.filter(({ name }) => name === kind);
  const times = ours.flatMap(({ latencies }) => latencies).toSorted((one, other) => one - other);
  const at = (share: number): number => Math.round(times[Math.floor(times.length * share)] ?? 0);
  const errors: Record<string, number> = {};
  for (const [what, count] of ours.flatMap((one) => [...one.errors]))
    errors[what] = (errors[what] ?? 0) + count;
  return { p50: at(0.5), p95: at(0.95), sent: times.length, errors };
}
