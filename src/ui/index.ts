import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
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

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/** Reads the files of the web page: plain files, without a build step or external resources. */
export function readPageAssets(): PageAsset[] {
  return [
    readAsset("/", "page.html", "text/html; charset=utf-8"),
    readAsset("/app.css", "app.css", "text/css; charset=utf-8"),
    readAsset("/views.css", "views.css", "text/css; charset=utf-8"),
    readAsset("/settings.css", "settings.css", "text/css; charset=utf-8"),
    readAsset("/icon.svg", "icon.svg", "image/svg+xml"),
    ...listScripts().map((file) => readAsset(`/${file}`, file, "text/javascript; charset=utf-8")),
  ];
}

/** The scripts of the page: every script of this folder but this one. */
function listScripts(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".js") && file !== "index.js")
    .sort();
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
