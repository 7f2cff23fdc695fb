import { createStatement, type SqlStatement } from "../database/connection.ts";

/**
 * Settings of a transaction that the nodes must have, too: those that row-level security reads, and that a commit is on the disk.
 * Citus passes on the command SET LOCAL only, and not `set_config`. The command takes no parameters, so the values are quoted.
 */
export function buildNodeSettings(
  project: string,
  reach: string,
  synchronous: string,
): readonly SqlStatement[] {
  return [
    "citus.propagate_set_commands TO 'local'",
    // Rows of several shards change one after the other, so that their references to each other can be checked.
    "citus.multi_shard_modify_mode TO 'sequential'",
    `keepsake.project TO ${quoteLiteral(project)}`,
    `keepsake.reach TO ${quoteLiteral(reach)}`,
    `synchronous_commit TO ${quoteLiteral(synchronous)}`,
  ].map((setting) => createStatement(`SET LOCAL ${setting}`));
}

/** A text quoted for SQL, whatever `standard_conforming_strings` is. The text contains no NUL. */
export function quoteLiteral(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
