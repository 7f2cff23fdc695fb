import type { Webhook, WebhookCursor, WebhookHealth } from "../domain/webhook.ts";

/**
 * Webhooks of projects, and how far each has come in the log of each user. They are no part of a user's change-sets: no
 * revision, no log entry. They contain no user text.
 */
export interface WebhookStore {
  /** The webhooks of a project, or of all, in the order of their ids. */
  list(project?: string): Promise<StoredWebhook[]>;

  /**
   * Stores a webhook durably. Version 1 must not exist; it starts at the current revision of each user of its project. Any
   * other must be the next version of the stored one. Throws `conflict` otherwise.
   */
  save(webhook: Webhook): Promise<void>;

  /** Removes a webhook with its cursors. False if there is none. */
  remove(project: string, id: string): Promise<boolean>;

  /** Replaces what is known of a webhook's deliveries. Does nothing if there is no such webhook. */
  saveHealth(project: string, id: string, health: WebhookHealth): Promise<void>;

  /**
   * Looks at a page of users, in the order of their first write, and gives those of the webhook's project whose revision is
   * ahead of the webhook's cursor. `limit` is the number of users looked at, of all projects.
   */
  findChanged(
    webhook: Pick<Webhook, "project" | "id">,
    options: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<ChangedUserPage>;

  /**
   * Saves cursors. One behind the stored cursor is ignored, and so are those of a webhook that does not exist. A user without
   * a cursor is at revision 0.
   */
  saveCursors(webhook: Pick<Webhook, "project" | "id">, cursors: readonly WebhookCursor[]): Promise<void>;
}

export interface StoredWebhook {
  readonly webhook: Webhook;
  readonly health: WebhookHealth;
}

export interface ChangedUserPage {
  readonly users: readonly WebhookCursor[];
  /** Absent on the last page. */
  readonly cursor?: string;
}
