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
  const scripts = listScripts();
  return [
    toAsset("/", "text/html; charset=utf-8", withPreloads(readText("page.html"), scripts)),
    readAsset("/app.css", "app.css", "text/css; charset=utf-8"),
    readAsset("/views.css", "views.css", "text/css; charset=utf-8"),
    readAsset("/settings.css", "settings.css", "text/css; charset=utf-8"),
    readAsset("/icon.svg", "icon.svg", "image/svg+xml"),
    ...scripts.map((file) => readAsset(`/${file}`, file, "text/javascript; charset=utf-8")),
  ];
}

/** The scripts of the page, by their paths: every script of this folder and the folders in it, but this one. */
function listScripts(): string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".js") && file !== "index.js")
    .sort();
}

/** A page that names all its scripts, so that a browser asks for them at once and not level by level as they import each other. */
function withPreloads(page: string, scripts: readonly string[]): string {
  const links = scripts.map((file) => `    <link rel="modulepreload" href="/${file}">\n`).join("");
  return page.replace("  </head>", `${links}  </head>`);
}

function readText(file: string): string {
  return readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8");
}

function readAsset(path: string, file: string, type: string): PageAsset {
  return toAsset(path, type, readText(file));
}

function toAsset(path: string, type: string, body: string): PageAsset {
  return {
    path,
    type,
    body,
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
  };
}
