import type { Command, Option } from "commander";

/** An option as a shell completes it. */
export interface CompletionOption {
  /** "--kind"; `short` is "-h". */
  readonly long: string;
  readonly short?: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** The only values that it takes. */
  readonly choices: readonly string[];
  /** Whether its value is a file. */
  readonly isFile: boolean;
}

/** A command as a shell completes it. */
export interface CompletionCommand {
  /** The words that name it: "keys create"; "" for the program itself. */
  readonly path: string;
  readonly description: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletionOption[];
  /** The only values of its operand. */
  readonly choices: readonly string[];
  /** Whether an operand is a file. */
  readonly isFile: boolean;
}

/** The program and its commands, with those below them. */
export function listCommands(root: Command): CompletionCommand[] {
  const shared = root.options.filter(({ long }) => long !== "--version");
  const below = (command: Command, path: string): CompletionCommand[] => [
    toCompletionCommand(command, path, path === "" ? root.options : [...command.options, ...shared]),
    ...command.commands.flatMap((one) => below(one, path === "" ? one.name() : `${path} ${one.name()}`)),
  ];
  const all = below(root, "");
  const names = visibleCommands(root).map((command) => command.name());
  return [
    ...all,
    {
      path: "help",
      description: "print the help of a command",
      commands: [],
      options: [],
      choices: names,
      isFile: false,
    },
  ];
}

/** The commands below a command, without former names. */
function visibleCommands(command: Command): Command[] {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => visible.includes(one));
}

function toCompletionCommand(command: Command, path: string, options: readonly Option[]): CompletionCommand {
  const operands = command.registeredArguments;
  return {
    path,
    description: command.description(),
    commands: [
      ...visibleCommands(command).map((one) => ({ name: one.name(), description: one.description() })),
      ...(path === "" ? [{ name: "help", description: "print the help of a command" }] : []),
    ],
    options: [
      ...options.filter(({ hidden }) => !hidden).map(toCompletionOption),
      {
        long: "--help",
        short: "-h",
        description: "print help",
        takesValue: false,
        choices: [],
        isFile: false,
      },
    ],
    choices: operands.flatMap(({ argChoices }) => argChoices ?? []),
    isFile: operands.some((operand) => operand.name() === "FILE"),
  };
}

function toCompletionOption(option: Option): CompletionOption {
  const { short, description, required, optional, argChoices = [], flags } = option;
  return {
    long: option.long ?? "",
    ...(short ? { short } : {}),
    description,
    takesValue: required || optional,
    choices: argChoices,
    isFile: /<FILE\b/.test(flags),
  };
}
