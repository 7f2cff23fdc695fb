import {
  NO_WEBHOOK_HEALTH,
  type Webhook,
  type WebhookCursor,
  type WebhookHealth,
} from "../../domain/operations/webhook.ts";
import { toScopeKey } from "../../domain/scope.ts";
import { MemoryError } from "../../errors.ts";
import type { WebhookStore } from "../../ports/stores/webhook-store.ts";
import type { MemoryUser } from "./user-data.ts";

interface MemoryWebhook {
  webhook: Webhook;
  health: WebhookHealth;
  /** By the key of the user's scope. */
  readonly cursors: Map<string, WebhookCursor>;
}

/** The webhooks of a store, by id. */
export type MemoryWebhooks = Map<string, MemoryWebhook>;

/** The reference `WebhookStore`. `check` throws if the store is closed. */
export function createMemoryWebhooks(
  webhooks: MemoryWebhooks,
  users: ReadonlyMap<string, MemoryUser>,
  check: () => void,
): WebhookStore {
  const find = (project: string, id: string): MemoryWebhook | undefined => {
    check();
    const found = webhooks.get(id);
    return found?.webhook.project === project ? found : undefined;
  };
  return {
    async list(project) {
      check();
      const found = [...webhooks.values()]
        .filter(({ webhook }) => project === undefined || webhook.project === project)
        .map(({ webhook, health }) => ({ webhook, health }));
      return structuredClone(found.sort((one, other) => (one.webhook.id < other.webhook.id ? -1 : 1)));
    },

    async save(given) {
      const webhook = structuredClone(given);
      const stored = find(webhook.project, webhook.id);
      if ((stored?.webhook.version ?? 0) !== webhook.version - 1)
        throw new MemoryError("conflict", "the webhook has changed meanwhile. Read it again.");
      if (stored) {
        stored.webhook = webhook;
        return;
      }
      const cursors = new Map(
        [...users.values()]
          .filter(({ scope }) => scope.project === webhook.project)
          .map(({ scope, revision }) => [toScopeKey(scope), { scope: { ...scope }, revision }]),
      );
      webhooks.set(webhook.id, { webhook, health: NO_WEBHOOK_HEALTH, cursors });
    },

    async remove(project, id) {
      return find(project, id) !== undefined && webhooks.delete(id);
    },

    async saveHealth(project, id, health) {
      const found = find(project, id);
      if (found) found.health = structuredClone(health);
    },

    async readPageSums({ from, size }) {
      check();
      const sums = new Map<number, number>();
      let number = 0;
      for (const { revision } of users.values()) {
        const page = Math.floor(number / size);
        if (page >= from) sums.set(page, (sums.get(page) ?? 0) + revision);
        number += 1;
      }
      return { sums: [...sums].map(([page, sum]) => ({ page, sum })) };
    },

    async findChanged({ project, id }, { after, upTo }) {
      const cursors = find(project, id)?.cursors;
      const changed = [...users.values()]
        .slice(after, upTo)
        .filter(({ scope }) => cursors && scope.project === project)
        .map(({ scope, revision }) => ({
          revision,
          cursor: cursors?.get(toScopeKey(scope)) ?? { scope: { ...scope }, revision: 0 },
        }))
        .filter(({ revision, cursor }) => revision > cursor.revision);
      return structuredClone(changed.map(({ cursor, revision: latest }) => ({ ...cursor, latest })));
    },

    async saveCursors({ project, id }, saved) {
      const cursors = find(project, id)?.cursors;
      for (const cursor of structuredClone(saved)) {
        const key = toScopeKey(cursor.scope);
        if (users.has(key) && cursor.revision >= (cursors?.get(key)?.revision ?? 0))
          cursors?.set(key, cursor);
      }
    },
  };
}
