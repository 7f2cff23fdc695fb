/** Formats that `import` reads. `auto` recognises them by their content. */
export const IMPORT_FORMATS = [
  "auto",
  "jsonl",
  "keepsake",
  "pam",
  "chatgpt",
  "claude",
  "gemini",
  "mem0",
  "letta",
  "telegram",
  "whatsapp",
  "character",
  "openai",
  "locomo",
  "longmemeval",
] as const;

/** The name of a format that `import` reads. */
export type ImportFormatName = (typeof IMPORT_FORMATS)[number];
