import { allEnded } from "../pipeline/supervision.js";
import { counted } from "../sdk/counted.js";
import { AgentError } from "../sdk/index.js";
import {
  type Assembly,
  type Running,
  type RunningChannel,
  type RunningSink,
  type RunningSource,
  without,
} from "./component.js";
import type { ComponentRunner } from "./component-runner.js";
import { drainWhileStoring } from "./events-at-stop.js";
import type { Phase } from "./grace.js";
import { type ReplacementTerms, replaceChannel, startNewChannel } from "./replace-channel.js";
import { startOrStop } from "./start-or-stop.js";

/**
 * Replaces components of a running agent. Sources go first, then sinks, then channels; the new ones start the other way
 * round. What sources have open, such as a listening socket, is handed over. What a channel that forgets still holds is
 * stored by its sinks or handed to the channel that takes its name. When something fails it throws, and the assembly holds
 * exactly what runs then; the caller can go back from there. A write or a put that takes all of a grace period leaves what comes
 * after it another one.
 */
export async function replaceComponents(
  runner: ComponentRunner,
  next: Assembly,
  { phase, goesBack }: { readonly phase: Phase; readonly goesBack: boolean },
): Promise<void> {
  const from = runner.assembly;
  const leaving = without(from, all(next));
  const arriving = without(next, all(from));
  // Before the sinks that leave: a gate that waits for those must not open while these have not told what they stored.
  for (const { feed } of arriving.sinks) feed.join();
  try {
    for (const part of [stopLeaving, replaceChannels, startArriving])
      await phase((grace) => part({ leaving, arriving, next }, { runner, grace, goesBack }));
  } catch (error) {
    const idle = arriving.sinks.filter((running) => !runner.assembly.sinks.includes(running));
    await phase(async (grace) => void (await Promise.all(idle.map(({ feed }) => feed.halt(grace)))));
    throw error;
  }
  runner.become(next);
}

interface Change {
  readonly leaving: Assembly;
  readonly arriving: Assembly;
  readonly next: Assembly;
}

/** Sources and sinks leave. */
async function stopLeaving({ leaving, arriving, next }: Change, terms: ReplacementTerms): Promise<void> {
  const { runner, grace } = terms;
  await Promise.all(leaving.sources.map((running) => runner.replaceSource(running, arriving.sources, grace)));
  runner.remove(leaving.sources);
  await Promise.all(leaving.sinks.map((running) => release(running, { leaving, arriving, next }, terms)));
  await Promise.all(leaving.sinks.map((running) => runner.stopSink(running, grace)));
  runner.remove(leaving.sinks);
  refuseToForget(leaving.channels, arriving.channels);
}

async function replaceChannels({ leaving, arriving }: Change, terms: ReplacementTerms): Promise<void> {
  for (const running of leaving.channels) await replaceChannel(running, arriving.channels, terms);
}

/** All that does not run yet. */
async function startArriving({ arriving, next }: Change, terms: ReplacementTerms): Promise<void> {
  const { runner } = terms;
  for (const running of arriving.channels) {
    if (running.status === "START") continue;
    await startNewChannel(running, terms);
    runner.add({ channels: [running] });
  }
  runner.noteCompared(next);
  await allEnded(arriving.sinks.map((running) => startSink(running, terms)));
  for (const running of arriving.sources) await startSource(running, terms);
  await runner.closeHandovers();
}

/** Side by side with others: notifications wait meanwhile, and a store that does not answer takes long. */
async function startSink(running: RunningSink, { runner, grace }: ReplacementTerms): Promise<void> {
  const start = () => runner.startSink(running);
  await startOrStop(running, { start, stop: () => runner.stopSink(running, grace), grace });
  runner.add({ sinks: [running] });
}

async function startSource(running: RunningSource, { runner, grace }: ReplacementTerms): Promise<void> {
  const start = () => runner.startSource(running);
  await startOrStop(running, { start, stop: () => runner.stopSource(running, grace), grace });
  runner.add({ sources: [running] });
}

/**
 * A sink just stops taking from a channel that keeps its events and stays, or has a successor. It empties one that goes away and
 * forgets; and while its store takes them one that hands its events over, and one that only the file of a replacement that failed
 * has: what that one accepted would wait for nobody.
 */
async function release(
  sink: RunningSink,
  { leaving, arriving }: Change,
  { grace, goesBack }: ReplacementTerms,
): Promise<void> {
  const channel = leaving.channels.find((running) => running.channel === sink.channel);
  const hasSuccessor = arriving.channels.some(({ name }) => name === channel?.name);
  if (channel === undefined || (sink.channel.durable && (hasSuccessor || !goesBack)))
    return await sink.feed.halt(grace);
  if (hasSuccessor || sink.channel.durable) return await drainWhileStoring(sink, leaving.sinks, { grace });
  await sink.feed.drain(grace);
}

function refuseToForget(leaving: readonly RunningChannel[], arriving: readonly RunningChannel[]): void {
  for (const { name, channel } of leaving) {
    if (channel.durable || !channel.mayHold || arriving.some((running) => running.name === name)) continue;
    const remedy = "bring its store back, then reload again";
    throw new AgentError(
      "CHANNEL_NOT_EMPTY",
      `removing channel "${name}": ${channel.size === undefined ? "an unknown number of events" : counted(channel.size, "event")} could not be stored within the grace period; ${remedy}`,
      { retryable: false },
    );
  }
}

function all({ sources, channels, sinks }: Assembly): readonly Running[] {
  return [...sources, ...channels, ...sinks];
}
