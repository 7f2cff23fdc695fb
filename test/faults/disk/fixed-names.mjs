// Loaded before a program whose calls are to fail: files that it names after itself or by chance have the same names each time, so
// that strace can be told them.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

Object.defineProperty(process, "pid", { value: 4242 });
let count = 0;
crypto.randomUUID = () => {
  count += 1;
  return `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
};
syncBuiltinESMExports();
