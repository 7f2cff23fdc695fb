import type { CompletionCommand, CompletionOption } from "./command-table.ts";

const listWords = (words: readonly string[]): string => words.join(" ");
const longNames = (options: readonly CompletionOption[]): string[] => options.map(({ long }) => long);

/** The names of all options that are followed by a value, in any command. */
function listValueOptions(commands: readonly CompletionCommand[]): string[] {
  const taking = commands.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue));
  return [...new Set(longNames(taking))].sort();
}

/** The names of all options whose value is a file. */
function listFileOptions(commands: readonly CompletionCommand[]): string[] {
  const files = commands.flatMap(({ options }) => options.filter(({ isFile }) => isFile));
  return [...new Set(longNames(files))].sort();
}

/** A line for each command that has some: its words, and the script's variable that gets them. */
function caseLines(
  commands: readonly CompletionCommand[],
  toWords: (command: CompletionCommand) => readonly string[],
  variable: string,
): string[] {
  return commands.flatMap((command) => {
    const words = toWords(command);
    return words.length === 0 ? [] : [`    "${command.path}") ${variable}="${listWords(words)}" ;;`];
  });
}

/** The completion script for bash 3.2 and later. */
export function createBashScript(commands: readonly CompletionCommand[]): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => `"${path}"`);
  const choices = commands.flatMap(({ path, options }) =>
    options
      .filter((option) => option.choices.length > 0)
      .map((option) => `      "${path} ${option.long}") words="${listWords(option.choices)}" ;;`),
  );
  const files = commands.filter(({ isFile }) => isFile).map(({ path }) => `"${path}"`);
  return [
    "# Completion of keepsake for bash, made by `keepsake completion bash`.",
    "_keepsake_files() {",
    "  local IFS=$'\\n'",
    "  compopt -o filenames 2>/dev/null",
    '  COMPREPLY=($(compgen -f -- "$1"))',
    "}",
    "_keepsake() {",
    `  local word="\${COMP_WORDS[COMP_CWORD]}" command="" option="" given words="" i`,
    "  COMPREPLY=()",
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    `    given="\${COMP_WORDS[i]}"`,
    '    if [[ -n $option ]]; then option=""; continue; fi',
    '    case "$given" in',
    "      --) return ;;",
    `      ${listValueOptions(commands).join("|")}) option="$given" ;;`,
    "      -*) ;;",
    "      *)",
    `        case "\${command:+$command }$given" in`,
    `          ${paths.join("|")}) command="\${command:+$command }$given" ;;`,
    "        esac ;;",
    "    esac",
    "  done",
    "  if [[ -n $option ]]; then",
    '    case "$command $option" in',
    ...choices,
    "    esac",
    '    case "$option" in',
    `      ${listFileOptions(commands).join("|")}) _keepsake_files "$word"; return ;;`,
    "    esac",
    '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "    return",
    "  fi",
    "  if [[ $word == -* ]]; then",
    '    case "$command" in',
    ...caseLines(commands, ({ options }) => longNames(options), "words"),
    "    esac",
    '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "    return",
    "  fi",
    '  case "$command" in',
    ...caseLines(
      commands,
      (command) => [...command.commands.map(({ name }) => name), ...command.choices],
      "words",
    ),
    `    ${files.join("|")}) _keepsake_files "$word"; return ;;`,
    "  esac",
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -F _keepsake keepsake",
  ].join("\n");
}
