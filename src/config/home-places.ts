import { homedir } from "node:os";
import { join } from "node:path";

/** Where a person's programs keep their settings and what they measured, by the environment. */
export function readHomePlaces(environment: { readonly [name: string]: string | undefined } = process.env): {
  readonly platform: string;
  readonly config?: string | undefined;
  readonly codex?: string | undefined;
  readonly state?: string | undefined;
} {
  const { APPDATA, LOCALAPPDATA, XDG_CONFIG_HOME, XDG_STATE_HOME, CODEX_HOME } = environment;
  const config = process.platform === "win32" ? APPDATA : XDG_CONFIG_HOME;
  const state =
    process.platform === "win32" ? LOCALAPPDATA : XDG_STATE_HOME || join(homedir(), ".local", "state");
  return {
    platform: process.platform,
    config: config || undefined,
    codex: CODEX_HOME || undefined,
    state: state || undefined,
  };
}

/** The command line of the editor that a person writes texts with: VISUAL, EDITOR, or the one that the system always has. */
export function findEditor(
  environment: { readonly [name: string]: string | undefined } = process.env,
): string {
  const { VISUAL, EDITOR } = environment;
  return VISUAL?.trim() || EDITOR?.trim() || (process.platform === "win32" ? "notepad" : "vi");
}
