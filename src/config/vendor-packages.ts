import { MemoryError } from "../errors.ts";

/** The modules of vendors' packages, by package name. */
interface VendorPackages {
  readonly pg: typeof import("pg");
  readonly mysql2: typeof import("mysql2/promise");
  readonly ioredis: Pick<typeof import("ioredis"), "Redis">;
  readonly bullmq: typeof import("bullmq");
  readonly chromadb: typeof import("chromadb");
  readonly "@pinecone-database/pinecone": typeof import("@pinecone-database/pinecone");
  readonly "@aws-sdk/client-kms": Pick<typeof import("@aws-sdk/client-kms"), "KMS">;
  readonly "@aws-sdk/client-s3": typeof import("@aws-sdk/client-s3");
  readonly "@aws-sdk/client-s3vectors": typeof import("@aws-sdk/client-s3vectors");
  readonly jose: typeof import("jose");
  readonly "@modelcontextprotocol/server": typeof import("@modelcontextprotocol/server") &
    typeof import("@modelcontextprotocol/server/stdio");
}

/** A Redis client of the package ioredis. */
export type Redis = InstanceType<VendorPackages["ioredis"]["Redis"]>;

type VendorPackage = keyof VendorPackages;

interface VendorLoader<Name extends VendorPackage> {
  /** The tested major version, used in the `npm install` command. */
  readonly major: number;
  readonly load: () => Promise<VendorPackages[Name]>;
}

/**
 * Loads vendors' packages. This is the only place: users install only the packages they need. Adapters take clients, which
 * the settings create from these packages.
 */
export const VENDOR_PACKAGES: { readonly [Name in VendorPackage]: VendorLoader<Name> } = {
  pg: { major: 8, load: () => import("pg") },
  mysql2: { major: 3, load: () => import("mysql2/promise") },
  ioredis: { major: 6, load: () => import("ioredis") },
  bullmq: { major: 6, load: () => import("bullmq") },
  chromadb: { major: 3, load: () => import("chromadb") },
  "@pinecone-database/pinecone": { major: 9, load: () => import("@pinecone-database/pinecone") },
  "@aws-sdk/client-kms": { major: 3, load: () => import("@aws-sdk/client-kms") },
  "@aws-sdk/client-s3": { major: 3, load: () => import("@aws-sdk/client-s3") },
  "@aws-sdk/client-s3vectors": { major: 3, load: () => import("@aws-sdk/client-s3vectors") },
  jose: { major: 6, load: () => import("jose") },
  "@modelcontextprotocol/server": {
    major: 2,
    load: async () => ({
      ...(await import("@modelcontextprotocol/server")),
      ...(await import("@modelcontextprotocol/server/stdio")),
    }),
  },
};

/**
 * Loads a vendor's package. `setting` is the setting that needs it. Throws `unsupported` with an install command if the
 * package is not installed or cannot be loaded.
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
        : `${setting} needs the package ${name}, which is installed but cannot be loaded: ${command}`,
      { cause },
    );
  }
}

/** Whether the package itself is missing, as opposed to one of its dependencies. */
function isNotInstalled(name: string, cause: unknown): boolean {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`'${name}'`);
}
