import { setTimeout as pause } from "node:timers/promises";
import type { Webhook } from "../../domain/operations/webhook.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";

/** Users whose cursors are written or removed in one transaction. */
export const CURSORS_PER_SLICE = 2000;

/**
 * The transactions of registering and removing a webhook. Each is short, so other writes run in between. Until the last one, the
 * webhook is hidden: its row has version 0, and nothing lists it, finds changes for it, or saves cursors of it.
 */
export interface WebhookSteps {
  /** Stores the next version; version 1 is stored as hidden. Throws `conflict`. */
  store(webhook: Webhook): Promise<void>;
  /** Starts the webhook at the present, for a slice of users after a number. Gives the number to go on after, if there are more. */
  start(webhook: Webhook, after: number): Promise<number | undefined>;
  /** Shows a hidden webhook. Throws `conflict` if it does not exist any more. */
  show(webhook: Webhook): Promise<void>;
  /** Hides a webhook. False if there is none. */
  hide(project: string, id: string): Promise<boolean>;
  /** Removes a slice of a hidden webhook's cursors, or the webhook if it has none. True if there is more to remove. */
  clear(project: string, id: string): Promise<boolean>;
  /** The ids of webhooks of the project that a process left hidden when it was killed: created before a time (ISO 8601). */
  findLeftovers(project: string, before: string): Promise<string[]>;
}

/** A process registers a webhook within this time, in ms. */
const LEFTOVER_MS = 3_600_000;

/** Registers and removes webhooks in slices. */
export function createSlicedWebhooks(steps: WebhookSteps): Pick<WebhookStore, "save" | "remove"> {
  const clear = (project: string, id: string): Promise<void> =>
    runSlices(async () => (await steps.clear(project, id)) || undefined);
  return {
    async save(webhook) {
      await steps.store(webhook);
      if (webhook.version > 1) return;
      const { project } = webhook;
      let after: number | undefined = 0;
      await runSlices(async () => {
        after = await steps.start(webhook, after ?? 0);
        return after;
      });
      await steps.show(webhook);
      const before = new Date(Date.parse(webhook.createdAt) - LEFTOVER_MS).toISOString();
      for (const id of await steps.findLeftovers(project, before)) await clear(project, id);
    },
    async remove(project, id) {
      const isFound = await steps.hide(project, id);
      if (isFound) await clear(project, id);
      return isFound;
    },
  };
}

/** Runs slices until one gives nothing. Other processes get the lock for as long as a slice took. */
async function runSlices(runSlice: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const from = performance.now();
    if ((await runSlice()) === undefined) return;
    await pause(performance.now() - from);
  }
}
