import * as z from "zod";
import { invalid } from "../errors.ts";
import type { BackupArchive } from "../ports/backup-archive.ts";
import type { S3Place } from "./backend-settings.ts";
import { loadVendorPackage } from "./vendor-packages.ts";

/** Where and how often backups are made. */
export interface BackupSettings {
  readonly to:
    | { readonly folder: string }
    | { readonly bucket: string; readonly prefix: string; readonly place: S3Place };
  /** Hours from one backup to the next. */
  readonly everyHours?: number;
  /** Days for which each is kept. */
  readonly keepDays?: number;
}

interface BackupSetting {
  readonly schema: z.ZodType;
  readonly allowed: string;
  readonly isSecret?: boolean;
}

function createCountSetting(most: number): BackupSetting {
  const schema = z.string().regex(/^\d{1,5}$/);
  return {
    schema: schema.transform(Number).pipe(z.number().min(1).max(most)),
    allowed: `a number from 1 to ${most}`,
  };
}

const S3_PATTERN =
  /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/((?:[\w.=-]{1,100}\/){0,9}[\w.=-]{0,100}))?$/;

/** The settings of backups, by name, with the allowed values. */
export const BACKUP_SETTINGS: { readonly [name: string]: BackupSetting } = {
  KEEPSAKE_BACKUP_TO: {
    schema: z
      .string()
      .refine((value) => (value.startsWith("s3:") ? S3_PATTERN.test(value) : /^[^\0]+$/.test(value))),
    allowed: "the path of a folder, or s3://BUCKET/FOLDER",
  },
  KEEPSAKE_BACKUP_EVERY_HOURS: createCountSetting(8760),
  KEEPSAKE_BACKUP_KEEP_DAYS: createCountSetting(3650),
  AWS_ENDPOINT_URL_S3: {
    schema: z.string().regex(/^https?:\/\/[^\s]+$/),
    allowed: "an address such as http://localhost:9000",
    isSecret: true,
  },
};

/** Parses the settings of backups; `undefined` if there is no place for them. Throws `invalid_input` without a region. */
export function parseBackupSettings(
  values: ReadonlyMap<string, string>,
  toS3Place: (values: ReadonlyMap<string, string>, endpoint: string | undefined) => S3Place | undefined,
): BackupSettings | undefined {
  const to = values.get("KEEPSAKE_BACKUP_TO");
  if (to === undefined) return undefined;
  const number = (name: string): number | undefined => {
    const value = values.get(name);
    return value === undefined ? undefined : Number(value);
  };
  const everyHours = number("KEEPSAKE_BACKUP_EVERY_HOURS");
  const keepDays = number("KEEPSAKE_BACKUP_KEEP_DAYS");
  const [, bucket, folder = ""] = S3_PATTERN.exec(to) ?? [];
  const place = bucket === undefined ? undefined : toS3Place(values, values.get("AWS_ENDPOINT_URL_S3"));
  if (bucket !== undefined && !place) throw invalid("KEEPSAKE_BACKUP_TO: a bucket needs AWS_REGION.");
  const prefix = folder === "" || folder.endsWith("/") ? folder : `${folder}/`;
  return {
    to: bucket !== undefined && place ? { bucket, prefix, place } : { folder: to },
    ...(everyHours === undefined ? {} : { everyHours }),
    ...(keepDays === undefined ? {} : { keepDays }),
  };
}

/** Opens the place of backups. Throws `unsupported` with an install command if a package is missing. */
export async function openArchive({ to }: BackupSettings): Promise<BackupArchive> {
  const { folderArchive, s3Archive } = await import("../adapters/backups/index.ts");
  if ("folder" in to) return folderArchive({ path: to.folder });
  const { S3 } = await loadVendorPackage("@aws-sdk/client-s3", "KEEPSAKE_BACKUP_TO");
  // Other servers of the protocol do not find buckets by host names.
  const { endpoint } = to.place;
  const client = new S3({ ...to.place, ...(endpoint === undefined ? {} : { forcePathStyle: true }) });
  return s3Archive({ client, bucket: to.bucket, prefix: to.prefix });
}

/** Names the place of backups, for people. */
export function describeArchive({ to, everyHours = 24, keepDays = 30 }: BackupSettings): string {
  const place = "folder" in to ? to.folder : `s3://${to.bucket}/${to.prefix}`;
  return `Backups go to ${place} every ${everyHours} h, and are kept for ${keepDays} days.`;
}
