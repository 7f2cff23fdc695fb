import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A file of the page, as it is sent. */
export interface Asset {
  /** Where it is served. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** Changes whenever the body does: an HTTP entity tag. */
  readonly mark: string;
}

const SCRIPTS = [
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

/** The page: plain files, with no build of their own and nothing from anywhere else. */
export function pageAssets(): Asset[] {
  return [
    asset("/", "page.html", "text/html; charset=utf-8"),
    asset("/app.css", "app.css", "text/css; charset=utf-8"),
    asset("/icon.svg", "icon.svg", "image/svg+xml"),
    ...SCRIPTS.map((name) => asset(`/${name}.js`, `${name}.js`, "text/javascript; charset=utf-8")),
  ];
}

function asset(path: string, file: string, type: string): Asset {
  const body = readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8");
  return {
    path,
    type,
    body,
    mark: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
  };
}
