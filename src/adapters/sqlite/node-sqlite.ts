import type * as Sqlite from "node:sqlite";
import { findNodeProblem } from "../../domain/operations/node-version.ts";
import { MemoryError } from "../../errors.ts";

/*
 * `node:sqlite`, loaded when this module runs. An old Node has no such module. A static import of it would end the program
 * before any code runs, with a message that says nothing about versions.
 */
const problem = findNodeProblem(process.versions.node);
if (problem !== undefined) throw new MemoryError("unsupported", `Keepsake ${problem}`);

const sqlite: typeof Sqlite = process.getBuiltinModule("node:sqlite");

export const DatabaseSync: typeof Sqlite.DatabaseSync = sqlite.DatabaseSync;
export type DatabaseSync = Sqlite.DatabaseSync;
/** Copies a database file while others use it. */
export const backupPages: typeof Sqlite.backup = sqlite.backup;
