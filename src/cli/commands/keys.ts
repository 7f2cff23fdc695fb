import { readSettings, type Settings } from "../../config/settings.ts";
import { invalid } from "../../errors.ts";
import { type KeyScope, type KeyStore, keysFile, keysPathOf, sharedKeys } from "../../http/index.ts";
import { type KeyManagement, keyManagement } from "../../http/keys/manage.ts";
import { type ShownKey, shownKey } from "../../http/keys/shown.ts";
import { EXIT } from "../exit.ts";
import { type Printer, printer, several, short, table } from "../print.ts";
import { type CommonOptions, clockOf, reporting } from "../run.ts";

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
  await withKeys(options, async ({ keys, print, now, hasGiven }) => {
    const items = keys.list(options.project).map((entry) => shownKey(entry, now));
    print.result({ items }, () => (items.length === 0 ? [] : table([HEADINGS, ...items.map(row)])));
    if (items.length === 0) print.note("There are no keys.");
    if (hasGiven) print.note("KEEPSAKE_API_KEY counts beside these, for the project default.");
    return EXIT.done;
  });
}

export async function createKey(options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, kept }) => {
    const { expires } = options;
    const made = keys.create({
      project: options.project,
      scopes: options.scope,
      user: options.onlyUser,
      label: options.label,
      expiresAt: typeof expires === "number" ? new Date(now.getTime() + expires) : expires,
    });
    await kept();
    return issued(print, made.key, shownKey(made.entry, now));
  });
}

export async function rotateKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, kept }) => {
    const { key, entry } = keys.rotate(id, {
      graceMs: options.grace,
      project: options.project,
    });
    await kept();
    const shown = shownKey(entry, now);
    const until = shown.oldSecretUntil;
    print.note(
      until === undefined ? "The old secret has ended." : `The old secret counts until ${short(until)}.`,
    );
    return issued(print, key, shown);
  });
}

export async function revokeKey(id: string, options: KeysOptions): Promise<void> {
  await withKeys(options, async ({ keys, print, now, kept }) => {
    const gone = keys.revoke(id, options.project === undefined ? {} : { project: options.project });
    await kept();
    const shown = shownKey(gone, now);
    print.result({ revoked: shown }, () => [
      `The key ${shown.id} of the project ${short(shown.project)} has ended.`,
    ]);
    const left = keys.list().length;
    print.note(
      left === 0 ? "No key is left: `keepsake keys create` makes one." : `${several(left, "key")} left.`,
    );
    return EXIT.done;
  });
}

interface Work {
  readonly keys: KeyManagement;
  /** Ends when what was changed is kept: before that nobody is told of it. */
  kept(): Promise<void>;
  readonly print: Printer;
  readonly now: Date;
  /** Whether the environment brings a key of its own. */
  readonly hasGiven: boolean;
}

async function withKeys(options: KeysOptions, work: (work: Work) => Promise<number>): Promise<void> {
  const print = printer(options.json ?? false);
  await reporting(print, async () => {
    const settings = readSettings(undefined, options.db);
    const clock = clockOf(options.at);
    const { store, close } = await storeOf(settings);
    try {
      await store.refresh?.();
      return await work({
        keys: keyManagement(store, clock),
        kept: async () => store.kept?.(),
        print,
        now: clock(),
        hasGiven: settings.apiKey !== undefined,
      });
    } finally {
      await close();
    }
  });
}

interface Store {
  readonly store: KeyStore;
  close(): Promise<void>;
}

/** Beside a file no database is needed: keys can be made before the first start. In PostgreSQL all servers share them. */
async function storeOf({ path, secret, backends }: Settings): Promise<Store> {
  const { postgres } = backends ?? {};
  if (postgres) {
    const { openPostgres } = await import("../../config/backends/postgres.ts");
    const { record, close } = await openPostgres(postgres, secret === undefined ? {} : { secret });
    return { store: sharedKeys(record.documents), close };
  }
  if (path === ":memory:") throw invalid("a memory that keeps nothing keeps no keys. Name a file with --db.");
  return { store: keysFile(keysPathOf(path)), close: async () => {} };
}

/** The only time that the secret is shown. */
function issued(print: Printer, key: string, shown: ShownKey): number {
  print.result({ key, ...shown }, () => [
    `The key, shown this once:  ${key}`,
    "",
    ...table([HEADINGS, row(shown)]),
  ]);
  return EXIT.done;
}

const HEADINGS = ["id", "project", "may", "only user", "made", "expires", "last used", "label"];

function row(key: ShownKey): string[] {
  return [
    key.id,
    short(key.project, 40),
    key.scopes.join(" "),
    short(key.userId ?? "", 40),
    key.createdAt.slice(0, 10),
    key.status === "expired" ? "expired" : minute(key.expiresAt, "never"),
    minute(key.lastUsedAt, "not yet"),
    short(key.label ?? "", 60),
  ];
}

function minute(time: string | undefined, otherwise: string): string {
  return time === undefined ? otherwise : time.slice(0, 16).replace("T", " ");
}
