import type { CompletionCommand, CompletionOption } from "./command-table.ts";

/** A text in single quotes. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A name with its description, for `_describe`. */
const describe = (name: string, description: string): string =>
  quote(`${name.replaceAll(":", "\\:")}:${description.replaceAll(":", "\\:")}`);

const takesValue = (option: CompletionOption): boolean => option.takesValue;
const unique = (names: readonly string[]): string => [...new Set(names)].sort().join("|");

/** A line for each option with choices. */
function listChoiceLines(commands: readonly CompletionCommand[]): string[] {
  return commands.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(
        ({ long, choices }) =>
          `      (${quote(`${path} ${long}`)}) found=(${choices.map(quote).join(" ")}) ;;`,
      ),
  );
}

/** The completion script for zsh: to be sourced, or put into a folder of `$fpath` as `_keepsake`. */
export function createZshScript(commands: readonly CompletionCommand[]): string {
  const options = commands.flatMap((command) => command.options);
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  const files = commands.filter(({ isFile }) => isFile).map(({ path }) => quote(path));
  return [
    "#compdef keepsake",
    "# Completion of keepsake for zsh, made by `keepsake completion zsh`.",
    "_keepsake() {",
    "  local command='' option='' given",
    "  local -a found",
    `  for given in "\${(@)words[2,CURRENT-1]}"; do`,
    "    if [[ -n $option ]]; then option=''; continue; fi",
    "    case $given in",
    "      (--) return ;;",
    `      (${unique(options.filter(takesValue).map(({ long }) => long))}) option=$given ;;`,
    "      (-*) ;;",
    "      (*)",
    `        case "\${command:+$command }$given" in`,
    `          (${paths.join("|")}) command="\${command:+$command }$given" ;;`,
    "        esac ;;",
    "    esac",
    "  done",
    "  if [[ -n $option ]]; then",
    '    case "$command $option" in',
    ...listChoiceLines(commands),
    "    esac",
    "    case $option in",
    `      (${unique(options.filter(({ isFile }) => isFile).map(({ long }) => long))}) _files; return ;;`,
    "    esac",
    "    _describe 'value' found",
    "    return",
    "  fi",
    "  if [[ $PREFIX == -* ]]; then",
    "    case $command in",
    ...commands.map(
      ({ path, options }) =>
        `      (${quote(path)}) found=(${options.map(({ long, description }) => describe(long, description)).join(" ")}) ;;`,
    ),
    "    esac",
    "    _describe -o 'option' found",
    "    return",
    "  fi",
    "  case $command in",
    ...commands
      .filter((command) => command.commands.length + command.choices.length > 0)
      .map((command) => {
        const names = command.commands.map(({ name, description }) => describe(name, description));
        return `    (${quote(command.path)}) found=(${[...names, ...command.choices.map(quote)].join(" ")}) ;;`;
      }),
    `    (${files.join("|")}) _files; return ;;`,
    "  esac",
    "  _describe 'command' found",
    "}",
    `if [[ "\${funcstack[1]}" == _keepsake ]]; then _keepsake "$@"; else compdef _keepsake keepsake; fi`,
  ].join("\n");
}
