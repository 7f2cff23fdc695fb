import { interrupted } from "./exit.ts";

/** The signal that ends a program which runs until it is told to stop. A second one does not wait. */
export function stopped(): Promise<string> {
  return new Promise((resolve) => {
    process.off("SIGINT", interrupted);
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.on(signal, interrupted);
        resolve(signal);
      });
    }
  });
}
