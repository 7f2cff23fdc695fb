import { checkName, checkText } from "../../domain/limits.ts";
import {
  getWebhookStatus,
  NO_WEBHOOK_HEALTH,
  WEBHOOK_EVENTS,
  WEBHOOK_LIMITS,
  type Webhook,
  type WebhookAttempt,
  type WebhookEvent,
  type WebhookHealth,
  type WebhookStatus,
} from "../../domain/operations/webhook.ts";
import { invalid, isMemoryError, MemoryError } from "../../errors.ts";
import type { StoredWebhook, WebhookStore } from "../../ports/stores/webhook-store.ts";
import type { Ports } from "../ports.ts";
import { sendWebhook, type WebhookPorts } from "./send-webhook.ts";
import { createTestMessage, deriveWebhookSecret } from "./sign-webhook.ts";

/** The properties of a new webhook. */
export interface NewWebhook {
  /** An `https:` URL of a public host. */
  readonly url: string;
  /** What it is told of. Default: everything. */
  readonly events?: readonly WebhookEvent[];
  /** Whether deliveries begin at once (true). */
  readonly enabled?: boolean;
  /** A name for people, at most 100 bytes. */
  readonly label?: string;
}

/** A webhook as it is shown: without its secret. */
export type ShownWebhook = Omit<Webhook, "generation" | "previous" | "version" | "enabledAt"> & {
  /** "failing": the last attempt failed. "disabled": no attempts are made. */
  readonly status: WebhookStatus;
  /** Until when the secret before the last rotation signs too (ISO 8601). */
  readonly oldSecretUntil?: string;
} & Omit<WebhookHealth, "attempts"> & {
    /** Why the last attempt failed. */
    readonly lastProblem?: string;
    /** The HTTP status of the last attempt. */
    readonly lastStatus?: number;
  };

/** A webhook with its secret, which is shown once. */
export type IssuedWebhook = ShownWebhook & { readonly secret: string };

/** Registers webhooks. Every method throws `unsupported` if this memory was opened without webhooks. */
export interface WebhookManagement {
  /** Gives the webhooks of a project, oldest first. */
  list(project?: string): Promise<ShownWebhook[]>;
  /** Gives one. Throws `not_found`. */
  get(id: string, project?: string): Promise<ShownWebhook>;
  /** Gives its last attempts, the newest first. Throws `not_found`. */
  attempts(id: string, project?: string): Promise<readonly WebhookAttempt[]>;
  /** Registers one. It is told of what happens from now on. Throws `over_quota` if the project has 100. */
  create(webhook: NewWebhook, project?: string): Promise<IssuedWebhook>;
  /** Changes the given properties. One that is enabled again goes on where it stopped. Throws `not_found`. */
  update(id: string, changes: Partial<NewWebhook>, project?: string): Promise<ShownWebhook>;
  /** Replaces its secret. The old one signs too for `graceMs` (a day; at most seven). Throws `not_found`. */
  rotate(
    id: string,
    options?: { readonly graceMs?: number | undefined; readonly project?: string },
  ): Promise<IssuedWebhook>;
  /** Sends an event `webhook.test` now, also to a disabled webhook. Throws `not_found`. */
  test(id: string, project?: string): Promise<WebhookAttempt>;
  /** Removes one with its attempts. Throws `not_found`. */
  remove(id: string, project?: string): Promise<void>;
}

const DEFAULT_GRACE_MS = 86_400_000;
/** How often a change is tried while others change the webhook. */
const TRIES = 5;

/** `check` throws if the memory is closed; `onChange` is called after each change. */
export function createWebhookManagement(
  ports: Ports,
  {
    check,
    onChange = () => {},
  }: { readonly check: () => void; readonly onChange?: (() => void) | undefined },
): WebhookManagement {
  const open = (project = "default"): OpenWebhooks => {
    check();
    return openWebhooks(ports, checkName(project, "project"));
  };
  const show = (stored: StoredWebhook): ShownWebhook => toShownWebhook(stored, ports.clock());
  const change = async (
    id: string,
    project: string | undefined,
    edit: (webhook: Webhook) => Webhook,
  ): Promise<StoredWebhook> => {
    const changed = await changeWebhook(open(project), id, edit);
    onChange();
    return changed;
  };
  const issue = (stored: StoredWebhook): IssuedWebhook => ({
    ...show(stored),
    secret: deriveWebhookSecret(ports.secret, stored.webhook, stored.webhook.generation),
  });
  return {
    async list(project) {
      const opened = open(project);
      return (await opened.store.list(opened.project)).map(show);
    },
    get: async (id, project) => show(await findWebhook(open(project), id)),
    attempts: async (id, project) => (await findWebhook(open(project), id)).health.attempts,
    async create(wanted, project) {
      const created = await createWebhook(open(project), wanted);
      onChange();
      return issue(created);
    },
    async update(id, changes, project) {
      const checked = await checkChanges(open(project), changes);
      return show(await change(id, project, (webhook) => editWebhook(webhook, checked, ports.clock())));
    },
    async rotate(id, { graceMs = DEFAULT_GRACE_MS, project } = {}) {
      if (!(Number.isFinite(graceMs) && graceMs >= 0 && graceMs <= WEBHOOK_LIMITS.graceMs))
        throw invalid("The grace period must be from 0 to seven days.");
      const generation = ports.ids();
      const until = new Date(ports.clock().getTime() + graceMs).toISOString();
      const edit = ({ previous: _previous, ...webhook }: Webhook): Webhook => ({
        ...webhook,
        generation,
        ...(graceMs === 0 ? {} : { previous: { generation: webhook.generation, until } }),
      });
      return issue(await change(id, project, edit));
    },
    async test(id, project) {
      const opened = open(project);
      const { webhook } = await findWebhook(opened, id);
      const message = createTestMessage(webhook, ports.ids(), ports.clock());
      const { signal } = new AbortController();
      return (await sendWebhook(opened.ports, webhook, message, { attempt: 1, signal })).attempt;
    },
    async remove(id, project) {
      const opened = open(project);
      if (!(await opened.store.remove(opened.project, checkName(id, "id")))) throw createNotFoundError();
      onChange();
    },
  };
}

/** What the webhooks of one project need. */
interface OpenWebhooks {
  readonly project: string;
  readonly store: WebhookStore;
  readonly ports: WebhookPorts;
}

function openWebhooks(ports: Ports, project: string): OpenWebhooks {
  const { webhookSender, store } = ports;
  if (webhookSender && store.webhooks)
    return { project, store: store.webhooks, ports: { ...ports, webhookSender } };
  throw new MemoryError(
    "unsupported",
    "Webhooks are off. Open the memory with the option `webhooks`, or the server without KEEPSAKE_WEBHOOKS=off.",
  );
}

async function findWebhook({ store, project }: OpenWebhooks, id: string): Promise<StoredWebhook> {
  const found = (await store.list(project)).find(({ webhook }) => webhook.id === id);
  if (!found) throw createNotFoundError();
  return found;
}

/** Changes a webhook; again on its new state if another writer has changed it. */
async function changeWebhook(
  opened: OpenWebhooks,
  id: string,
  edit: (webhook: Webhook) => Webhook,
): Promise<StoredWebhook> {
  for (let tries = 1; ; tries += 1) {
    const { webhook, health } = await findWebhook(opened, id);
    const next = { ...edit(webhook), version: webhook.version + 1 };
    try {
      await opened.store.save(next);
      return { webhook: next, health };
    } catch (error) {
      if (!(isMemoryError(error) && error.code === "conflict") || tries === TRIES) throw error;
    }
  }
}

async function createWebhook(
  { store, ports, project }: OpenWebhooks,
  wanted: NewWebhook,
): Promise<StoredWebhook> {
  const { url, events = WEBHOOK_EVENTS, enabled = true, label } = wanted;
  const at = ports.clock().toISOString();
  const webhook: Webhook = {
    id: ports.ids(),
    project,
    url: await ports.webhookSender.check(checkUrlText(url)),
    events: checkEvents(events),
    enabled,
    enabledAt: at,
    ...(label === undefined ? {} : { label: checkLabel(label) }),
    createdAt: at,
    generation: ports.ids(),
    version: 1,
  };
  if ((await store.list(project)).length >= WEBHOOK_LIMITS.count)
    throw new MemoryError(
      "over_quota",
      `The project has ${WEBHOOK_LIMITS.count} webhooks. Remove some first.`,
    );
  await store.save(webhook);
  return { webhook, health: NO_WEBHOOK_HEALTH };
}

/** Checks changes, and leaves out what is undefined. */
async function checkChanges(
  { ports }: OpenWebhooks,
  { url, events, enabled, label }: Partial<NewWebhook>,
): Promise<Partial<NewWebhook>> {
  return {
    ...(url === undefined ? {} : { url: await ports.webhookSender.check(checkUrlText(url)) }),
    ...(events === undefined ? {} : { events: checkEvents(events) }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(label === undefined ? {} : { label: checkLabel(label) }),
  };
}

/** Applies checked changes. What the server disabled stays so until a user enables or disables it. */
function editWebhook(webhook: Webhook, changes: Partial<NewWebhook>, now: Date): Webhook {
  const isFresh = changes.enabled === true || (changes.url ?? webhook.url) !== webhook.url;
  const { disabledFor, ...rest } = webhook;
  return {
    ...rest,
    ...changes,
    ...(isFresh ? { enabledAt: now.toISOString() } : {}),
    ...(changes.enabled === undefined && disabledFor !== undefined ? { disabledFor } : {}),
  };
}

function toShownWebhook({ webhook, health }: StoredWebhook, now: Date): ShownWebhook {
  const { generation: _generation, version: _version, enabledAt: _enabledAt, previous, ...rest } = webhook;
  const { attempts, ...counts } = health;
  const [last] = attempts;
  const isOldValid = previous !== undefined && previous.until > now.toISOString();
  return {
    ...rest,
    status: getWebhookStatus(webhook, health),
    ...(isOldValid ? { oldSecretUntil: previous.until } : {}),
    ...counts,
    ...(last?.problem === undefined ? {} : { lastProblem: last.problem }),
    ...(last?.status === undefined ? {} : { lastStatus: last.status }),
  };
}

function checkUrlText(url: unknown): string {
  return checkText(url, "url", WEBHOOK_LIMITS.urlBytes);
}

function checkLabel(label: string): string {
  return checkText(label, "label", WEBHOOK_LIMITS.labelBytes);
}

function checkEvents(events: readonly string[]): readonly WebhookEvent[] {
  const known = WEBHOOK_EVENTS.filter((event) => events.includes(event));
  if (known.length === 0 || events.some((event) => !WEBHOOK_EVENTS.some((one) => one === event)))
    throw invalid(`events: name at least one of ${WEBHOOK_EVENTS.join(", ")}.`);
  return known;
}

function createNotFoundError(): MemoryError {
  return new MemoryError("not_found", "There is no webhook with this id.");
}
