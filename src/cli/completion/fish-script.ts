import type { CompletionCommand, CompletionOption } from "./command-table.ts";

/** A text in single quotes. */
const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const isAt = (path: string): string => `-n ${quote(`test (__keepsake_command) = ${quote(path)}`)}`;

/** The line that completes one option of a command. */
function optionLine(path: string, { long, short, description, ...option }: CompletionOption): string {
  const value = option.isFile ? " -r -F" : option.takesValue ? " -x" : "";
  const choices = option.choices.length === 0 ? "" : ` -a ${quote(option.choices.join(" "))}`;
  const letter = short === undefined ? "" : ` -s ${short.slice(1)}`;
  return `complete -c keepsake ${isAt(path)} -l ${long.slice(2)}${letter}${value}${choices} -d ${quote(description)}`;
}

function commandLines({ path, commands, options, choices, isFile }: CompletionCommand): string[] {
  return [
    ...commands.map(
      ({ name, description }) => `complete -c keepsake ${isAt(path)} -a ${name} -d ${quote(description)}`,
    ),
    ...(choices.length === 0 ? [] : [`complete -c keepsake ${isAt(path)} -a ${quote(choices.join(" "))}`]),
    ...(isFile ? [`complete -c keepsake ${isAt(path)} -F`] : []),
    ...options.map((option) => optionLine(path, option)),
  ];
}

/** The completion script for fish. */
export function createFishScript(commands: readonly CompletionCommand[]): string {
  const taking = commands.flatMap(({ options }) => options.filter(({ takesValue }) => takesValue));
  const names = [...new Set(taking.map(({ long }) => long))].sort();
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quote(path));
  return [
    "# Completion of keepsake for fish, made by `keepsake completion fish`.",
    "function __keepsake_command",
    "  set -l command ''",
    "  set -l skip 0",
    "  for given in (commandline -opc)[2..-1]",
    "    if test $skip = 1",
    "      set skip 0",
    "      continue",
    "    end",
    "    switch $given",
    `      case ${names.join(" ")}`,
    "        set skip 1",
    "      case '-*'",
    "      case '*'",
    '        set -l longer (string trim -- "$command $given")',
    `        if contains -- "$longer" ${paths.join(" ")}`,
    "          set command $longer",
    "        end",
    "    end",
    "  end",
    "  echo $command",
    "end",
    "complete -c keepsake -f",
    ...commands.flatMap(commandLines),
  ].join("\n");
}
