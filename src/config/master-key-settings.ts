import * as z from "zod";
import { invalid } from "../errors.ts";
import type { MasterKeyPlace } from "../ports/stores/encryption.ts";
import type { S3Place } from "./backend-settings.ts";
import { loadVendorPackage } from "./vendor-packages.ts";

/** A master key that a service keeps. */
export type MasterKeyService =
  | { readonly kind: "aws-kms"; readonly keyId: string; readonly place: S3Place }
  | {
      readonly kind: "vault";
      readonly mount: string;
      readonly key: string;
      readonly address: string;
      readonly token: string;
      readonly namespace?: string;
    };

/** Where the master key of an encrypted database is: the secret, a file, or a service. */
export type EncryptionSettings =
  | true
  | { readonly masterKeyFile: string }
  | { readonly service: MasterKeyService };

interface MasterKeySetting {
  readonly schema: z.ZodType;
  readonly allowed: string;
  readonly isSecret?: boolean;
}

const KMS_PATTERN = /^aws-kms:([\w:/-]{1,2048})$/;
const VAULT_PATTERN = /^vault:((?:[\w.-]{1,100}\/){1,9})([\w.-]{1,200})$/;

const ADDRESS = { schema: z.string().regex(/^https?:\/\/[^\s]+$/), isSecret: true } as const;

/** The settings of encryption, by name, with the allowed values. */
export const ENCRYPTION_SETTINGS: { readonly [name: string]: MasterKeySetting } = {
  KEEPSAKE_ENCRYPTION: { schema: z.enum(["on", "off"]), allowed: "on or off" },
  KEEPSAKE_MASTER_KEY_FILE: { schema: z.string().regex(/^[^\0]+$/), allowed: "the path of a file" },
  KEEPSAKE_MASTER_KEY: {
    schema: z.string().refine((value) => KMS_PATTERN.test(value) || VAULT_PATTERN.test(value)),
    allowed: "aws-kms:KEY or vault:MOUNT/KEY",
  },
  AWS_ENDPOINT_URL_KMS: { ...ADDRESS, allowed: "an address such as http://localhost:4566" },
  VAULT_ADDR: { ...ADDRESS, allowed: "an address such as https://vault.example.com:8200" },
  VAULT_TOKEN: { schema: z.string().regex(/^[^\s]+$/), allowed: "a token", isSecret: true },
  VAULT_NAMESPACE: {
    schema: z.string().regex(/^[\w./-]{1,200}$/),
    allowed: "a namespace such as team/memory",
  },
};

type ToPlace = (values: ReadonlyMap<string, string>, endpoint: string | undefined) => S3Place | undefined;

/** Parses the settings of encryption; `undefined` if it is off. Throws `invalid_input` for a master key that nothing needs. */
export function parseEncryption(
  values: ReadonlyMap<string, string>,
  toPlace: ToPlace,
): EncryptionSettings | undefined {
  const masterKeyFile = values.get("KEEPSAKE_MASTER_KEY_FILE");
  const name = values.get("KEEPSAKE_MASTER_KEY");
  if (masterKeyFile !== undefined && name !== undefined)
    throw invalid(
      "KEEPSAKE_MASTER_KEY and KEEPSAKE_MASTER_KEY_FILE name two master keys. Remove one of the two.",
    );
  if (values.get("KEEPSAKE_ENCRYPTION") !== "on") {
    if (masterKeyFile === undefined && name === undefined) return undefined;
    const setting = name === undefined ? "KEEPSAKE_MASTER_KEY_FILE" : "KEEPSAKE_MASTER_KEY";
    throw invalid(`${setting} needs KEEPSAKE_ENCRYPTION=on.`);
  }
  if (masterKeyFile !== undefined) return { masterKeyFile };
  return name === undefined ? true : { service: parseMasterKey(name, values, toPlace) };
}

/** Parses the name of a key of a service, with the settings of that service. Throws `invalid_input` if one is missing. */
export function parseMasterKey(
  name: string,
  values: ReadonlyMap<string, string>,
  toPlace: ToPlace,
): MasterKeyService {
  const [, keyId] = KMS_PATTERN.exec(name) ?? [];
  if (keyId !== undefined) {
    const place = toPlace(values, values.get("AWS_ENDPOINT_URL_KMS"));
    if (!place) throw invalid("A master key in AWS KMS needs AWS_REGION.");
    return { kind: "aws-kms", keyId, place };
  }
  const [, mount, key] = VAULT_PATTERN.exec(name) ?? [];
  if (mount === undefined || key === undefined)
    throw invalid("A master key must be at secret, file:PATH, aws-kms:KEY or vault:MOUNT/KEY.");
  const [address, token] = [values.get("VAULT_ADDR"), values.get("VAULT_TOKEN")];
  if (address === undefined || token === undefined)
    throw invalid("A master key in Vault needs VAULT_ADDR and VAULT_TOKEN.");
  const namespace = values.get("VAULT_NAMESPACE");
  return {
    kind: "vault",
    mount: mount.slice(0, -1),
    key,
    address,
    token,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Gives the option `encryption` of the library. Throws `unsupported` with an install command if a package is missing. */
export async function toEncryptionOption(settings: EncryptionSettings): Promise<true | MasterKeyPlace> {
  if (settings === true || "masterKeyFile" in settings) return settings;
  const { service } = settings;
  const { awsKmsKeyWrapper, vaultKeyWrapper } = await import("../adapters/encryption/index.ts");
  if (service.kind === "vault") return { masterKey: vaultKeyWrapper(service) };
  const { KMS } = await loadVendorPackage("@aws-sdk/client-kms", "KEEPSAKE_MASTER_KEY");
  return { masterKey: awsKmsKeyWrapper({ client: new KMS(service.place), keyId: service.keyId }) };
}
