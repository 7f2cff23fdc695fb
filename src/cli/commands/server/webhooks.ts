import type { WebhookEvent } from "../../../domain/operations/webhook.ts";
import type {
  IssuedWebhook,
  NewWebhook,
  ShownWebhook,
  WebhookManagement,
} from "../../../engine/webhooks/manage-webhooks.ts";
import { invalid } from "../../../errors.ts";
import { EXIT } from "../../exit.ts";
import { formatCount, formatTable, type Printer, toShortLine } from "../../printer.ts";
import { type CommonOptions, withMemory } from "../../with-memory.ts";

interface WebhookCommandOptions extends CommonOptions {
  readonly event?: readonly WebhookEvent[];
  readonly label?: string;
  readonly url?: string;
  readonly disabled?: true;
  readonly enable?: true;
  readonly disable?: true;
  /** Milliseconds. */
  readonly grace?: number;
}

export async function listWebhooks(options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    const items = await webhooks.list(options.project);
    print.result({ items, total: items.length }, () => formatWebhooks(items));
    if (items.length === 0) print.note("There are no webhooks.");
    return EXIT.done;
  });
}

export async function addWebhook(url: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "writes", async (webhooks, print) => {
    const wanted = { url, ...toChanges(options), ...(options.disabled ? { enabled: false } : {}) };
    return printIssuedWebhook(print, await webhooks.create(wanted, options.project));
  });
}

export async function updateWebhook(id: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    const { url, enable, disable } = options;
    const changes: Partial<NewWebhook> = {
      ...toChanges(options),
      ...(url === undefined ? {} : { url }),
      ...(enable ? { enabled: true } : {}),
      ...(disable ? { enabled: false } : {}),
    };
    if (Object.keys(changes).length === 0)
      throw invalid("Name what is to change: --url, --event, --label, --enable or --disable.");
    const webhook = await webhooks.update(id, changes, options.project);
    print.result(webhook, () => formatWebhooks([webhook]));
    return EXIT.done;
  });
}

/** Fails if the event was not delivered. */
export async function testWebhook(id: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    const attempt = await webhooks.test(id, options.project);
    const { status, tookMs, problem } = attempt;
    const answer = status === undefined ? "" : `status ${status}, `;
    print.result(attempt, () => [
      problem === undefined
        ? `Delivered: ${answer}${tookMs} ms.`
        : `Not delivered: ${answer}${problem}, ${tookMs} ms.`,
    ]);
    return problem === undefined ? EXIT.done : EXIT.failed;
  });
}

export async function listAttempts(id: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    const items = await webhooks.attempts(id, options.project);
    print.result({ items }, () =>
      items.length === 0
        ? []
        : formatTable([
            ["time", "event", "attempt", "status", "took", "problem"],
            ...items.map(({ at, type, attempt, status, tookMs, problem = "" }) => [
              at,
              type,
              `${attempt}`,
              `${status ?? ""}`,
              `${tookMs} ms`,
              problem,
            ]),
          ]),
    );
    if (items.length === 0) print.note("There were no attempts yet.");
    return EXIT.done;
  });
}

export async function rotateWebhook(id: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    const { grace: graceMs, project = "default" } = options;
    const issued = await webhooks.rotate(id, { graceMs, project });
    const until = issued.oldSecretUntil;
    print.note(
      until === undefined
        ? "The old secret signs no more."
        : `The old secret signs too until ${toShortLine(until)}.`,
    );
    return printIssuedWebhook(print, issued);
  });
}

export async function removeWebhook(id: string, options: WebhookCommandOptions): Promise<void> {
  await withWebhooks(options, "reads", async (webhooks, print) => {
    await webhooks.remove(id, options.project);
    print.result({ removed: id }, () => [`Removed the webhook ${toShortLine(id)}.`]);
    return EXIT.done;
  });
}

/** Opens the memory without its background work: a server sends the events. */
async function withWebhooks(
  options: WebhookCommandOptions,
  access: "reads" | "writes",
  work: (webhooks: WebhookManagement, print: Printer) => Promise<number>,
): Promise<void> {
  const { toWebhookOptions } = await import("../../start-report.ts");
  await withMemory(
    options,
    access,
    ({ keepsake, print }) => work(keepsake.webhooks, print),
    (settings) => ({ ...toWebhookOptions(settings), jobs: "elsewhere" }),
  );
}

function toChanges({ event: events, label }: WebhookCommandOptions): Pick<NewWebhook, "events" | "label"> {
  return { ...(events === undefined ? {} : { events }), ...(label === undefined ? {} : { label }) };
}

/** Prints the secret. This is the only time that it is shown. */
function printIssuedWebhook(print: Printer, issued: IssuedWebhook): number {
  print.result(issued, () => [
    `The secret, shown this once:  ${issued.secret}`,
    "",
    ...formatWebhooks([issued]),
  ]);
  return EXIT.done;
}

function formatWebhooks(webhooks: readonly ShownWebhook[]): string[] {
  if (webhooks.length === 0) return [];
  const heading = ["id", "url", "events", "status", "delivered", "last problem", "label"];
  return formatTable([heading, ...webhooks.map(formatWebhookRow)]);
}

function formatWebhookRow(webhook: ShownWebhook): string[] {
  const { id, url, events, status, disabledFor, delivered, failures, lastProblem = "", label = "" } = webhook;
  return [
    id,
    toShortLine(url, 60),
    events.join(" "),
    disabledFor === undefined ? status : `${status} (${disabledFor})`,
    `${delivered}`,
    failures === 0 ? "" : `${lastProblem}, ${formatCount(failures, "failure")}`,
    toShortLine(label, 60),
  ];
}
