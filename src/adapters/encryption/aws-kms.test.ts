import { describe, expect, it } from "vitest";
import { awsKmsKeyWrapper, type KmsClient } from "./index.ts";

const KEY = Buffer.alloc(32, 7);
const WRAPPED = Buffer.concat([Buffer.from("aws-kms:"), KEY]);
const CONTEXT = JSON.stringify(["default", "ana", "0123"]);

/** A client whose calls all fail, or give this. */
function scriptedClient(failure: string | undefined): KmsClient & { readonly contexts: string[] } {
  const contexts: string[] = [];
  const reply = async <Answer>(
    { EncryptionContext }: { readonly EncryptionContext: Record<string, string> },
    answer: Answer,
  ): Promise<Answer> => {
    contexts.push(JSON.stringify(EncryptionContext));
    if (failure !== undefined) throw Object.assign(new Error("from the service"), { name: failure });
    return answer;
  };
  return {
    contexts,
    encrypt: (input) => reply(input, { CiphertextBlob: Buffer.from(input.Plaintext).reverse() }),
    decrypt: (input) => reply(input, { Plaintext: Buffer.from(input.CiphertextBlob).reverse() }),
  };
}

describe("a master key in AWS KMS", () => {
  it("tells the service, which logs contexts, no name of a user", async () => {
    const client = scriptedClient(undefined);
    const wrapper = awsKmsKeyWrapper({ client, keyId: "alias/keepsake" });
    expect(await wrapper.unwrap(await wrapper.wrap(KEY, CONTEXT), CONTEXT)).toEqual(KEY);
    expect(new Set(client.contexts).size).toBe(1);
    expect(client.contexts.join("")).not.toMatch(/ana|default/);
  });

  it.each([
    ["forbidden", "AccessDeniedException"],
    ["forbidden", "DisabledException"],
    ["forbidden", "NotFoundException"],
    ["unavailable", "ThrottlingException"],
    ["unavailable", "TimeoutError"],
  ])(
    "is %s after %s: a key that is only out of reach is never taken for a lost one",
    async (code, failure) => {
      const wrapper = awsKmsKeyWrapper({ client: scriptedClient(failure), keyId: "alias/keepsake" });
      await expect(wrapper.wrap(KEY, CONTEXT)).rejects.toMatchObject({ code });
      await expect(wrapper.unwrap(WRAPPED, CONTEXT)).rejects.toMatchObject({ code });
    },
  );

  it.each(["InvalidCiphertextException", "IncorrectKeyException"])(
    "gives nothing after %s: another key wrapped it",
    async (failure) => {
      const wrapper = awsKmsKeyWrapper({ client: scriptedClient(failure), keyId: "alias/keepsake" });
      expect(await wrapper.unwrap(WRAPPED, CONTEXT)).toBeUndefined();
    },
  );
});
