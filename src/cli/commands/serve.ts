import { serve } from "../../http/index.ts";
import { shownError } from "../exit.ts";
import { type CommonOptions, EXIT, withMemory } from "../run.ts";

interface ServeOptions extends CommonOptions {
  readonly host?: string;
  readonly port?: number;
}

/** The server, until it is told to stop; what it has begun then is finished. */
export async function serveHttp(options: ServeOptions): Promise<void> {
  await withMemory(options, async ({ keepsake, settings, print, clock, path }) => {
    const served = await serve({
      keepsake,
      clock,
      host: options.host ?? settings.host,
      port: options.port ?? settings.port,
      ...(path === ":memory:" ? {} : { keysPath: `${path}.keys.json` }),
      ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey }),
      onFault: ({ requestId, error }) => {
        process.stderr.write(`fault in request ${requestId}: ${shownError(error).message}\n`);
      },
    });
    const { url, firstKey, signInUrl } = served;
    print.result({ url, ...(firstKey === undefined ? {} : { key: firstKey, signInUrl }) }, () => [
      `Keepsake listens on ${url}, with ${path}.`,
      ...(firstKey === undefined
        ? []
        : [`Your key, shown this once:\n  ${firstKey}`, `The page, signed in:\n  ${signInUrl}`]),
    ]);
    await stopped();
    print.note("Stopping.");
    await served.close();
    return EXIT.done;
  });
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
