import { countEdits } from "../domain/text/count-edits.ts";
import { invalid, isMemoryError } from "../errors.ts";

/** Names that other programs use for one of our settings, and that are read as it. The setting's own name wins. */
const SETTING_ALIASES: { readonly [name: string]: string } = {
  SQL_PATH: "KEEPSAKE_DB",
  GPT_MODEL: "KEEPSAKE_ANSWER_MODEL",
  OPENAI_API_BASE: "OPENAI_BASE_URL",
};

/** Names that people know for something that is configured in another way here, with that way. */
const REFUSED_SETTINGS: { readonly [name: string]: string } = {
  DB_PATH:
    "is not a setting: vectors are stored in the database file, which KEEPSAKE_DB names. A Chroma server is named by CHROMA_URL.",
  AWS_S3_BUCKET:
    "is not a setting: a general bucket stores no vectors. S3_VECTORS_BUCKET names a bucket of S3 Vectors, KEEPSAKE_BACKUP_TO one for backups.",
};

/** Gives the setting that a name means. Throws `invalid_input` for a name that is configured in another way here. */
export function toSetting(name: string): string {
  const reason = Object.hasOwn(REFUSED_SETTINGS, name) ? REFUSED_SETTINGS[name] : undefined;
  if (reason !== undefined) throw invalid(`${name} ${reason}`);
  return (Object.hasOwn(SETTING_ALIASES, name) ? SETTING_ALIASES[name] : undefined) ?? name;
}

/** Shorter names are not compared: they are too similar to those of other programs, such as USE_TPU and USE_GPU. */
const MIN_COMPARED_LENGTH = 8;
/** A name within this many edits of a setting counts as a misspelling. */
const MAX_EDITS = 2;
/** Names of other programs that are within two edits of a setting. */
const UNRELATED_NAMES: ReadonlySet<string> = new Set(["LOG_LEVELS"]);

/** Names that Kubernetes gives to a pod's variables for a Service named keepsake, keepsake-api and so on. */
const SERVICE_NAME =
  /^KEEPSAKE_(?:\w+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;
/** KEEPSAKE_PORT is a setting, but not with such a value. */
const SERVICE_PORT_NAME = /^KEEPSAKE_(?:\w+_)?PORT$/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Throws `invalid_input`, with the remedy, for a variable that Kubernetes has set for a Service. */
export function checkServiceLink(name: string, value: string): void {
  const isLink = SERVICE_NAME.test(name) || (SERVICE_PORT_NAME.test(name) && SERVICE_ADDRESS.test(value));
  if (!isLink) return;
  throw invalid(
    `${name} is not a setting here: Kubernetes has set it for a Service whose name begins with "keepsake". ` +
      "Set enableServiceLinks: false in the spec of the pod.",
  );
}

/** Throws `invalid_input` for an unknown name with Keepsake's prefix, or a name within two edits of a setting. */
export function checkSpelling(name: string, known: readonly string[]): void {
  // Settings of this package's tests, whose environment the program may share.
  if (/^KEEPSAKE_(?:TEST|SERVICES)_/.test(name) || UNRELATED_NAMES.has(name)) return;
  const [nearest] = known
    .filter((setting) => setting.length > MIN_COMPARED_LENGTH)
    .filter((setting) => Math.abs(setting.length - name.length) <= MAX_EDITS)
    .map((setting) => ({ setting, edits: countEdits(name.toUpperCase(), setting, MAX_EDITS) }))
    .filter(({ edits }) => edits <= MAX_EDITS)
    .sort((one, other) => one.edits - other.edits);
  if (nearest) throw invalid(`${name} is not a setting. Did you mean ${nearest.setting}?`);
  if (!name.startsWith("KEEPSAKE_")) return;
  const ours = known.filter((setting) => setting.startsWith("KEEPSAKE_"));
  throw invalid(`${name} is not a setting. Known: ${ours.join(", ")}.`);
}

/** Turns an adapter's error about an option into one about its setting. */
export function toSettingError(error: unknown, settings: { readonly [option: string]: string }): unknown {
  const [, option = "", rest = ""] = (isMemoryError(error) && /^(\w+)(:.*)$/s.exec(error.message)) || [];
  const setting = Object.hasOwn(settings, option) ? settings[option] : undefined;
  return setting === undefined ? error : invalid(`${setting}${rest}`);
}
