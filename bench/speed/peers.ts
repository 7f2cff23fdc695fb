import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { load } from "sqlite-vec";
import { lanceDb } from "./lance.ts";
import { type Spread, settle, spreadOf, timeOf } from "./measure.ts";
import { dot, topOf, type Vectors } from "./vectors.ts";

/** Asks for the ten nearest to a vector. */
export type Ask = (query: Float32Array) => unknown;

export interface Peers {
  readonly "js-scan": Spread;
  readonly "sqlite-vec": Spread;
  readonly lancedb?: Spread;
}

/** The bare search for vectors elsewhere: the same vectors, the same questions, the ten nearest. */
export async function peers(folder: string, vectors: Vectors): Promise<Peers> {
  const lance = await lanceDb(join(folder, "lance"), vectors);
  return {
    "js-scan": await timesOf(vectors, jsScan(vectors)),
    "sqlite-vec": await sqliteVec(join(folder, "vec.db"), vectors),
    ...(lance ? { lancedb: await timesOf(vectors, lance) } : {}),
  };
}

async function timesOf({ queries }: Vectors, ask: Ask): Promise<Spread> {
  settle();
  for (const query of queries.slice(0, 5)) await ask(query);
  const taken: number[] = [];
  for (const query of queries) taken.push(await timeOf(() => ask(query)));
  return spreadOf(taken);
}

/** What one would write in an afternoon: every vector in one array, and a loop over it. */
function jsScan({ dimensions, count, all }: Vectors): Ask {
  const scores = new Float32Array(count);
  return (query) => {
    for (let row = 0; row < count; row += 1) scores[row] = dot(all, row * dimensions, query);
    return topOf(scores);
  };
}

/** Times of the ten nearest in a new database at a path, by the extension sqlite-vec. */
export async function sqliteVec(path: string, vectors: Vectors): Promise<Spread> {
  const { dimensions, count, all } = vectors;
  const database = new DatabaseSync(path, { allowExtension: true });
  load(database);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA page_size = 8192");
  database.exec(`CREATE VIRTUAL TABLE vectors USING vec0(embedding float[${dimensions}])`);
  database.exec("BEGIN");
  const insert = database.prepare("INSERT INTO vectors (rowid, embedding) VALUES (?, ?)");
  for (let row = 0; row < count; row += 1) {
    insert.run(BigInt(row), bytesOf(all.subarray(row * dimensions, (row + 1) * dimensions)));
  }
  database.exec("COMMIT");
  const nearest = database.prepare("SELECT rowid, distance FROM vectors WHERE embedding MATCH ? AND k = 10");
  const spread = await timesOf(vectors, (query) => nearest.all(bytesOf(query)));
  database.close();
  return spread;
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
