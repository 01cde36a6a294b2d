import { type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import { CLOCK } from "../tokens.js";
import type { Agent } from "./agent.js";
import { ArrivalSample } from "./arrivals/arrival-sample.js";
import { ExplainRunning } from "./explain-running.js";
import { LiveView, type LiveViewParts } from "./live/live-view.js";

export const ARRIVALS: InjectionToken<ArrivalSample> = Symbol("ArrivalSample");
export const EXPLAIN_RUNNING: InjectionToken<ExplainRunning> = Symbol("ExplainRunning");
export const LIVE_VIEW: InjectionToken<LiveView> = Symbol("LiveView");

type ViewedParts = Omit<LiveViewParts, "arrivals"> & { readonly agent: Agent };

/** What shows people the running agent, and changes nothing. */
export function registerViews(
  own: DependencyContainer,
  dataDir: string,
  partsIn: (scope: DependencyContainer) => ViewedParts,
): void {
  own.register(ARRIVALS, {
    useFactory: instanceCachingFactory(
      (scope) => new ArrivalSample({ agent: () => partsIn(scope).agent, clock: scope.resolve(CLOCK) }),
    ),
  });
  own.register(EXPLAIN_RUNNING, {
    useFactory: instanceCachingFactory((scope) => new ExplainRunning({ ...partsIn(scope), dataDir })),
  });
  own.register(LIVE_VIEW, {
    useFactory: instanceCachingFactory(
      (scope) => new LiveView({ ...partsIn(scope), arrivals: scope.resolve(ARRIVALS) }),
    ),
  });
}
