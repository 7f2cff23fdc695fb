import { getServerSettings } from "../../../config/backend-settings.ts";
import { readSettings, type Settings } from "../../../config/settings.ts";
import { invalid, MemoryError } from "../../../errors.ts";
import {
  type GrantEntry,
  type GrantStore,
  openGrantsFile,
  openSharedGrants,
  toGrantsPath,
} from "../../../http/index.ts";
import { EXIT } from "../../exit.ts";
import { createPrinter, formatTable, type Printer, toShortLine } from "../../printer.ts";
import { createCommandClock, reportErrors } from "../../with-memory.ts";
import type { KeysOptions } from "./keys.ts";

/** Lists the clients that people have allowed by OAuth, of all projects or one. */
export async function listClients(options: KeysOptions): Promise<void> {
  await withGrants(options, async ({ grants, print, moment }) => {
    const items = (await grants.read()).grants
      .filter(({ expiresAt, project }) => expiresAt > moment && isOf(options, project))
      .map(toShownClient);
    print.result({ items }, () =>
      items.length === 0 ? [] : formatTable([HEADINGS, ...items.map(formatClientRow)]),
    );
    if (items.length === 0) print.note("No client is connected.");
    return EXIT.done;
  });
}

/** Ends the access of a client at once. Throws `not_found`. */
export async function disconnectClient(id: string, options: KeysOptions): Promise<void> {
  await withGrants(options, async ({ grants, print }) => {
    let ended: GrantEntry | undefined;
    await grants.change((held) => {
      ended = held.grants.find((grant) => grant.id === id && isOf(options, grant.project));
      return ended ? { ...held, grants: held.grants.filter((grant) => grant !== ended) } : held;
    });
    if (!ended) throw new MemoryError("not_found", "no client is connected under this id.");
    const shown = toShownClient(ended);
    print.result({ disconnected: shown }, () => [
      `Disconnected ${toShortLine(shown.client)} from the memory of ${toShortLine(shown.userId)}.`,
    ]);
    return EXIT.done;
  });
}

interface ClientsContext {
  readonly grants: GrantStore;
  readonly print: Printer;
  /** Now, in ISO 8601. */
  readonly moment: string;
}

async function withGrants(
  options: KeysOptions,
  work: (context: ClientsContext) => Promise<number>,
): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const { grants, close } = await openGrants(settings);
    try {
      return await work({ grants, print, moment: createCommandClock(options.at)().toISOString() });
    } finally {
      await close();
    }
  });
}

/** Opens the grants where the server has them: beside its keys. */
async function openGrants({
  path,
  secret,
  backends,
}: Settings): Promise<{ readonly grants: GrantStore; close(): Promise<void> }> {
  if (getServerSettings(backends)) {
    const { openServerStore } = await import("../../../config/backends/connections.ts");
    const { record, close } = await openServerStore(backends, secret === undefined ? {} : { secret });
    return { grants: openSharedGrants(record.documents), close };
  }
  if (path === ":memory:") throw invalid(":memory: cannot store clients. Name a file with --db.");
  return { grants: openGrantsFile(toGrantsPath(path)), close: async () => {} };
}

const isOf = ({ project }: KeysOptions, named: string): boolean => project === undefined || project === named;

interface ShownClient {
  readonly id: string;
  readonly client: string;
  readonly project: string;
  readonly userId: string;
  readonly scopes: readonly string[];
  readonly key: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

function toShownClient(grant: GrantEntry): ShownClient {
  const { id, client, project, user: userId, scopes, key, createdAt, expiresAt } = grant;
  return { id, client, project, userId, scopes, key, createdAt, expiresAt };
}

const HEADINGS = ["id", "client", "project", "user", "may", "key", "allowed", "unless used"];

function formatClientRow(shown: ShownClient): string[] {
  return [
    shown.id,
    toShortLine(shown.client, 60),
    toShortLine(shown.project, 40),
    toShortLine(shown.userId, 40),
    shown.scopes.join(" "),
    shown.key,
    shown.createdAt.slice(0, 10),
    shown.expiresAt.slice(0, 10),
  ];
}
