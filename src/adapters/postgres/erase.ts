import type { ErasureChange } from "../../domain/change-set.ts";
import type { CommitState } from "./held.ts";
import { queueAnswerErasure } from "./kept-answers.ts";
import { encodeLongNames, toIndexKey } from "./names.ts";
import { type PostgresWriteContext, queueUnitRemoval } from "./put.ts";

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
export function queueErasure(writing: PostgresWriteContext, erasure: ErasureChange, held: CommitState): void {
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
  transaction.queue("DELETE FROM blocks WHERE person = $1", person);
  queueAnswerErasure(transaction, { project, name }, erasure.receipt.id);
  rewriteVersions(writing, erasure.rewrites);
  transaction.queue(
    "INSERT INTO erasures (person, project, id, body, trace) VALUES ($1, $2, $3, $4, $5)",
    person,
    project,
    toIndexKey(erasure.receipt.id),
    JSON.stringify(erasure.receipt),
    erasure.trace ? JSON.stringify(erasure.trace) : null,
  );
}

function dropMemories(writing: PostgresWriteContext, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const { transaction, person, project, revision } = writing;
  const keys = ids.map(toIndexKey);
  transaction.queue(
    "DELETE FROM links WHERE person = $1 AND (source = ANY ($2) OR target = ANY ($2))",
    person,
    keys,
  );
  transaction.queue("DELETE FROM heads WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.queue("DELETE FROM versions WHERE person = $1 AND id = ANY ($2)", person, keys);
  transaction.queue(
    PUT_GONE,
    person,
    project,
    revision,
    keys,
    ids.map((id) => encodeLongNames(id)),
  );
  queueUnitRemoval(writing, ids);
}

function rewriteVersions(
  { transaction, person, revision }: PostgresWriteContext,
  versions: ErasureChange["rewrites"],
): void {
  // Of two that write one version again, the last holds.
  const rows = [...new Map(versions.map((one) => [`${one.version} ${toIndexKey(one.id)}`, one])).values()];
  if (rows.length === 0) return;
  const keys = rows.map(({ id }) => toIndexKey(id));
  const numbers = rows.map(({ version }) => version);
  transaction.queue(
    REWRITE_VERSIONS,
    person,
    keys,
    numbers,
    rows.map((one) => JSON.stringify(one)),
  );
  transaction.queue(
    REWRITE_HEADS,
    person,
    revision,
    keys,
    numbers,
    rows.map(({ status }) => status === "current"),
  );
}
