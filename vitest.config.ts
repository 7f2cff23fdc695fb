import type { ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = {
  test: { include: ["src/**/*.test.ts", "test/**/*.test.ts"], testTimeout: 20_000 },
};

// Vitest reads its settings from a default export, the one place where this tree has one.
export default config;
