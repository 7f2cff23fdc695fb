/** Times of one kind of call, in milliseconds. */
export interface Spread {
  readonly n: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Calls it `times` times, one after the other, and says how long the calls took; `before` is not counted. */
export async function timed(
  times: number,
  call: (i: number) => unknown,
  before?: (i: number) => unknown,
): Promise<Spread> {
  const taken: number[] = [];
  for (let i = 0; i < times; i += 1) {
    await before?.(i);
    const began = performance.now();
    await call(i);
    taken.push(performance.now() - began);
  }
  taken.sort((one, other) => one - other);
  const at = (share: number): number =>
    rounded(taken[Math.min(taken.length - 1, Math.floor(share * taken.length))] ?? 0);
  return { n: times, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
