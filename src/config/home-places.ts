/** Where a person's programs keep their settings, by the environment. */
export function readHomePlaces(environment: { readonly [name: string]: string | undefined } = process.env): {
  readonly platform: string;
  readonly config?: string | undefined;
  readonly codex?: string | undefined;
} {
  const { APPDATA, XDG_CONFIG_HOME, CODEX_HOME } = environment;
  const config = process.platform === "win32" ? APPDATA : XDG_CONFIG_HOME;
  return { platform: process.platform, config: config || undefined, codex: CODEX_HOME || undefined };
}
