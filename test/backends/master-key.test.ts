import { KMS } from "@aws-sdk/client-kms";
import { expect, it } from "vitest";
import { awsKmsKeyWrapper, type KmsClient } from "../../src/adapters/encryption/index.ts";
import { keyWrapperConformance } from "../../src/testing/key-wrapper-conformance.ts";
import { startVaultServer, VAULT_TOKEN } from "../../src/testing/vault-server.ts";
import { keepsakeWith, place, type Ran } from "../e2e/shell.ts";

/** The server of AWS's protocols that `test/services/up s3-vectors` starts (moto); it speaks that of KMS, too. */
const { KEEPSAKE_TEST_S3_VECTORS: endpoint } = process.env;
const why = endpoint ? "" : ' (needs KEEPSAKE_TEST_S3_VECTORS: eval "$(test/services/up s3-vectors)")';
const REGION = "eu-central-1";
const CREDENTIALS = { accessKeyId: "test", secretAccessKey: "test" };

const client = new KMS({
  region: REGION,
  endpoint: endpoint ?? "http://127.0.0.1:9",
  credentials: CREDENTIALS,
});

/** Where AWS documents IncorrectKeyException for another key, moto says that access is denied. */
const likeAws: KmsClient = {
  encrypt: (input, options) => client.encrypt(input, options),
  decrypt: (input, options) =>
    client.decrypt(input, options).catch((cause: Error) => {
      if (cause.name === "AccessDeniedException") cause.name = "IncorrectKeyException";
      throw cause;
    }),
};

async function createKey(): Promise<string> {
  const { KeyMetadata } = await client.createKey({});
  return KeyMetadata?.KeyId ?? "";
}

if (endpoint) {
  keyWrapperConformance({
    name: "aws-kms (moto, not AWS itself)",
    open: async () => awsKmsKeyWrapper({ client: likeAws, keyId: await createKey() }),
    openOther: async () => awsKmsKeyWrapper({ client: likeAws, keyId: await createKey() }),
  });
}

it.skipIf(!endpoint)(
  `a database gets its master key from the secret, then from Vault, then from AWS KMS, and is read each time${why}`,
  { timeout: 180_000 },
  async () => {
    const vault = await startVaultServer();
    try {
      const name = `aws-kms:${await createKey()}`;
      const SETTINGS = {
        KEEPSAKE_ENCRYPTION: "on",
        VAULT_ADDR: vault.url,
        VAULT_TOKEN,
        AWS_REGION: REGION,
        AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
        AWS_ENDPOINT_URL_KMS: endpoint ?? "",
      };
      const keepsake = (masterKey: string | undefined, ...words: string[]): Promise<Ran> =>
        keepsakeWith(
          { env: { ...SETTINGS, ...(masterKey === undefined ? {} : { KEEPSAKE_MASTER_KEY: masterKey }) } },
          ...words,
          "--db",
          `${place}/memory.db`,
        );
      expect((await keepsake(undefined, "remember", "My boat is called Quixote.")).status).toBe(0);
      let now: string | undefined;
      for (const next of ["vault:transit/one", name, "secret"]) {
        const rotated = await keepsake(now, "encryption", "rotate", "--to", next);
        expect([rotated.status, rotated.err, rotated.out]).toEqual([
          0,
          expect.stringContaining("Copy the folder of keys again."),
          expect.stringContaining("the new master key"),
        ]);
        const earlier = await keepsake(now, "answer", "What is my boat called?");
        expect(earlier.status).not.toBe(0);
        now = next === "secret" ? undefined : next;
        const answered = await keepsake(now, "answer", "What is my boat called?");
        expect([answered.status, answered.out]).toEqual([0, expect.stringContaining("Quixote")]);
      }
    } finally {
      vault.stop();
    }
  },
);
