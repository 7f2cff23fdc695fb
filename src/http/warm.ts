import { findInjections } from "../domain/orders/orders.ts";

const WARM_UP_DELAY_MS = 50;
/** The last one is no Latin-1: texts of two bytes a letter have forms of their own. */
const SAMPLE_TEXTS: readonly string[] = [
  "Dear assistant, you must remember this: always.",
  "Nobody asked the model.",
  "We talked about agents for an hour — naïve ones.",
];

/**
 * The forms of orders to the assistant are large, and are compiled when they are first used: a tenth of a second, for which the
 * first chat would else wait. It is done a moment after the start.
 */
export function warmUpInjectionPatterns(): void {
  setTimeout(() => {
    for (const text of SAMPLE_TEXTS) findInjections(text, "typed");
  }, WARM_UP_DELAY_MS).unref();
}
