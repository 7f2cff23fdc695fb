import { getServerSettings } from "../../../config/backend-settings.ts";
import { readSettings, type Settings } from "../../../config/settings.ts";
import { invalid } from "../../../errors.ts";
import { type KeyScope, type KeyStore, keysFile, keysPathOf, sharedKeys } from "../../../http/index.ts";
import { createKeyManagement, type KeyManagement } from "../../../http/keys/key-management.ts";
import { type ShownKey, toShownKey } from "../../../http/keys/key-ring.ts";
import { EXIT } from "../../exit.ts";
import { createPrinter, formatCount, formatTable, type Printer, toShortLine } from "../../printer.ts";
import { type CommonOptions, createCommandClock, reportErrors } from "../../with-memory.ts";

export interface KeysOptions extends CommonOptions {
  readonly scope?: readonly KeyScope[];
  readonly onlyUser?: string;
  /** ISO 8601, or milliseconds from now. */
  readonly expires?: string | number;
  readonly label?: string;
  /** Milliseconds. */
  readonly grace?: number;
}

export async function listKeys(options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, hasEnvironmentKey }) => {
    const items = keys.list(options.project).map((entry) => toShownKey(entry, now));
    print.result({ items }, () =>
      items.length === 0 ? [] : formatTable([HEADINGS, ...items.map(formatKeyRow)]),
    );
    if (items.length === 0) print.note("There are no keys.");
    if (hasEnvironmentKey) print.note("KEEPSAKE_API_KEY is valid too, for the project default.");
    return EXIT.done;
  });
}

export async function createKey(options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush }) => {
    const { expires } = options;
    const created = keys.create({
      project: options.project,
      scopes: options.scope,
      user: options.onlyUser,
      label: options.label,
      expiresAt: typeof expires === "number" ? new Date(now.getTime() + expires) : expires,
    });
    await flush();
    return printIssuedKey(print, created.key, toShownKey(created.entry, now));
  });
}

export async function rotateKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush }) => {
    const { key, entry } = keys.rotate(id, {
      graceMs: options.grace,
      project: options.project,
    });
    await flush();
    const shown = toShownKey(entry, now);
    const until = shown.oldSecretUntil;
    print.note(
      until === undefined
        ? "The old secret is no longer valid."
        : `The old secret stays valid until ${toShortLine(until)}.`,
    );
    return printIssuedKey(print, key, shown);
  });
}

export async function revokeKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush }) => {
    const revoked = keys.revoke(id, options.project === undefined ? {} : { project: options.project });
    await flush();
    const shown = toShownKey(revoked, now);
    print.result({ revoked: shown }, () => [
      `Revoked the key ${shown.id} of the project ${toShortLine(shown.project)}.`,
    ]);
    const left = keys.list().length;
    print.note(
      left === 0 ? "No keys left: `keepsake keys create` makes one." : `${formatCount(left, "key")} left.`,
    );
    return EXIT.done;
  });
}

interface KeyCommandContext {
  readonly keys: KeyManagement;
  /** Waits until changes are stored. Commands report a change only after this. */
  flush(): Promise<void>;
  readonly print: Printer;
  readonly now: Date;
  /** Whether the environment sets a key. */
  readonly hasEnvironmentKey: boolean;
}

async function withKeys(
  options: KeysOptions,
  work: (context: KeyCommandContext) => Promise<number>,
): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    const settings = readSettings(undefined, options.db);
    const clock = createCommandClock(options.at);
    const { store, close } = await openKeyStore(settings);
    try {
      await store.refresh?.();
      return await work({
        keys: createKeyManagement(store, clock),
        flush: async () => store.kept?.(),
        print,
        now: clock(),
        hasEnvironmentKey: settings.apiKey !== undefined,
      });
    } finally {
      await close();
    }
  });
}

interface OpenedKeyStore {
  readonly store: KeyStore;
  close(): Promise<void>;
}

/** Opens the store of keys. A keys file needs no database, so keys can be made before the first start. On a database server, servers share keys. */
async function openKeyStore({ path, secret, backends }: Settings): Promise<OpenedKeyStore> {
  if (getServerSettings(backends)) {
    const { openServerStore } = await import("../../../config/backends/connections.ts");
    const { record, close } = await openServerStore(backends, secret === undefined ? {} : { secret });
    return { store: sharedKeys(record.documents), close };
  }
  if (path === ":memory:") throw invalid(":memory: cannot store keys. Name a file with --db.");
  return { store: keysFile(keysPathOf(path)), close: async () => {} };
}

/** Prints the key. This is the only time that the secret is shown. */
function printIssuedKey(print: Printer, key: string, shown: ShownKey): number {
  print.result({ key, ...shown }, () => [
    `The key, shown this once:  ${key}`,
    "",
    ...formatTable([HEADINGS, formatKeyRow(shown)]),
  ]);
  return EXIT.done;
}

const HEADINGS = ["id", "project", "may", "only user", "made", "expires", "last used", "label"];

function formatKeyRow(key: ShownKey): string[] {
  return [
    key.id,
    toShortLine(key.project, 40),
    key.scopes.join(" "),
    toShortLine(key.userId ?? "", 40),
    key.createdAt.slice(0, 10),
    key.status === "expired" ? "expired" : formatKeyTime(key.expiresAt, "never"),
    formatKeyTime(key.lastUsedAt, "not yet"),
    toShortLine(key.label ?? "", 60),
  ];
}

function formatKeyTime(time: string | undefined, otherwise: string): string {
  return time === undefined ? otherwise : time.slice(0, 16).replace("T", " ");
}
