import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { invalid, MemoryError } from "../../../errors.ts";
import { MCP_TOOLS } from "../../../mcp/server.ts";
import { EXIT } from "../../exit.ts";
import { collectPackages } from "../../mcp-bundle/package-files.ts";
import { writeZip } from "../../mcp-bundle/zip-archive.ts";
import { createPrinter } from "../../printer.ts";
import { type CommonOptions, reportErrors } from "../../with-memory.ts";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const ENTRY = "node_modules/keepsake/dist/cli/mcp-bundle/entry.js";

/** Writes a bundle with everything that `keepsake mcp` needs, for Claude Desktop. */
export async function runMcpBundle(file: string, options: CommonOptions): Promise<void> {
  const print = createPrinter(options.json ?? false);
  await reportErrors(print, async () => {
    if (!file.endsWith(".mcpb"))
      throw invalid("Claude Desktop opens bundles by their name: let FILE end with .mcpb.");
    if (!existsSync(join(ROOT, "dist")))
      throw new MemoryError("unsupported", "the package is not built. Build it: npm run build");
    const manifest = Buffer.from(`${JSON.stringify(createManifest(options), undefined, 2)}\n`);
    const files = [
      { path: "manifest.json", bytes: manifest },
      ...collectPackages(ROOT, ["@modelcontextprotocol/server"]),
    ];
    const bundle = writeZip(files);
    writeNewFile(file, bundle);
    print.result({ file, files: files.length, bytes: bundle.length }, () => [
      `Wrote ${file}: ${files.length} files, ${(bundle.length / 1_000_000).toFixed(1)} MB.`,
    ]);
    return EXIT.done;
  });
}

/** The manifest, version 0.3 of its format. */
function createManifest({ db, user = "me" }: CommonOptions): object {
  const { version, description, license, engines } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as { version: string; description: string; license: string; engines: { node: string } };
  return {
    manifest_version: "0.3",
    name: "keepsake",
    display_name: "Keepsake",
    version,
    description,
    author: { name: "Keepsake" },
    license,
    server: {
      type: "node",
      entry_point: ENTRY,
      mcp_config: {
        command: "node",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: The client puts the settings in.
        args: [`\${__dirname}/${ENTRY}`, "${user_config.database}", "${user_config.user}"],
      },
    },
    tools: MCP_TOOLS.map(({ name, description }) => ({ name, description })),
    prompts_generated: true,
    compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: engines.node } },
    user_config: {
      database: {
        type: "string",
        title: "Database file",
        description: "The file that keeps the memory. It is created if it does not exist.",
        required: true,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: The client puts the folder in.
        default: db === undefined ? "${HOME}/memory.db" : resolve(db),
      },
      user: {
        type: "string",
        title: "User",
        description: "Whose memory it is, if several people share the file.",
        required: true,
        default: user,
      },
    },
  };
}

function writeNewFile(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes, { flag: "wx" });
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === "EEXIST" ? "it exists" : "it cannot be written";
    throw new MemoryError("conflict", `${file}: ${why}. Name another file.`, { cause });
  }
}
