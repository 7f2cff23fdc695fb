/**
 * What each part of the answers is worth: `node scripts/answers/ablate.ts DATA`. Each part is replaced by one that finds nothing, in a copy
 * of `dist/` (`node scripts/ready.mjs` makes it), and the questions of `stories2` are asked again, with even numbers and with odd ones.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A function that is switched off: its file in `dist/language/en`, its name, and what it returns instead. */
type Part = readonly [file: string, name: string, result: string];

const PARTS: readonly Part[] = [
  ["answers/listing.js", "readListing", "undefined"],
  ["answers/wishes.js", "fromWishes", "undefined"],
  ["answers/wishes.js", "fromPreferences", "undefined"],
  ["answers/timely/beside.js", "besideAnswer", "undefined"],
  ["answers/timely/measured.js", "measuredAnswer", "undefined"],
  ["answers/timely/within.js", "withinAnswer", "undefined"],
  ["answers/timely/begun.js", "begunAnswer", "undefined"],
  ["answers/yes-no.js", "yesOrNo", "undefined"],
  ["answers/yes-no.js", "fromState", "undefined"],
  ["answers/match.js", "byMeans", "undefined"],
  ["answers/match.js", "byLiving", "undefined"],
  ["answers/match.js", "byThing", "undefined"],
  ["answers/match.js", "byWords", "undefined"],
  ["answers/match.js", "byRelation", "undefined"],
  ["answers/evidence/statements.js", "listStatements", "[]"],
  ["questions/question-copula.js", "copulaQuestion", "undefined"],
  ["questions/question-frames.js", "relativeQuestion", "undefined"],
  ["questions/question-frames.js", "memberQuestion", "undefined"],
  ["questions/question-frames.js", "ownSubject", "undefined"],
  ["questions/question-frames.js", "liked", "undefined"],
  ["questions/question-times.js", "besideOf", "{}"],
  ["questions/question-times.js", "spanIn", "{}"],
];

const [data, ...only] = process.argv.slice(2);
if (data === undefined) throw new Error("usage: ablate.ts DATA [NAME…]");
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const copy = mkdtempSync(join(tmpdir(), "ablate-"));
for (const folder of ["dist", "assets"]) cpSync(folder, join(copy, folder), { recursive: true });
cpSync("package.json", join(copy, "package.json"));
symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));

/** Questions answered rightly, and whole stories, of each half: by `ask-stories.ts`, in a process of its own. */
function ask(): string {
  const script = join(import.meta.dirname, "ask-stories.ts");
  return execFileSync(process.execPath, [script, copy, `${data}/stories2/stories.json`], {
    encoding: "utf8",
  }).trim();
}

print("| part that is off | odd: questions right, whole | even: questions right, whole |");
print("|---|---|---|");
if (only.length === 0 || only.includes("none")) print(`| none | ${ask()} |`);
for (const [file, name, result] of PARTS) {
  if (only.length > 0 && !only.includes(name)) continue;
  const path = join(copy, "dist/language/en", file);
  const source = readFileSync(path, "utf8");
  const opening = new RegExp(`(function ${name}\\([^]*?\\) \\{\\n)`);
  if (!opening.test(source)) throw new Error(`no function ${name} in ${file}`);
  writeFileSync(path, source.replace(opening, `$1    return ${result};\n`));
  print(`| \`${file.replace(".js", "")}\`: ${name} | ${ask()} |`);
  writeFileSync(path, source);
}
rmSync(copy, { recursive: true });
