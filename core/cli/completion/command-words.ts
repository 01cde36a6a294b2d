import type { Argument, Command, Option } from "commander";

/** What may stand behind an option, or as an argument: words to choose from, or what is completed some other way. */
export type Value = readonly string[] | "file" | "folder" | "text";

export interface OptionWords {
  /** `-f` and `--config`. */
  readonly names: readonly string[];
  readonly summary: string;
  /** Absent: the option has no value. */
  readonly value?: Value;
}

/** What may follow one command. */
export interface CommandWords {
  /** The words that name it, such as `dead-letters list`; empty for the program itself. */
  readonly path: string;
  readonly summary: string;
  /** The names of its subcommands. */
  readonly commands: readonly string[];
  readonly options: readonly OptionWords[];
  readonly arguments: readonly Value[];
}

/** The program and all its commands, each before those below it. */
export function commandWords(program: Command): readonly CommandWords[] {
  return below(program, "");
}

function below(command: Command, path: string): readonly CommandWords[] {
  const commands = command.commands.map((one) => ({ name: one.name(), one }));
  const own: CommandWords = {
    path,
    summary: summaryOf(command.description()),
    commands: [...commands.map(({ name }) => name), ...(path === "" ? ["help"] : [])],
    options: [...command.createHelp().visibleOptions(command)].map(optionWords),
    arguments: command.registeredArguments.map(argumentValue),
  };
  return [own, ...commands.flatMap(({ name, one }) => below(one, path === "" ? name : `${path} ${name}`))];
}

function optionWords(option: Option): OptionWords {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const summary = summaryOf(option.description);
  if (!option.required && !option.optional) return { names, summary };
  const placeholder = /[<[]([\w=-]+)/.exec(option.flags)?.[1] ?? "";
  return { names, summary, value: valueFor(placeholder, option.argChoices) };
}

function argumentValue(argument: Argument): Value {
  return valueFor(argument.name(), argument.argChoices);
}

function valueFor(placeholder: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return choices;
  if (placeholder === "folder") return "folder";
  return placeholder === "file" || placeholder === "notification" ? "file" : "text";
}

const LONGEST = 70;

/** The first sentence, or its beginning, and no half of what is in brackets. */
function summaryOf(description: string): string {
  const [sentence = ""] = description.split(/(?<=[a-z)])[.;:] /);
  const text = sentence.replace(/\.$| \([^)]*$/, "");
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 4).replace(/\s+\S*$/, "")} ...`;
}
