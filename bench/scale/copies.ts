import { Pool } from "pg";
import { openPostgresStore } from "../../src/adapters/postgres/index.ts";
import { staticEmbedder } from "../../src/adapters/static/index.ts";
import { createMemory, type Extractor, type MemoryStore } from "../../src/index.ts";
import { askers } from "../speed/asked.ts";
import { person } from "../speed/made-up.ts";
import type { TableSize } from "./results.ts";

export const SECRET = "a secret for measuring only";
const TEMPLATE = 1;
/** Users of one statement. */
const CHUNK = 500;

/** The name of a copy. Names of copies begin where the template's number ends. */
export const nameOfCopy = (number: number): string => `copy-${number}`;

/** Fills an empty schema: a template by the engine, then copies of its rows by SQL. Gives the seconds that the copies took. */
export async function fillSchema(
  url: string,
  schema: string,
  { users, perUser }: { readonly users: number; readonly perUser: number },
  report: (done: number) => void,
): Promise<number> {
  const pool = new Pool({ connectionString: url, max: 4, pipeline: true });
  try {
    await storeTemplate(await openPostgresStore({ pool, schema }), perUser);
    const began = performance.now();
    await copyTemplate(pool, schema, users, report);
    return Math.round((performance.now() - began) / 1000);
  } finally {
    await pool.end();
  }
}

/** A user with messages and as many memories, stored as a server does; and the search index that it saves for the user. */
async function storeTemplate(record: MemoryStore, perUser: number): Promise<void> {
  const { said, name } = person(TEMPLATE);
  const known = new Map<string, ReturnType<typeof said>["memory"]>();
  const messages = Array.from({ length: perUser }, (_, i) => {
    const { memory, ...message } = said(i);
    known.set(message.id, memory);
    return message;
  });
  const memory = await createMemory({
    record,
    secret: SECRET,
    extractor: createKnowingExtractor(known),
    embedder: staticEmbedder(),
  });
  let stored = 0;
  for await (const progress of memory.scope({ user: name }).import(messages)) stored = progress.stored;
  if (stored !== perUser) throw new Error(`The engine stored ${stored} of ${perUser} messages.`);
  await memory.close();
  const again = await createMemory({ record, secret: SECRET, embedder: staticEmbedder() });
  await again.scope({ user: name }).recall(askers(perUser)(TEMPLATE).ask());
  await again.close();
  await record.close();
}

/** Throws unless a copy is recalled like the template. */
export async function checkCopy(url: string, schema: string, perUser: number, number: number): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 4, pipeline: true });
  const record = await openPostgresStore({ pool, schema });
  const memory = await createMemory({ record, secret: SECRET, embedder: staticEmbedder() });
  const { ask } = askers(perUser)(TEMPLATE);
  const question = ask();
  const [template, copy] = await Promise.all(
    [person(TEMPLATE).name, nameOfCopy(number)].map((user) => memory.scope({ user }).recall(question)),
  );
  await memory.close();
  await record.close();
  await pool.end();
  const textsOf = (recall: typeof template): string => JSON.stringify(recall?.items.map(({ text }) => text));
  if (!template || template.items.length === 0 || textsOf(template) !== textsOf(copy))
    throw new Error("A copy is not recalled like the user whom it was made of.");
}

/** Proposes of each message the one memory that it is known to hold, so that no rules have to read it. */
function createKnowingExtractor(
  known: ReadonlyMap<string, ReturnType<ReturnType<typeof person>["said"]>["memory"]>,
): Extractor {
  const rest = { kind: "fact", holds: "many", confidence: 0.9, importance: 0.5 } as const;
  return {
    name: "made up",
    local: true,
    propose: async ({ messages }) =>
      messages.flatMap(({ id }) => {
        const memory = known.get(id);
        return memory ? [{ ...memory, propose: "add" as const, message: id, ...rest }] : [];
      }),
  };
}

const SELECT_COLUMNS = `
SELECT c.relname AS name, array_agg(quote_ident(a.attname) ORDER BY attnum) AS columns FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped
GROUP BY relname HAVING bool_or(attname = 'person') AND relname NOT IN ('calls', 'turns')`;

/** Copies the template's rows to users numbered behind it. Ids are unique within a user, so they stay as they are. */
async function copyTemplate(
  pool: Pool,
  schema: string,
  users: number,
  report: (done: number) => void,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET search_path = ${schema}`);
    const { rows: tables } = await client.query<{ name: string; columns: string[] }>(SELECT_COLUMNS, [
      schema,
    ]);
    const { rows } = await client.query("SELECT number, project, revision, turns FROM users");
    const template = rows[0];
    const isDistributed = tables.some(({ name }) => name === "answers");
    // Copied from tables of this connection: a cluster copies rows of one node to the others from the coordinator only.
    for (const { name } of tables)
      await client.query(
        `CREATE TEMP TABLE template_${name} AS SELECT * FROM ${name} WHERE person = ${template.number}`,
      );
    for (let from = 1; from <= users; from += CHUNK) {
      const to = Math.min(users, from + CHUNK - 1);
      const numbers = `generate_series(${from}::bigint, ${to}::bigint) AS copy`;
      const first = Number(template.number);
      if (isDistributed)
        await client.query(
          `INSERT INTO names (number, project, name) SELECT ${first} + copy, '${template.project}', 'copy-' || copy FROM ${numbers}`,
        );
      await client.query(
        `INSERT INTO users (number, project, name, revision, turns) SELECT ${first} + copy, '${template.project}', 'copy-' || copy, ${template.revision}, ${template.turns} FROM ${numbers}`,
      );
      // Links refer to heads.
      for (const { name, columns } of tables.toSorted((a, b) => orderOf(a.name) - orderOf(b.name))) {
        const values = columns.map((one) => (one === "person" ? `${first} + copy` : `row.${one}`));
        await client.query(
          `INSERT INTO ${name} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${numbers}, template_${name} AS row`,
        );
      }
      report(to);
    }
    await client.query("RESET search_path");
  } finally {
    client.release(true);
  }
}

const orderOf = (table: string): number => (table === "links" ? 1 : 0);

const SELECT_LOCAL_SIZES = `
SELECT coalesce(parent.relname, c.relname)::text AS name, sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
LEFT JOIN pg_inherits ON inhrelid = c.oid LEFT JOIN pg_class parent ON parent.oid = inhparent
WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' GROUP BY 1`;

const SELECT_SPREAD_SIZES = `
SELECT relname::text AS name, CASE WHEN EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = c.oid)
  THEN citus_total_relation_size(c.oid) ELSE pg_total_relation_size(c.oid) END AS bytes
FROM pg_class c WHERE relnamespace = $1::regnamespace AND relkind = 'r'`;

/** How large the tables are with their indexes, and how many rows the template has. */
export async function measureTables(pool: Pool, schema: string, users: number): Promise<TableSize[]> {
  const spread = await pool.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
  const { rows } = await pool.query(spread.rowCount ? SELECT_SPREAD_SIZES : SELECT_LOCAL_SIZES, [schema]);
  const { rows: tables } = await pool.query<{ name: string }>(SELECT_COLUMNS, [schema]);
  const counts = new Map<string, number>([["users", 1]]);
  for (const { name } of tables) {
    const found = await pool.query(
      `SELECT count(*)::int AS found FROM ${schema}.${name} WHERE person = (SELECT number FROM ${schema}.users WHERE name = $1)`,
      [person(TEMPLATE).name],
    );
    counts.set(name, found.rows[0].found);
  }
  return rows
    .map(({ name, bytes }) => ({
      table: String(name),
      rowsPerUser: counts.get(name) ?? 0,
      bytesPerUser: Math.round(Number(bytes) / (users + 1)),
    }))
    .filter(({ bytesPerUser }) => bytesPerUser >= 50)
    .sort((one, other) => other.bytesPerUser - one.bytesPerUser);
}
