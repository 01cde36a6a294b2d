import type { ComponentType } from "preact";

export interface PageView {
  /** Behind `#/` in the address. */
  readonly path: string;
  readonly title: string;
  /** Loads the view when it is opened for the first time. */
  readonly load: () => Promise<ComponentType>;
}

export const views: readonly [PageView, ...PageView[]] = [
  { path: "", title: "Overview", load: async () => (await import("./overview/overview.js")).Overview },
  {
    path: "dead-letters",
    title: "Dead letters",
    load: async () => (await import("./dead-letters/letters.js")).LettersView,
  },
  { path: "arrivals", title: "Arrivals", load: async () => (await import("./arrivals/arrivals.js")).ArrivalsView },
  { path: "explain", title: "Explain", load: async () => (await import("./explain.js")).ExplainView },
  { path: "ledger", title: "Ledger", load: async () => (await import("./ledger.js")).LedgerView },
  {
    path: "configuration",
    title: "Configuration",
    load: async () => (await import("./configuration/configuration.js")).ConfigurationView,
  },
  {
    path: "subscriptions",
    title: "Subscriptions",
    load: async () => (await import("./subscriptions/subscriptions.js")).SubscriptionsView,
  },
  { path: "logs", title: "Log levels", load: async () => (await import("./logs.js")).LogsView },
];
