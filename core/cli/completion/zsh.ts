import type { CommandWords, Value } from "./command-words.js";

/** A script for zsh, to be sourced or to lie in a folder of `fpath` as `_deneb`. */
export function zshCompletion(all: readonly CommandWords[]): string {
  return `#compdef deneb
# Completion of deneb for zsh, written by: deneb completion zsh
_deneb() {
  local at="" word kind
  local -i i position=0
  local -a commands options arguments names
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    _deneb_words "$at"
    names=(\${commands%%:*})
    if [[ $word != help && -n \${names[(re)$word]} ]]; then
      at="\${at:+$at }$word"
      position=0
    elif [[ $word == -* ]]; then
      _deneb_value "$at" "$word"
      if [[ -n $kind ]]; then i+=1; fi
    else
      position+=1
    fi
  done
  _deneb_words "$at"
  _deneb_value "$at" "\${words[CURRENT-1]}"
  if [[ -z $kind && $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  if [[ -z $kind && \${#commands} -gt 0 ]]; then
    _describe command commands
    return
  fi
  if [[ -z $kind ]]; then kind="\${arguments[position+1]-text}"; fi
  case "$kind" in
    file) _files ;;
    folder) _files -/ ;;
    text) _message value ;;
    *) compadd -- \${=kind#words } ;;
  esac
}
# The commands, options and arguments at a command.
_deneb_words() {
  commands=() options=() arguments=()
  case "$1" in
${all.map((words) => wordsAt(words, all)).join("\n")}
  esac
}
# What the value of an option is; empty where it has none.
_deneb_value() {
  case "$1 $2" in
${all.flatMap(valuesAt).join("\n")}
    *) kind="" ;;
  esac
}
# As a file of fpath it is the function itself.
if [[ \${funcstack[1]} == _deneb ]]; then _deneb "$@"; else compdef _deneb deneb; fi`;
}

function wordsAt({ path, commands, options, arguments: values }: CommandWords, all: readonly CommandWords[]): string {
  const summary = (name: string) =>
    all.find((one) => one.path === (path === "" ? name : `${path} ${name}`))?.summary ?? "show the help of a command";
  const described = commands.map((name) => quoted(`${name}:${summary(name)}`));
  const names = options.flatMap((option) => option.names.map((name) => quoted(`${name}:${option.summary}`)));
  const lists = [`commands=(${described.join(" ")})`, `options=(${names.join(" ")})`];
  return `    ${quoted(path)}) ${lists.join(" ")} arguments=(${values.map((one) => quoted(kindOf(one))).join(" ")}) ;;`;
}

function valuesAt({ path, options }: CommandWords): readonly string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return [];
    return [`    ${names.map((name) => quoted(`${path} ${name}`)).join("|")}) kind=${quoted(kindOf(value))} ;;`];
  });
}

function kindOf(value: Value): string {
  return typeof value === "string" ? value : `words ${value.join(" ")}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
