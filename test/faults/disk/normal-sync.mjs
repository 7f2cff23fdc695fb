// Loaded before the server, for the control alone: SQLite then acknowledges commits that are not on the disk yet, as it does
// with `synchronous=NORMAL`. A test of power cuts that finds nothing lost with this cannot find anything.
import { DatabaseSync } from "node:sqlite";

const { exec, prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.exec = function (sql) {
  return exec.call(this, sql.replace("PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL"));
};

// The product reads the setting back, and would refuse to go on.
DatabaseSync.prototype.prepare = function (sql, ...rest) {
  return prepare.call(this, sql === "PRAGMA synchronous" ? "SELECT 2" : sql, ...rest);
};
