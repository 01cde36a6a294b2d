import type { CommandWords, Value } from "./command-words.js";

/** A script for bash 3.2 and newer that completes the commands, options and values of the program. */
export function bashCompletion(all: readonly CommandWords[]): string {
  return `# Completion of deneb for bash, written by: deneb completion bash
_deneb() {
  local IFS=$' \\t\\n' cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local at="" position=0 i word kind commands options arguments
  # --option=value arrives as three words.
  if [[ $cur == = ]]; then cur=""; elif [[ $prev == = ]]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    _deneb_words "$at"
    if [[ -n $word && " $commands " == *" $word "* && $word != help ]]; then
      at="\${at:+$at }$word"
      position=0
    elif [[ $word == -* ]]; then
      _deneb_value "$at" "$word"
      if [[ -n $kind ]]; then ((i++)); fi
    else
      ((position++))
    fi
  done
  _deneb_words "$at"
  _deneb_value "$at" "$prev"
  if [[ -z $kind && $cur == -* ]]; then kind="words $options"; fi
  if [[ -z $kind && -n $commands ]]; then kind="words $commands"; fi
  if [[ -z $kind ]]; then
    IFS="|"
    arguments=($arguments)
    IFS=$' \\t\\n'
    kind="\${arguments[position]-text}"
  fi
  case "$kind" in
    file) COMPREPLY=() ;; # as bash completes files
    folder)
      compopt -o filenames 2>/dev/null
      IFS=$'\\n'
      COMPREPLY=($(compgen -d -- "$cur"))
      ;;
    text)
      compopt +o default 2>/dev/null
      COMPREPLY=()
      ;;
    *) COMPREPLY=($(compgen -W "\${kind#words }" -- "$cur")) ;;
  esac
}
# The commands, options and arguments at a command.
_deneb_words() {
  case "$1" in
${all.map(wordsAt).join("\n")}
    *) commands="" options="" arguments="" ;;
  esac
}
# What the value of an option is; empty where it has none.
_deneb_value() {
  case "$1 $2" in
${all.flatMap(valuesAt).join("\n")}
    *) kind="" ;;
  esac
}
complete -o default -F _deneb deneb`;
}

function wordsAt({ path, commands, options, arguments: values }: CommandWords): string {
  const names = options.flatMap((option) => option.names);
  const parts = [
    `commands="${commands.join(" ")}"`,
    `options="${names.join(" ")}"`,
    `arguments="${values.map(kindOf).join("|")}"`,
  ];
  return `    "${path}") ${parts.join(" ")} ;;`;
}

function valuesAt({ path, options }: CommandWords): readonly string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    return [`    ${names.map((name) => `"${path} ${name}"`).join("|")}) kind="${kindOf(value)}" ;;`];
  });
}

function kindOf(value: Value): string {
  return typeof value === "string" ? value : `words ${value.join(" ")}`;
}
