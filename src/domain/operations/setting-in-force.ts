/** Where the value of a setting can come from. The first that has one wins. */
export const SETTING_ORIGINS = [
  "command_line",
  "environment",
  "env_file",
  "settings_file",
  "default",
] as const;
export type SettingOrigin = (typeof SETTING_ORIGINS)[number];

/** A setting as it is in force, without secrets. */
export interface SettingInForce {
  /** The name in the environment: "KEEPSAKE_PORT". */
  readonly name: string;
  /** The value as it was given. Absent for a default, and for what is never shown. */
  readonly value?: string;
  /** Where the value comes from. */
  readonly from: SettingOrigin;
  /** Whether the value is a secret, or may contain one. */
  readonly hidden?: true;
}
