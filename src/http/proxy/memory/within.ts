import { MemoryError } from "../../../errors.ts";

/** The value, if it comes in time. What comes later is dropped, and so is its failure. */
export async function rejectAfter<Value>(ms: number, coming: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new MemoryError("unavailable", `nothing came within ${ms} ms.`)), ms);
  });
  coming.catch(() => {});
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}
