import type { Erasure } from "../../domain/change-set.ts";
import type { Held } from "./held.ts";
import { eraseAnswers } from "./kept-answers.ts";
import { keyOf, longNames } from "./names.ts";
import { dropUnits, type Writing } from "./put.ts";

const PUT_GONE =
  "INSERT INTO gone (person, project, type, id, long_names, revision) SELECT $1, $2, 'memory', id, long, $3 " +
  "FROM unnest($4::text[], $5::text[]) AS row (id, long) " +
  "ON CONFLICT (person, type, id) DO UPDATE SET revision = excluded.revision";
const REWRITE_VERSIONS =
  "UPDATE versions SET body = row.body FROM unnest($2::text[], $3::bigint[], $4::text[]) AS row (id, version, body) " +
  "WHERE person = $1 AND versions.id = row.id AND versions.version = row.version";
const REWRITE_HEADS =
  "UPDATE heads SET revision = $2, is_current = row.is_current " +
  "FROM unnest($3::text[], $4::bigint[], $5::boolean[]) AS row (id, version, is_current) " +
  "WHERE person = $1 AND heads.id = row.id AND heads.version = row.version";

/** The part of a change-set that destroys. */
export function erase(writing: Writing, erasure: Erasure, held: Held): void {
  const { transaction, person, project, name } = writing;
  for (const { id, content, parts, keepMetadata } of erasure.messages) {
    held.changeMessage(id, ({ parts: _parts, metadata, ...message }) => ({
      ...message,
      content,
      ...(keepMetadata && metadata ? { metadata } : {}),
      ...(parts ? { parts } : {}),
    }));
  }
  dropMemories(
    writing,
    [...new Set(erasure.memories)].filter((id) => held.dropMemory(id)),
  );
  transaction.later("DELETE FROM blocks WHERE person = $1", person);
  eraseAnswers(transaction, { project, name }, erasure.receipt.id);
  rewrite(writing, erasure.rewrites);
  transaction.later(
    "INSERT INTO erasures (person, project, id, body, trace) VALUES ($1, $2, $3, $4, $5)",
    person,
    project,
    keyOf(erasure.receipt.id),
    JSON.stringify(erasure.receipt),
    erasure.trace ? JSON.stringify(erasure.trace) : null,
  );
}

function dropMemories(writing: Writing, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { transaction, person, project, revision } = writing;
  const keys = ids.map(keyOf);
  transaction.later(
    "DELETE FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))",
    person,
    keys,
  );
  transaction.later("DELETE FROM heads WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.later("DELETE FROM versions WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.later(
    PUT_GONE,
    person,
    project,
    revision,
    keys,
    ids.map((id) => longNames(id)),
  );
  dropUnits(writing, ids);
}

function rewrite({ transaction, person, revision }: Writing, versions: Erasure["rewrites"]): void {
  // Of two that write one version again, the last holds.
  const rows = [...new Map(versions.map((one) => [`${one.version} ${keyOf(one.id)}`, one])).values()];
  if (rows.length === 0) return;
  const keys = rows.map(({ id }) => keyOf(id));
  const numbers = rows.map(({ version }) => version);
  transaction.later(
    REWRITE_VERSIONS,
    person,
    keys,
    numbers,
    rows.map((one) => JSON.stringify(one)),
  );
  transaction.later(
    REWRITE_HEADS,
    person,
    revision,
    keys,
    numbers,
    rows.map(({ status }) => status === "current"),
  );
}
