import { MemoryError } from "../errors.ts";

/** What each package gives, by the name under which it is installed. */
export interface VendorPackages {
  readonly pg: typeof import("pg");
  readonly ioredis: Pick<typeof import("ioredis"), "Redis">;
  readonly bullmq: typeof import("bullmq");
  readonly chromadb: typeof import("chromadb");
  readonly "@pinecone-database/pinecone": typeof import("@pinecone-database/pinecone");
  readonly "@aws-sdk/client-s3vectors": typeof import("@aws-sdk/client-s3vectors");
}

/** A client of Redis, of the package ioredis. */
export type Redis = InstanceType<VendorPackages["ioredis"]["Redis"]>;

export type VendorPackage = keyof VendorPackages;

interface VendorLoader<Name extends VendorPackage> {
  /** The major version that the suites ran with: what `npm install` is told. */
  readonly major: number;
  readonly load: () => Promise<VendorPackages[Name]>;
}

/**
 * The one place where packages of other vendors are loaded: they are their users' to install, and nobody else needs them.
 * Adapters take clients; the settings make them, of these.
 */
export const VENDOR_PACKAGES: { readonly [Name in VendorPackage]: VendorLoader<Name> } = {
  pg: { major: 8, load: () => import("pg") },
  ioredis: { major: 6, load: () => import("ioredis") },
  bullmq: { major: 6, load: () => import("bullmq") },
  chromadb: { major: 3, load: () => import("chromadb") },
  "@pinecone-database/pinecone": { major: 9, load: () => import("@pinecone-database/pinecone") },
  "@aws-sdk/client-s3vectors": { major: 3, load: () => import("@aws-sdk/client-s3vectors") },
};

/**
 * Loads a vendor's package. `unsupported` where it is not installed, or cannot be loaded, with the command that helps; `setting`
 * is what asked for it.
 */
export async function loadVendorPackage<Name extends VendorPackage>(
  name: Name,
  setting: string,
): Promise<VendorPackages[Name]> {
  const { major, load } = VENDOR_PACKAGES[name];
  try {
    return await load();
  } catch (cause) {
    const command = `npm install ${name}@${major}`;
    throw new MemoryError(
      "unsupported",
      isNotInstalled(name, cause)
        ? `${setting} needs the package ${name}, which is not installed: ${command}`
        : `${setting} needs the package ${name}, which is there and cannot be loaded: ${command}`,
      { cause },
    );
  }
}

/** Whether the package itself is not there; one that it needs in turn is another matter. */
function isNotInstalled(name: string, cause: unknown): boolean {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`'${name}'`);
}
