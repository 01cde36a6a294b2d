import type { DependencyContainer } from "tsyringe";
import { codeOf, type Logger, positionFaults, reasonOf } from "../../sdk/index.js";
import { noteCompared } from "../compared.js";
import type { RunningChannel, RunningSink } from "../component.js";
import { ComponentRunner } from "../component-runner.js";
import { AGENT, DEAD_LETTERS, ERASURES, LEDGER, VERIFIER } from "../container.js";
import { type Verification, whyUnasked } from "./verification.js";

/** Milliseconds that a store has to tell its positions. */
const LONGEST = 30_000;

/**
 * The same comparison for an agent that is stopped: opens its ledger and its channels as a start does, asks the stores, and
 * takes no event. The data directory must be locked.
 */
export async function verifyStopped(container: DependencyContainer, log: Logger): Promise<Verification> {
  const { assembly } = container.resolve(AGENT);
  const ledger = container.resolve(LEDGER);
  const deadLetters = container.resolve(DEAD_LETTERS);
  const runner = new ComponentRunner(assembly, { ledger, deadLetters, erasures: container.resolve(ERASURES), log });
  const { channels, sinks } = assembly;
  const none = AbortSignal.abort();
  await ledger.start();
  try {
    // A shared one would take part in the work of the agents that run.
    const own = channels.filter(({ channel }) => !channel.isShared);
    for (const running of own) await runner.startChannel(running);
    await deadLetters.start();
    noteCompared(assembly, ledger);
    const found = { differences: [], unknown: [] };
    for (const running of sinks) await leaveOut(running, channels, found);
    const result = await container.resolve(VERIFIER).verify();
    const differences = [...found.differences, ...result.differences];
    const unknown = [...new Set([...found.unknown, ...result.unknown])];
    return { ...result, ok: differences.length === 0, differences, unknown };
  } finally {
    await Promise.allSettled(sinks.map(({ sink }) => sink.stop(none)));
    for (const running of channels) await runner.stopChannel(running, none);
    await deadLetters.stop();
    await ledger.stop();
  }
}

interface Found {
  readonly differences: string[];
  readonly unknown: string[];
}

/** As a start does: what the positions of a sink cover has left the channel. */
async function leaveOut({ name, sink, channel }: RunningSink, channels: readonly RunningChannel[], found: Found) {
  const limit = AbortSignal.timeout(LONGEST);
  try {
    await sink.start();
    if (!channel.durable || channel.isShared) return;
    const outlet = channels.find((running) => running.channel === channel)?.outlet;
    for (const position of await sink.storedPositions(limit)) await outlet?.skipTo(position);
  } catch (error) {
    const isForeign = codeOf(error) === positionFaults.foreign;
    if (isForeign) found.differences.push(`sink "${name}": ${reasonOf(error)}`);
    else found.unknown.push(whyUnasked(name, error, limit));
  }
}
