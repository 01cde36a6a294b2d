import { isDeepStrictEqual } from "node:util";
import { counted } from "../sdk/counted.js";
import { AgentError, reasonOf } from "../sdk/index.js";
import type { RunningChannel } from "./component.js";
import type { ComponentRunner } from "./component-runner.js";
import { startOrStop } from "./start-or-stop.js";

export interface ReplacementTerms {
  readonly runner: ComponentRunner;
  readonly grace: AbortSignal;
  /** True after a replacement that failed: what its channels took over goes back, too. */
  readonly goesBack: boolean;
}

/** Starts the successor of a channel, gives it what the channel holds where that would be lost, and stops the channel. */
export async function replaceChannel(
  leaving: RunningChannel,
  arriving: readonly RunningChannel[],
  terms: ReplacementTerms,
): Promise<void> {
  const { runner, grace, goesBack } = terms;
  const successor = arriving.find(({ name }) => name === leaving.name);
  const forgets = successor !== undefined && !successor.channel.durable;
  if (leaving.channel.durable && forgets && goesBack) return await takeBack(leaving, successor, terms);
  // Two durable channels on one folder would not start; what is on disk is there for the successor.
  if (leaving.channel.durable || successor === undefined) {
    if (!isInPlaceOf(leaving, successor)) stay(leaving, runner);
    if (forgets) leaving.channel.leaveBehind(successor.channel);
    await runner.stopChannel(leaving, grace);
    return runner.remove([leaving]);
  }
  await begin(leaving, successor, terms);
  const events = await moveEvents(leaving, successor, terms);
  await putInPlace(leaving, successor, terms);
  if (events > 0) runner.log.info({ channel: leaving.name, events }, "events moved to the new channel");
}

/** Whether a successor has the folders of a channel, and with them its events. */
function isInPlaceOf({ node }: RunningChannel, successor: RunningChannel | undefined): boolean {
  if (successor?.node.definition !== node.definition) return false;
  const folders = Object.entries(node.definition.config).filter(([, { resource }]) => resource === "folder");
  return (
    folders.length > 0 && folders.every(([name]) => isDeepStrictEqual(node.config[name], successor.node.config[name]))
  );
}

/** What a replacement that failed moved to a channel which does not forget would wait there for nobody. */
async function takeBack(leaving: RunningChannel, successor: RunningChannel, terms: ReplacementTerms): Promise<void> {
  const { runner } = terms;
  await begin(leaving, successor, terms);
  successor.outlet.settlements.join(leaving.outlet.settlements);
  try {
    const events = await successor.channel.inherit(leaving.channel);
    if (events > 0) runner.log.info({ channel: leaving.name, events }, "events moved back to the channel before");
  } catch (error) {
    // What has no room there, or cannot be read, is on disk.
    runner.log.error({ channel: leaving.name, reason: reasonOf(error) }, "not all events moved back");
  }
  stay(leaving, runner);
  leaving.channel.leaveBehind(successor.channel);
  await putInPlace(leaving, successor, terms);
}

function stay({ name, channel }: RunningChannel, { log }: ComponentRunner): void {
  if (channel.mayHold) log.warn({ channel: name, events: channel.size }, "events stay where the channel kept them");
}

async function begin(leaving: RunningChannel, successor: RunningChannel, terms: ReplacementTerms): Promise<void> {
  successor.channel.willInherit(leaving.channel);
  await startNewChannel(successor, terms);
}

/** It is not in the assembly yet. */
export async function startNewChannel(running: RunningChannel, { runner, grace }: ReplacementTerms): Promise<void> {
  const start = () => runner.startChannel(running);
  await startOrStop(running, { start, stop: () => runner.stopChannel(running, grace), grace });
}

async function putInPlace(
  leaving: RunningChannel,
  successor: RunningChannel,
  { runner, grace }: ReplacementTerms,
): Promise<void> {
  runner.remove([leaving]);
  runner.add({ channels: [successor] });
  await runner.stopChannel(leaving, grace);
}

/** Events of which a part of a batch was settled are not stored again from the new channel. */
async function moveEvents(
  from: RunningChannel,
  to: RunningChannel,
  { runner, grace }: ReplacementTerms,
): Promise<number> {
  to.outlet.settlements.join(from.outlet.settlements);
  try {
    return await to.channel.inherit(from.channel);
  } catch (cause) {
    await from.channel.inherit(to.channel);
    await runner.stopChannel(to, grace);
    const { size } = from.channel;
    const reason = `moving ${size === undefined ? "the waiting events" : counted(size, "waiting event")} to the new channel "${to.name}"`;
    throw new AgentError("CHANNEL_TOO_SMALL", `${reason}; raise its capacity`, { cause, retryable: false });
  }
}
