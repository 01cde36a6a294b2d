import { allEnded, withinLimit } from "../pipeline/supervision.js";
import { AgentError, reasonOf } from "../sdk/index.js";
import type { Assembly, Running, RunningChannel, RunningSink } from "./component.js";
import type { ComponentRunner } from "./component-runner.js";
import { drainWhileStoring } from "./events-at-stop.js";

/**
 * Replaces components of a running agent. Sources go first, then sinks, then channels; the new ones start the other way
 * round. What sources have open, such as a listening socket, is handed over. What a channel that forgets still holds is stored by its sinks or handed to the channel that takes its name.
 * When something fails it throws, and the assembly holds exactly what runs then; the caller can go back from there.
 */
export async function replaceComponents(
  runner: ComponentRunner,
  next: Assembly,
  { grace, goesBack }: ReplacementTerms,
): Promise<void> {
  const from = runner.assembly;
  const leaving = without(from, next);
  const arriving = without(next, from);
  const live = new Live(runner);
  // Before the sinks that leave: a gate that waits for those must not open while these have not told what they stored.
  for (const { feed } of arriving.sinks) feed.join();
  try {
    await replaceAll({ leaving, arriving, next }, { runner, live, grace, goesBack });
  } catch (error) {
    const idle = arriving.sinks.filter((running) => !runner.assembly.sinks.includes(running));
    await Promise.all(idle.map(({ feed }) => feed.halt(grace)));
    throw error;
  }
  runner.become(next);
}

interface ReplacementTerms {
  readonly grace: AbortSignal;
  /** True after a replacement that failed: what its channels took over goes back, too. */
  readonly goesBack: boolean;
}

interface Change {
  readonly leaving: Assembly;
  readonly arriving: Assembly;
  readonly next: Assembly;
}

async function replaceAll({ leaving, arriving, next }: Change, parts: ReplacementParts): Promise<void> {
  const { runner, live, grace } = parts;
  await Promise.all(leaving.sources.map((running) => runner.replaceSource(running, arriving.sources, grace)));
  live.remove(leaving.sources);
  await Promise.all(leaving.sinks.map((running) => release(running, { leaving, arriving, next }, parts)));
  await Promise.all(leaving.sinks.map((running) => runner.stopSink(running, grace)));
  live.remove(leaving.sinks);
  refuseToForget(leaving.channels, arriving.channels);
  for (const running of leaving.channels) await replaceChannel(running, arriving.channels, parts);
  for (const running of arriving.channels) {
    if (running.status === "START") continue;
    await orStop(inTime(runner.startChannel(running), running, grace), () => runner.stopChannel(running, grace));
    live.add({ channels: [running] });
  }
  runner.noteCompared(next);
  await allEnded(arriving.sinks.map((running) => startSink(running, parts)));
  for (const running of arriving.sources) {
    await orStop(inTime(runner.startSource(running), running, grace), () => runner.stopSource(running, grace));
    live.add({ sources: [running] });
  }
  await runner.closeHandovers();
}

/** Side by side with others: notifications wait meanwhile, and a store that does not answer takes long. */
async function startSink(running: RunningSink, { runner, live, grace }: ReplacementParts): Promise<void> {
  await orStop(inTime(runner.startSink(running), running, grace), () => runner.stopSink(running, grace));
  live.add({ sinks: [running] });
}

/**
 * A sink just stops taking from a channel that keeps its events and stays, or has a successor. It empties one that goes away and
 * forgets; and while its store takes them one that hands its events over, and one that only the file of a replacement that failed
 * has: what that one accepted would wait for nobody.
 */
async function release(
  sink: RunningSink,
  { leaving, arriving }: Change,
  { grace, goesBack }: ReplacementParts,
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
      `removing channel "${name}": ${channel.size ?? "an unknown number of"} events could not be stored within the grace period; ${remedy}`,
      { retryable: false },
    );
  }
}

interface ReplacementParts extends ReplacementTerms {
  readonly runner: ComponentRunner;
  readonly live: Live;
}

async function replaceChannel(
  leaving: RunningChannel,
  arriving: readonly RunningChannel[],
  parts: ReplacementParts,
): Promise<void> {
  const { runner, live, grace, goesBack } = parts;
  const successor = arriving.find(({ name }) => name === leaving.name);
  const forgets = successor !== undefined && !successor.channel.durable;
  if (leaving.channel.durable && forgets && goesBack) return await takeBack(leaving, successor, parts);
  // Two durable channels on one folder would not start; what is on disk is there for the successor.
  if (leaving.channel.durable || successor === undefined) {
    stay(leaving, runner);
    if (forgets) leaving.channel.leaveBehind(successor.channel);
    await runner.stopChannel(leaving, grace);
    return live.remove([leaving]);
  }
  await begun(leaving, successor, parts);
  const events = await moveEvents(leaving, successor, parts);
  await putInPlace(leaving, successor, parts);
  if (events > 0) runner.log.info({ channel: leaving.name, events }, "events moved to the new channel");
}

/** What a replacement that failed moved to a channel which does not forget would wait there for nobody. */
async function takeBack(leaving: RunningChannel, successor: RunningChannel, parts: ReplacementParts): Promise<void> {
  const { runner } = parts;
  await begun(leaving, successor, parts);
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
  await putInPlace(leaving, successor, parts);
}

function stay({ name, channel }: RunningChannel, { log }: ComponentRunner): void {
  if (channel.mayHold) log.warn({ channel: name, events: channel.size }, "events stay where the channel kept them");
}

async function begun(
  leaving: RunningChannel,
  successor: RunningChannel,
  { runner, grace }: ReplacementParts,
): Promise<void> {
  successor.channel.willInherit(leaving.channel);
  await orStop(inTime(runner.startChannel(successor), successor, grace), () => runner.stopChannel(successor, grace));
}

async function putInPlace(
  leaving: RunningChannel,
  successor: RunningChannel,
  { runner, live, grace }: ReplacementParts,
): Promise<void> {
  live.remove([leaving]);
  live.add({ channels: [successor] });
  await runner.stopChannel(leaving, grace);
}

/** Events of which a part of a batch was settled are not stored again from the new channel. */
async function moveEvents(
  from: RunningChannel,
  to: RunningChannel,
  { runner, grace }: ReplacementParts,
): Promise<number> {
  to.outlet.settlements.join(from.outlet.settlements);
  try {
    return await to.channel.inherit(from.channel);
  } catch (cause) {
    await from.channel.inherit(to.channel);
    await runner.stopChannel(to, grace);
    const reason = `moving ${from.channel.size ?? "the"} waiting events to the new channel "${to.name}"`;
    throw new AgentError("CHANNEL_TOO_SMALL", `${reason}; raise its capacity`, { cause, retryable: false });
  }
}

/** A component that never ends starting must not keep the agent from going back, or from stopping. */
async function inTime(starting: Promise<void>, { name }: Running, signal: AbortSignal): Promise<void> {
  await withinLimit(() => starting, { what: `starting "${name}"`, milliseconds: 0, signal });
}

/** What could not start may still hold a port or a file. */
async function orStop(starting: Promise<void>, stop: () => Promise<void>): Promise<void> {
  try {
    await starting;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Keeps the assembly of the runner true while it changes. */
class Live {
  readonly #runner: ComponentRunner;

  constructor(runner: ComponentRunner) {
    this.#runner = runner;
  }

  remove(gone: readonly object[]): void {
    const { sources, channels, sinks } = this.#runner.assembly;
    this.#runner.become({
      sources: sources.filter((running) => !gone.includes(running)),
      channels: channels.filter((running) => !gone.includes(running)),
      sinks: sinks.filter((running) => !gone.includes(running)),
    });
  }

  add({ sources = [], channels = [], sinks = [] }: Partial<Assembly>): void {
    const { assembly } = this.#runner;
    this.#runner.become({
      sources: [...assembly.sources, ...sources],
      channels: [...assembly.channels, ...channels],
      sinks: [...assembly.sinks, ...sinks],
    });
  }
}

function without(assembly: Assembly, other: Assembly): Assembly {
  return {
    sources: assembly.sources.filter((running) => !other.sources.includes(running)),
    channels: assembly.channels.filter((running) => !other.channels.includes(running)),
    sinks: assembly.sinks.filter((running) => !other.sinks.includes(running)),
  };
}
