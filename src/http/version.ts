import { readFileSync } from "node:fs";

/** The package's version. */
export const VERSION: string = parseVersion(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

function parseVersion(about: string): string {
  return (JSON.parse(about) as { version: string }).version;
}
