import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isTypeLiteralNode,
} from "typescript/unstable/ast/is";
import { API, type Checker, type Project, type Symbol as TypeScriptSymbol } from "typescript/unstable/sync";

const ROOT = join(import.meta.dirname, "..");

const INTRODUCTION = `# Library

<!-- Written by \`npm run docs\` from the doc comments of \`src/\`; a test compares. Change the comment, not this page. -->

Everything that the package exports, by entry point. A value in brackets is a default. Every call that fails throws a
\`MemoryError\` with a stable \`code\`; [the page on errors](errors.md) says what each code means. \`CallOptions\` has a
\`signal\`: an \`AbortSignal\` that cancels the call, which then throws the signal's reason. Times that a call takes are
\`Date\` objects or texts in ISO 8601; times that it gives are texts in ISO 8601, in UTC. Durations are in milliseconds
unless a name or a line says otherwise.
`;

/** A published entry point: what a program imports, and the file of \`src/\` behind it. */
interface EntryPoint {
  readonly specifier: string;
  readonly file: string;
}

/** What is documented: the page, and the names without a doc comment, such as "keepsake MemoryOptions.path". */
export interface LibraryReference {
  readonly page: string;
  readonly undocumented: readonly string[];
}

/** The entry points that package.json exports, with one for each adapter. */
export function listEntryPoints(root: string = ROOT): EntryPoint[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports: { [path: string]: string | { types: string } };
  };
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === "string") return [];
    const file = target.types.replace("./dist/", "src/").replace(".d.ts", ".ts");
    const specifier = path.replace(/^\./, "keepsake");
    if (!file.includes("*")) return [{ specifier, file }];
    const [folder = ""] = file.split("*");
    return readdirSync(join(root, folder))
      .filter((name) => readdirSync(join(root, folder, name)).includes("index.ts"))
      .map((name) => ({ specifier: specifier.replace("*", name), file: file.replace("*", name) }));
  });
}

/** The page \`docs/reference/library.md\` as it should be now. Throws if an entry point has no file or no exports. */
export function libraryReference(root: string = ROOT): LibraryReference {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProject: join(root, "tsconfig.json") }).getProjects();
    if (!project) throw new Error("The compiler opened no project for tsconfig.json.");
    const undocumented: string[] = [];
    const described = new Map<string, string>();
    const sections = listEntryPoints(root).map((entry) =>
      describeEntryPoint(project, root, entry, described, undocumented),
    );
    return { page: [INTRODUCTION, ...sections].join("\n"), undocumented };
  } finally {
    api.close();
  }
}

function describeEntryPoint(
  project: Project,
  root: string,
  { specifier, file }: EntryPoint,
  described: Map<string, string>,
  undocumented: string[],
): string {
  const { checker, program } = project;
  const source = program.getSourceFile(join(root, file));
  const module = source && checker.getSymbolAtLocation(source);
  if (!module) throw new Error(`${file} is no module, but package.json exports it as ${specifier}.`);
  const lines = [`## \`${specifier}\`\n`];
  const exported = checker
    .getExportsOfModule(module)
    .map((symbol) => ({ name: symbol.name, target: resolveAlias(checker, symbol) }))
    .sort((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1));
  for (const { name, target } of exported) {
    const [handle] = target.declarations;
    const declaration = handle?.resolve(project);
    if (!declaration) throw new Error(`${specifier} exports ${name}, which has no declaration.`);
    const key = `${handle?.path}#${target.name}`;
    const known = described.get(key);
    if (known !== undefined) {
      const [home = "", original = ""] = known.split(" ");
      const where = home === specifier ? "" : ` of \`${home}\``;
      lines.push(
        `### ${name}\n`,
        name === original
          ? `As in \`${home}\`.\n`
          : `An earlier name of \`${original}\`${where}, kept until version 1.0.\n`,
      );
      continue;
    }
    described.set(key, `${specifier} ${name}`);
    lines.push(
      `### ${name}\n`,
      describeDeclaration(checker, declaration, target, `${specifier} ${name}`, undocumented),
    );
  }
  return lines.join("\n");
}

/** Functions first, then classes and constants, then types, then earlier names. */
function rankOf({ name, target }: { readonly name: string; readonly target: TypeScriptSymbol }): number {
  if (name !== target.name) return 3;
  const kind = target.declarations[0]?.kind;
  if (kind === SyntaxKind.InterfaceDeclaration || kind === SyntaxKind.TypeAliasDeclaration) return 2;
  return kind === SyntaxKind.FunctionDeclaration ? 0 : 1;
}

const ALIAS = 2097152;
/** `TypeFormatFlags.InTypeAlias` and `NoTruncation`: the values of a type alias, and not its name. */
const EXPANDED_ALIAS = 8388608 | 1;

function resolveAlias(checker: Checker, symbol: TypeScriptSymbol): TypeScriptSymbol {
  return symbol.flags & ALIAS ? checker.getAliasedSymbol(symbol) : symbol;
}

function describeDeclaration(
  checker: Checker,
  declaration: Node,
  symbol: TypeScriptSymbol,
  path: string,
  undocumented: string[],
): string {
  const comment = commentOf(checker, symbol);
  if (comment === "") undocumented.push(path);
  const text = [comment, ...examplesOf(checker, symbol)].join("\n\n").concat("\n");
  if (isFunctionDeclaration(declaration)) return `${code(signatureOf(declaration))}\n${text}`;
  if (isInterfaceDeclaration(declaration) || isClassDeclaration(declaration)) {
    const heading = oneLine(declaration.getText()).replace(/\s*\{.*$/, "");
    const members = describeMembers(checker, declaration.members, path, undocumented);
    return `${code(heading)}\n${text}${members === "" ? "" : `\n${members}\n`}`;
  }
  if (isTypeAliasDeclaration(declaration)) {
    const literal = declaration.type;
    const members = isTypeLiteralNode(literal)
      ? describeMembers(checker, literal.members, path, undocumented)
      : "";
    return `${code(writeAlias(checker, declaration, symbol, members !== ""))}\n${text}${members === "" ? "" : `\n${members}\n`}`;
  }
  const type = checker.typeToString(checker.getTypeOfSymbolAtLocation(symbol, declaration));
  return `${code(`const ${symbol.name}: ${type}`)}\n${text}`;
}

/** A type alias on one line: with its values, where it is derived from a list of them. */
function writeAlias(
  checker: Checker,
  declaration: Node,
  symbol: TypeScriptSymbol,
  isListed: boolean,
): string {
  const written = oneLine(declaration.getText());
  if (isListed) return `type ${symbol.name}`;
  if (!written.includes("typeof ")) return written;
  return `type ${symbol.name} = ${checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, EXPANDED_ALIAS)}`;
}

/** A list of members, and their examples below it. */
function describeMembers(
  checker: Checker,
  members: Iterable<Node>,
  path: string,
  undocumented: string[],
): string {
  const lines: string[] = [];
  const examples = new Set<string>();
  for (const member of members) {
    const symbol = symbolOf(checker, member);
    if (!symbol || member.kind === SyntaxKind.Constructor) continue;
    const text = oneLine(member.getText())
      .replace(/[;,]$/, "")
      .replace(/^(?:declare )?readonly /, "");
    const comment = commentOf(checker, symbol);
    if (comment === "" && needsComment(path)) undocumented.push(`${path}.${memberName(symbol)}`);
    lines.push(`* \`${text}\`${comment === "" ? "" : `: ${comment}`}`);
    for (const example of examplesOf(checker, symbol)) examples.add(example);
  }
  return [lines.join("\n"), ...examples].join("\n\n");
}

function symbolOf(checker: Checker, member: Node): TypeScriptSymbol | undefined {
  const { name } = member as Node & { readonly name?: Node };
  return name && checker.getSymbolAtLocation(name);
}

/** Vendors document the members of their clients; an adapter names the few that it uses. */
function needsComment(path: string): boolean {
  return !path.startsWith("keepsake/adapters/") || path.endsWith("Options");
}

/** "[Symbol.asyncDispose]" for the compiler's "__@asyncDispose@566". */
function memberName({ name }: TypeScriptSymbol): string {
  return name.replace(/^__@(\w+)@\d+$/, "[Symbol.$1]");
}

/** A doc comment without its tags, each paragraph on one line. */
function commentOf(checker: Checker, symbol: TypeScriptSymbol): string {
  return symbol
    .getDocumentationComment(checker)
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*/g, " ").trim())
    .join(" ")
    .trim();
}

/** The texts of `@example`: Markdown. */
function examplesOf(checker: Checker, symbol: TypeScriptSymbol): string[] {
  return symbol.getJsDocTags(checker).flatMap(({ name, text }) => {
    if (name !== "example" || text === undefined) return [];
    return [text.trim()];
  });
}

/** A function's declaration without its body. */
function signatureOf(declaration: Node): string {
  const { body } = declaration as Node & { readonly body?: Node };
  const whole = declaration.getText();
  const text = body ? whole.slice(0, whole.length - body.getText().length) : whole;
  return oneLine(text);
}

const code = (text: string): string => `\`\`\`text\n${text}\n\`\`\`\n`;

/** A declaration on one line, without comments and without \`export\`. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(^|\s)\/\/[^\n]*/g, "$1")
    .replaceAll(/\s+/g, " ")
    .replace(/^export (declare )?/, "")
    .trim();
}
