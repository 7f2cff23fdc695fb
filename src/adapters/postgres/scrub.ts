import type { Memory } from "../../domain/memory.ts";
import type { Message } from "../../domain/message.ts";
import type { KeptReceipt } from "../../domain/receipt.ts";
import type { Scope } from "../../domain/scope.ts";
import {
  collectMemoryTexts,
  collectMessageTexts,
  collectReceiptTexts,
  countOccurringTexts,
} from "../shared/held-words.ts";
import { parseBody } from "../shared/stored-body.ts";
import type { PostgresDatabase } from "./database.ts";
import { markTablesForRewrite, REWRITE_WITHIN_MS, rewriteSmallTables } from "./freed.ts";
import { fetchStoredAnswers } from "./kept-answers.ts";
import { isWalPrivate, markWalPosition } from "./log.ts";
import { decodeText } from "./names.ts";
import { findUserNumber, toAccessScope } from "./rows.ts";
import { createStatement } from "./statement.ts";

interface PostgresScrubCount {
  readonly place: string;
  readonly found: number;
}

/** The place in receipts, and in what remains. */
const FREED_SPACE = "PostgreSQL: freed space of its tables";

/**
 * Says how many of the texts stand in each place of the scope, and writes the tables anew that they were in. Where that
 * cannot be done at once it is done in the background, and `remains` has said until when.
 */
export async function scrubTables(
  database: PostgresDatabase,
  scope: Scope,
  texts: readonly string[],
): Promise<PostgresScrubCount[]> {
  const person = await findUserNumber(database, scope);
  const [messages = [], versions = [], terms = [], receipts = []] = await database.query(
    toAccessScope(scope),
    createStatement("SELECT body FROM messages WHERE person = $1", person),
    createStatement("SELECT body FROM versions WHERE person = $1", person),
    createStatement("SELECT terms FROM units WHERE person = $1", person),
    createStatement("SELECT body FROM receipts WHERE person = $1", person),
  );
  const answers = (await fetchStoredAnswers(database, scope)).map(({ body }) => body);
  const words = receipts.map(parseBody<KeptReceipt>).flatMap(collectReceiptTexts);
  const isWrittenAnew = await rewriteSmallTables(database, await markTablesForRewrite(database, person));
  // After the last of it was written.
  await markWalPosition(database);
  return [
    {
      place: "messages",
      found: countOccurringTexts(texts, messages.map(parseBody<Message>).flatMap(collectMessageTexts)),
    },
    {
      place: "memories",
      found: countOccurringTexts(texts, versions.map(parseBody<Memory>).flatMap(collectMemoryTexts)),
    },
    {
      place: "text index",
      found: countOccurringTexts(
        texts,
        terms.map((row) => decodeText(row.terms)),
      ),
    },
    { place: "receipts", found: countOccurringTexts(texts, [...words, ...answers]) },
    ...(isWrittenAnew ? [{ place: FREED_SPACE, found: 0 }] : []),
  ];
}

/**
 * What an erasure cannot reach at once: freed space, until the tables are written anew, and the log, for as long as the
 * server and its archives keep it: told, or known where nobody else keeps it and the background turns it over.
 */
export async function fetchRemainders(
  database: PostgresDatabase,
  logKeptMs: number | undefined,
): Promise<{ readonly place: string; readonly forMs?: number }[]> {
  const forMs = logKeptMs ?? ((await isWalPrivate(database)) ? REWRITE_WITHIN_MS : undefined);
  return [
    { place: FREED_SPACE, forMs: REWRITE_WITHIN_MS },
    { place: "PostgreSQL: write-ahead log", ...(forMs === undefined ? {} : { forMs }) },
  ];
}
