import { Client, type QueryResultRow } from "pg";

/** A node of a Citus cluster, asked directly. */
export interface ClusterNode {
  readonly host: string;
  readonly port: number;
  rows<Row extends QueryResultRow>(sql: string, ...values: readonly unknown[]): Promise<Row[]>;
  /** Files of its data directory that contain one of the forms. The write-ahead log is left out, which an erasure reaches later. */
  findFiles(forms: readonly Buffer[]): Promise<string[]>;
  close(): Promise<void>;
}

const SELECT_FILES = `
WITH RECURSIVE files (path, is_folder) AS (
  SELECT name, (pg_stat_file(name)).isdir FROM pg_ls_dir('.') AS name WHERE name NOT IN ('base', 'pg_wal')
  UNION ALL
  SELECT 'base/' || oid, true FROM pg_database WHERE datname = current_database()
  UNION ALL
  SELECT path || '/' || name, (pg_stat_file(path || '/' || name, true)).isdir
  FROM files, pg_ls_dir(path, true, false) AS name WHERE is_folder
)
SELECT path FROM files CROSS JOIN LATERAL (SELECT pg_read_binary_file(path, 0, 1000000000, true) AS bytes OFFSET 0) AS file
WHERE NOT is_folder AND EXISTS (SELECT FROM unnest($1::bytea[]) AS form WHERE position(form IN bytes) > 0) ORDER BY path`;

/** Connects to a node of the cluster that an address of its coordinator names. */
export async function openNode(address: string, port: number, user?: string): Promise<ClusterNode> {
  const url = new URL(address);
  url.port = String(port);
  if (user !== undefined) url.username = user;
  const client = new Client({ connectionString: url.href });
  client.on("error", () => {});
  await client.connect();
  return {
    host: url.hostname,
    port,
    rows: async (sql, ...values) => (await client.query(sql, [...values])).rows,
    async findFiles(forms) {
      await client.query("CHECKPOINT");
      const { rows } = await client.query<{ path: string }>(SELECT_FILES, [forms]);
      return rows.map(({ path }) => path);
    },
    close: () => client.end(),
  };
}

/** The forms in which a word of letters and digits may be in a file: plain, UTF-16, hex, and Base64 at each offset. */
export function formsOf(word: string): Buffer[] {
  const bytes = Buffer.from(word);
  // Four characters of Base64 are three bytes; at other offsets, the first and last ones belong to their neighbours, too.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .slice(offset === 0 ? 0 : 4)
      .replace(/.{4}$/, ""),
  );
  const texts = [word.toUpperCase(), bytes.toString("hex"), bytes.toString("hex").toUpperCase(), ...base64];
  return [bytes, Buffer.from(word, "utf16le"), ...texts.map((text) => Buffer.from(text))];
}
