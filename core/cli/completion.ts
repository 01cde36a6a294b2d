import { Argument, type Command } from "commander";
import { type CommandContext, exitCodes } from "./command.js";
import { bashCompletion } from "./completion/bash.js";
import { type CommandWords, commandWords } from "./completion/command-words.js";
import { fishCompletion } from "./completion/fish.js";
import { zshCompletion } from "./completion/zsh.js";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const scripts: Readonly<Record<Shell, (all: readonly CommandWords[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `deneb completion`: prints a script with which a shell completes commands, options and their values. */
export function define(command: Command, { terminal, program, exitWith }: CommandContext): void {
  const print = async (shell: Shell) => {
    terminal.out(scripts[shell](commandWords(await program())));
    return exitCodes.success;
  };
  command
    .addArgument(new Argument("<shell>", "shell that reads the script").choices(shells))
    .addHelpText("after", help)
    .action((shell: Shell) => exitWith(print(shell)));
}

const help = `
In the file that the shell reads at its start:
  bash  source <(deneb completion bash)
  zsh   source <(deneb completion zsh), after compinit
  fish  deneb completion fish | source`;
