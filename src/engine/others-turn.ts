/** Goes on when all that waits already has had its turn: long work in slices holds nobody up. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
