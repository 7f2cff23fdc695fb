import { readFileSync } from "node:fs";

/** The package's version. */
export const VERSION: string = versionOf(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

function versionOf(about: string): string {
  return (JSON.parse(about) as { version: string }).version;
}
