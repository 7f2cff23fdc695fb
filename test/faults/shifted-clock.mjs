// Loaded into the server's process: its clock goes on from where the file says, in milliseconds from the true time.
import { readFileSync } from "node:fs";

const RealDate = Date;
const file = process.env.KEEPSAKE_TEST_CLOCK ?? "";

function shift() {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift());
    else super(...given);
  }
  static now() {
    return RealDate.now() + shift();
  }
};
