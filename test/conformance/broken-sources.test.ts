import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin, reasonOf, type SourceContext } from "../../core/sdk/index.js";
import { pluginConformance } from "../../core/testing/index.js";

/** What a source does with each message of a client that has no part in it, such as one of a broker. */
const sources = [
  {
    does: "takes a message when the one before is in the channels",
    taking: () => {
      let before: Promise<unknown> = Promise.resolve();
      return (emit: () => Promise<void>) => {
        before = before.then(() => again(emit));
      };
    },
    fault: "",
  },
  {
    does: "awaits nothing",
    taking: () => (emit: () => Promise<void>) => void again(emit),
    fault:
      "while the channels take nothing more than 100 emits wait, of messages whose sender was told that they are sent; " +
      "await each receive and each emit before the next one: what waits is in memory alone, and lost when the process ends",
  },
];

async function again(emit: () => Promise<void>): Promise<void> {
  for (let isTaken = false; !isTaken; ) {
    isTaken = await emit().then(
      () => true,
      () => false,
    );
  }
}

for (const { does, taking, fault } of sources)
  test(`of a source that ${does} ${fault === "" ? "nothing is" : "the fault is"} said`, async () => {
    let message: ((text: string) => void) | undefined;
    const definition = definePlugin({
      apiVersion: 1,
      kind: "source",
      type: "fed",
      summary: "Takes messages.",
      stability: "beta",
      config: {},
      create: (_, { emit }: SourceContext<unknown>) => {
        const take = taking();
        return {
          async start() {
            message = (text) => take(() => emit([{ headers: {}, body: text }]));
          },
          async stop() {
            message = undefined;
          },
        };
      },
    });
    const openInlet = async () => ({
      config: {},
      async send(text: string) {
        message?.(text);
        return message !== undefined;
      },
      close: async () => {},
    });
    const cases = await pluginConformance(definition, { openInlet });
    const found = cases.find(({ name }) => name.startsWith("while the channels take nothing few emits wait"));
    assert.ok(found !== undefined);

    const reason = await found.run().then(
      () => "",
      (error: unknown) => reasonOf(error),
    );

    assert.equal(reason, fault);
  });
