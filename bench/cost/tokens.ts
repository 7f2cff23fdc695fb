/** Tokens of a text as gpt-4o and gpt-4o-mini count them (o200k_base), and as text-embedding-3-small does (cl100k_base). */
export interface Tokenizers {
  readonly chat: (text: string) => number;
  readonly embedding: (text: string) => number;
}

/** Their tables are a few megabytes: they are read when they are needed. */
export async function tokenizers(): Promise<Tokenizers> {
  const [chat, embedding] = await Promise.all([
    import("gpt-tokenizer/encoding/o200k_base"),
    import("gpt-tokenizer/encoding/cl100k_base"),
  ]);
  // What looks like a special token is text when it is sent as text.
  const plain = { disallowedSpecial: new Set<string>() };
  return {
    chat: (text) => chat.countTokens(text, plain),
    embedding: (text) => embedding.countTokens(text, plain),
  };
}
