/** The module of a plugin: a channel that says of itself that agents share it; one of its partitions has no agent. */
export const sharedChannelModule = `const part = (part, agent, mine) => ({ part, agent, mine, waiting: 1, exact: true, oldest: Date.now(), appended: 2, passed: 1, lost: 0 });
export default {
  kind: "channel", type: "shared", summary: "Says that it is shared.", stability: "beta", feeders: "others", config: {},
  create: () => ({
    size: 0, sizeIs: "shared", transactionCapacity: 10,
    start: async () => {},
    stop: async () => {},
    openPut: () => ({ put() {}, commit: async () => {}, rollback: async () => {} }),
    openTake: () => ({ take: (max, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve([]))), commit: async () => {}, rollback: async () => {} }),
    parts: () => [part("0", "one", true), part("1", "two", false), part("2", undefined, false)],
    log: () => ({
      engine: "none", id: "id", group: "g", agents: [{ run: "one", since: 0, parts: 1, mine: true }], appended: 6, stored: 3,
      deadLettered: 0, filtered: 0, lost: 0, waiting: 3, unaccounted: 0, exact: true,
    }),
  }),
};
`;
