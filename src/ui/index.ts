import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the web page, as it is served. */
export interface PageAsset {
  /** The path at which it is served. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** The HTTP entity tag of the body. */
  readonly etag: string;
}

const SCRIPT_NAMES = [
  "app",
  "calls",
  "chat",
  "forget",
  "known",
  "make",
  "reply-parts",
  "sign-in",
  "transcript",
  "undoing",
  "words",
];

/** Reads the files of the web page: plain files, without a build step or external resources. */
export function readPageAssets(): PageAsset[] {
  return [
    readAsset("/", "page.html", "text/html; charset=utf-8"),
    readAsset("/app.css", "app.css", "text/css; charset=utf-8"),
    readAsset("/icon.svg", "icon.svg", "image/svg+xml"),
    ...SCRIPT_NAMES.map((name) => readAsset(`/${name}.js`, `${name}.js`, "text/javascript; charset=utf-8")),
  ];
}

function readAsset(path: string, file: string, type: string): PageAsset {
  const body = readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8");
  return {
    path,
    type,
    body,
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
  };
}
