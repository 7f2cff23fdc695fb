import type { Webhook, WebhookCursor, WebhookHealth } from "../../domain/operations/webhook.ts";

/**
 * Webhooks of projects, and how far each has come in the log of each user. They are not part of a user's change-sets: no
 * revision, no log entry. They contain no user text.
 */
export interface WebhookStore {
  /** The webhooks of a project, or of all, in the order of their ids. */
  list(project?: string): Promise<StoredWebhook[]>;

  /**
   * Stores a webhook durably. Version 1 must not exist; it starts at a revision that each user of its project has during the
   * call. Any other must be the next version of the stored one. Throws `conflict` otherwise.
   */
  save(webhook: Webhook): Promise<void>;

  /** Removes a webhook with its cursors. False if there is none. */
  remove(project: string, id: string): Promise<boolean>;

  /** Replaces what is known of a webhook's deliveries. Does nothing if there is no such webhook. */
  saveHealth(project: string, id: string, health: WebhookHealth): Promise<void>;

  /**
   * Gives the sum of the revisions of each page of users, of all projects. Users are numbered from 1, in the order of their first
   * write; page `i` has the numbers above `i * size`, up to `(i + 1) * size`. Pages without users may be absent. One call gives
   * some of the pages in their order, from page `from` on.
   */
  readPageSums(options: { readonly from: number; readonly size: number }): Promise<UserPageSums>;

  /**
   * Gives the users of the webhook's project whose revision is ahead of the webhook's cursor, in the order of their numbers:
   * those above `after`, up to `upTo`.
   */
  findChanged(
    webhook: Pick<Webhook, "project" | "id">,
    range: { readonly after: number; readonly upTo: number },
  ): Promise<ChangedUser[]>;

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

/** A user with revisions that a webhook has not got: the webhook's cursor, and the user's revision. */
export interface ChangedUser extends WebhookCursor {
  readonly latest: number;
}

/** Sums of revisions, by page. A sum that has not changed says that no user of the page has a new revision. */
export interface UserPageSums {
  readonly sums: readonly { readonly page: number; readonly sum: number }[];
  /** The page to go on from; absent after the last page. */
  readonly next?: number;
}
