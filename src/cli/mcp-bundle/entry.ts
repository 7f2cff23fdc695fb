import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";

// The program of a bundle: `entry.js DATABASE USER`. The settings come as a person typed them, and no shell has expanded them.

/** The address of a setting that the person left empty. */
const EMPTY = /^(?:\$\{user_config\.\w+\})?$/;
const [database = "", user = ""] = process.argv.slice(2).map((text) => text.trim());
const path = (EMPTY.test(database) ? "~/memory.db" : database).replace(/^(?:~|\$\{HOME\})(?=[\\/])/, () =>
  homedir(),
);
try {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
} catch {
  // Opening the file says which folder cannot be used.
}
process.argv.splice(2, process.argv.length, "mcp", "--db", path, "--user", EMPTY.test(user) ? "me" : user);
await import("../main.ts");
