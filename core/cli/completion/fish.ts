import type { CommandWords, OptionWords, Value } from "./command-words.js";

/** A script for fish, to be sourced or to lie in its folder of completions as `deneb.fish`. */
export function fishCompletion(all: readonly CommandWords[]): string {
  return `# Completion of deneb for fish, written by: deneb completion fish
function __deneb_at
    set -l at
    for word in (commandline -opc)[2..]
        set -l next (string join ' ' -- $at $word)
        contains -- "$next" ${all.map(({ path }) => quoted(path)).join(" ")}
        and set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c deneb -f
${all.flatMap((words) => [...commandLines(words, all), ...argumentLines(words), ...optionLines(words)]).join("\n")}`;
}

function commandLines({ path, commands }: CommandWords, all: readonly CommandWords[]): readonly string[] {
  return commands.map((name) => {
    const summary = all.find((one) => one.path === (path === "" ? name : `${path} ${name}`))?.summary;
    return `${at(path)} -a ${quoted(name)} -d ${quoted(summary ?? "show the help of a command")}`;
  });
}

/** Arguments are not counted: all that may stand there is offered. */
function argumentLines({ path, arguments: values }: CommandWords): readonly string[] {
  return values.flatMap((value) => (value === "text" ? [] : [`${at(path)} ${completed(value, "-F")}`]));
}

function optionLines({ path, options }: CommandWords): readonly string[] {
  return options.map((option) => {
    const value = option.value === undefined ? "" : ` -r ${completed(option.value, "-F")}`;
    return `${at(path)} ${namesOf(option)}${value} -d ${quoted(option.summary)}`;
  });
}

function namesOf({ names }: OptionWords): string {
  return names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
}

function completed(value: Value, files: string): string {
  if (value === "file") return files;
  if (value === "folder") return "-f -a '(__fish_complete_directories)'";
  return value === "text" ? "-f" : `-f -a ${quoted(value.join(" "))}`;
}

function at(path: string): string {
  return `complete -c deneb -n ${quoted(`__deneb_at ${quoted(path)}`)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
