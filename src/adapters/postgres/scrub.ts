import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import { countHeld, wordsOfMemory, wordsOfMessage, wordsOfReceipt } from "../shared/held-words.ts";
import { bodyOf } from "../shared/stored-body.ts";
import type { Database } from "./database.ts";
import { KEPT_MS, noteFreed, rewriteSmall } from "./freed.ts";
import { answersHeld } from "./kept-answers.ts";
import { isOwnLog, noteLog } from "./log.ts";
import { readText } from "./names.ts";
import { personOf, reachOf } from "./rows.ts";
import { statement } from "./statement.ts";

interface Place {
  readonly place: string;
  readonly found: number;
}

/** The place in receipts, and in what remains. */
const FREED = "PostgreSQL: freed space of its tables";

/**
 * Says how many of the texts stand in each place of the scope, and writes the tables anew that they were in. Where that
 * cannot be done at once it is done in the background, and `remains` has said until when.
 */
export async function scrub(database: Database, scope: Scope, texts: readonly string[]): Promise<Place[]> {
  const person = await personOf(database, scope);
  const [messages = [], versions = [], terms = [], receipts = []] = await database.ask(
    reachOf(scope),
    statement("SELECT body FROM messages WHERE person = $1", person),
    statement("SELECT body FROM versions WHERE person = $1", person),
    statement("SELECT terms FROM units WHERE person = $1", person),
    statement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const answers = (await answersHeld(database, scope)).map(({ body }) => body);
  const words = receipts.map(bodyOf<KeptReceipt>).flatMap(wordsOfReceipt);
  const isWrittenAnew = await rewriteSmall(database, await noteFreed(database, person));
  // After the last of it was written.
  await noteLog(database);
  return [
    { place: "messages", found: countHeld(texts, messages.map(bodyOf<Message>).flatMap(wordsOfMessage)) },
    { place: "memories", found: countHeld(texts, versions.map(bodyOf<Memory>).flatMap(wordsOfMemory)) },
    {
      place: "text index",
      found: countHeld(
        texts,
        terms.map((row) => readText(row.terms)),
      ),
    },
    { place: "receipts", found: countHeld(texts, [...words, ...answers]) },
    ...(isWrittenAnew ? [{ place: FREED, found: 0 }] : []),
  ];
}

/**
 * What an erasure cannot reach at once: freed space, until the tables are written anew, and the log, for as long as the
 * server and its archives keep it: told, or known where nobody else keeps it and the background turns it over.
 */
export async function remains(
  database: Database,
  logKeptMs: number | undefined,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const forMs = logKeptMs ?? ((await isOwnLog(database)) ? KEPT_MS : undefined);
  return [
    { place: FREED, forMs: KEPT_MS },
    { place: "PostgreSQL: write-ahead log", ...(forMs === undefined ? {} : { forMs }) },
  ];
}
