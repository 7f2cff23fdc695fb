import { readSettings, type Settings } from "../../config/settings.ts";
import { invalid } from "../../errors.ts";
import { type KeyScope, type KeyStore, keysFile, keysPathOf, sharedKeys } from "../../http/index.ts";
import { createKeyManagement, type KeyManagement } from "../../http/keys/key-management.ts";
import { type ShownKey, toShownKey } from "../../http/keys/key-ring.ts";
import { EXIT } from "../exit.ts";
import { createPrinter, formatCount, formatTable, type Printer, toShortLine } from "../printer.ts";
import { type CommonOptions, createCommandClock, reportErrors } from "../with-memory.ts";

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
  await withKeys(options, async ({ keys, print, now, hasEnvironmentKey: hasGiven }) => {
    const items = keys.list(options.project).map((entry) => toShownKey(entry, now));
    print.result({ items }, () =>
      items.length === 0 ? [] : formatTable([HEADINGS, ...items.map(formatKeyRow)]),
    );
    if (items.length === 0) print.note("There are no keys.");
    if (hasGiven) print.note("KEEPSAKE_API_KEY counts beside these, for the project default.");
    return EXIT.done;
  });
}

export async function createKey(options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush: kept }) => {
    const { expires } = options;
    const made = keys.create({
      project: options.project,
      scopes: options.scope,
      user: options.onlyUser,
      label: options.label,
      expiresAt: typeof expires === "number" ? new Date(now.getTime() + expires) : expires,
    });
    await kept();
    return printIssuedKey(print, made.key, toShownKey(made.entry, now));
  });
}

export async function rotateKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush: kept }) => {
    const { key, entry } = keys.rotate(id, {
      graceMs: options.grace,
      project: options.project,
    });
    await kept();
    const shown = toShownKey(entry, now);
    const until = shown.oldSecretUntil;
    print.note(
      until === undefined
        ? "The old secret has ended."
        : `The old secret counts until ${toShortLine(until)}.`,
    );
    return printIssuedKey(print, key, shown);
  });
}

export async function revokeKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, flush: kept }) => {
    const gone = keys.revoke(id, options.project === undefined ? {} : { project: options.project });
    await kept();
    const shown = toShownKey(gone, now);
    print.result({ revoked: shown }, () => [
      `The key ${shown.id} of the project ${toShortLine(shown.project)} has ended.`,
    ]);
    const left = keys.list().length;
    print.note(
      left === 0 ? "No key is left: `keepsake keys create` makes one." : `${formatCount(left, "key")} left.`,
    );
    return EXIT.done;
  });
}

interface KeyCommandContext {
  readonly keys: KeyManagement;
  /** Ends when what was changed is kept: before that nobody is told of it. */
  flush(): Promise<void>;
  readonly print: Printer;
  readonly now: Date;
  /** Whether the environment brings a key of its own. */
  readonly hasEnvironmentKey: boolean;
}

async function withKeys(
  options: KeysOptions,
  work: (work: KeyCommandContext) => Promise<number>,
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

/** Beside a file no database is needed: keys can be made before the first start. In PostgreSQL all servers share them. */
async function openKeyStore({ path, secret, backends }: Settings): Promise<OpenedKeyStore> {
  const { postgres } = backends ?? {};
  if (postgres) {
    const { openPostgres } = await import("../../config/backends/connections.ts");
    const { record, close } = await openPostgres(postgres, secret === undefined ? {} : { secret });
    return { store: sharedKeys(record.documents), close };
  }
  if (path === ":memory:") throw invalid("a memory that keeps nothing keeps no keys. Name a file with --db.");
  return { store: keysFile(keysPathOf(path)), close: async () => {} };
}

/** The only time that the secret is shown. */
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
