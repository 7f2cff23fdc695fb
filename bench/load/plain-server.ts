/**
 * A plain server of Node, by which the pace of a machine is measured. A search scores every vector of one user, reads rows at
 * random, and answers with them; a write is one synced transaction. It has the size of the server that is measured (100 users of
 * 2,000 vectors, as many rows and objects), so that slow memory slows both, and nothing of Keepsake runs in it.
 */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { seeded } from "../speed/vocabulary.ts";

const USERS = 100;
const PER_USER = 2000;
const DIMENSIONS = 256;
const ROWS = USERS * PER_USER;
/** Rows that a search reads, and bytes of the text in each. */
const READ = 100;
const LENGTH = 250;

const random = seeded(7);
const pick = (below: number): number => Math.floor(random() * below);
const vectors = Float32Array.from({ length: ROWS * DIMENSIONS }, (_, i) => ((i * 7919) % 1009) / 1009);
const rows = Array.from({ length: ROWS }, (_, id) => ({ id, words: [`w${id % 977}`, `w${id % 1013}`] }));

const [path = ":memory:"] = process.argv.slice(2);
const database = new DatabaseSync(path);
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536");
database.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)");
const insert = database.prepare("INSERT INTO rows (body) VALUES (?)");
const body = (id: number): string => JSON.stringify({ id, text: `${id} `.repeat(LENGTH).slice(0, LENGTH) });
database.exec("BEGIN");
for (let id = 0; id < ROWS; id += 1) insert.run(body(id));
database.exec("COMMIT");
const read = database.prepare("SELECT body FROM rows WHERE id = ?");

/** The number of the vector of a user that is nearest to a query. */
function findNearest(user: number, query: Float32Array): number {
  let [best, nearest] = [Number.NEGATIVE_INFINITY, 0];
  for (let row = user * PER_USER; row < (user + 1) * PER_USER; row += 1) {
    let score = 0;
    for (let i = 0; i < DIMENSIONS; i += 1) {
      score += (vectors[row * DIMENSIONS + i] as number) * (query[i] as number);
    }
    if (score > best) [best, nearest] = [score, row];
  }
  return nearest;
}

function search(): object {
  const nearest = findNearest(pick(USERS), vectors.slice(0, DIMENSIONS));
  const found = Array.from({ length: READ }, () => {
    const { body } = read.get(1 + pick(ROWS)) as { body: string };
    const row = JSON.parse(body) as { id: number; text: string };
    return { ...row, ...rows[row.id], digest: createHash("sha256").update(row.text).digest("hex") };
  });
  return { nearest, found };
}

const server = createServer((asked, answer) => {
  void text(asked).then((sent) => {
    if (asked.url === "/writes") insert.run(sent);
    answer.end(JSON.stringify(asked.url === "/writes" ? {} : search()));
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
