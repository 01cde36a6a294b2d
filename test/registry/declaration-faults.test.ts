import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { declarationRules } from "../../core/configuration/schema/declaration-rules.js";
import { discover } from "../../core/registry/discover.js";
import { tempFolder } from "../support/temp-folder.js";

/** A plugin as a stranger writes it in JavaScript; each part can be replaced. */
function pluginText({ head = "", members = "", property = "", kind = "sink", name = "size" }: Parts): string {
  return `${head}
export default {
  kind: "${kind}",
  type: "mine",
  summary: "Stores.",
  stability: "beta",
  config: {
    "${name}": { doc: "A size.", format: "count", default: 1${property} },
  },
  create: () => ({})${members},
};
`;
}

interface Parts {
  readonly head?: string;
  readonly members?: string;
  /** Members of the property; of two with one name the later counts. */
  readonly property?: string;
  readonly kind?: string;
  readonly name?: string;
}

async function problemsOf(context: TestContext, files: Readonly<Record<string, string>>) {
  const folder = await tempFolder(context);
  await mkdir(join(folder, "mine", "lib"), { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, "mine", name), text);
  const { catalogue, problems } = await discover([folder], { rules: declarationRules });
  return { folder, index: join(folder, "mine", "index.js"), found: catalogue.list().length, problems };
}

const mistakes: readonly (Parts & { readonly says: string; readonly cause: RegExp; readonly remedy: RegExp })[] = [
  {
    says: "a default of another type",
    property: ', default: "ten"',
    cause: /property "size" has the default "ten", which must be a whole number, 0 or more$/,
    remedy: /correct the default/,
  },
  {
    says: "a default beyond its limits",
    property: ", max: 10, default: 11",
    cause: /has the default 11, which must be a whole number from 0 to 10$/,
    remedy: /its limits/,
  },
  {
    says: "a default that is none of the choices",
    property: ', format: ["a", "b"], default: "c"',
    cause: /has the default "c", which must be one of: a, b$/,
    remedy: /correct the default/,
  },
  {
    says: "a default longer than allowed",
    property: ', format: "text", maxLength: 2, default: "abc"',
    cause: /must be at most 2 characters long, not 3$/,
    remedy: /its limits/,
  },
  {
    says: "a list with numbers as default of words",
    property: ', format: "words", default: [1]',
    cause: /has the default \[1\], which must be a list of texts$/,
    remedy: /correct/,
  },
  {
    says: "a text as default of a map",
    property: ', format: "map", default: "a"',
    cause: /has the default "a", which must be an object of texts$/,
    remedy: /correct/,
  },
  {
    says: "null as default",
    property: ', format: "text", default: null',
    cause: /has the default null, which must be a text$/,
    remedy: /correct/,
  },
  {
    says: "min above max",
    property: ", min: 5, max: 1",
    cause: /property "size" has the min 5, more than its max 1$/,
    remedy: /exchange or correct/,
  },
  {
    says: "a text as min",
    property: ', min: "1"',
    cause: /property "size" has the min "1"$/,
    remedy: /^give a number$/,
  },
  {
    says: "a property that the kernel reads of every sink",
    name: "batch_size",
    cause: /property "batch_size" has the name of a setting that the agent itself reads of every sink$/,
    remedy: /rename it; reserved are type, channel, batch_size/,
  },
  {
    says: "a property of a source below its interceptors",
    name: "interceptors.mine",
    kind: "source",
    cause: /"interceptors.mine" has the name of a setting .* of every source$/,
    remedy:
      /rename it; reserved are type, channels, interceptors, selector.type, quota\.events_per_second, quota\.burst, quota\.services, quota\.most_services, selector, quota$/,
  },
  {
    says: "a property called type",
    name: "type",
    kind: "channel",
    cause: /property "type" has the name of a setting/,
    remedy: /rename it; reserved are type$/,
  },
  {
    says: "a property with the name of its slot",
    name: "decoder.limit",
    members: ', slots: { decoder: "handler" }',
    cause: /property "decoder.limit" has the name of its slot "decoder"$/,
    remedy: /rename one of the two/,
  },
  {
    says: "a name that a file cannot hold",
    name: "my size",
    cause: /property "my size" has a name that a properties file cannot hold$/,
    remedy: /use letters/,
  },
  {
    says: "a misspelt member",
    members: ", chek: () => []",
    cause: /whose member "chek" is not known$/,
    remedy: /did you mean "check"\?/,
  },
  {
    says: "a misspelt member of a property",
    property: ", sensitve: true",
    cause: /property "size" has a member that is not known: "sensitve"$/,
    remedy: /did you mean "sensitive"\?/,
  },
  {
    says: "an unknown format",
    property: ', format: "counts"',
    cause: /property "size" has an unknown format "counts"$/,
    remedy: /did you mean "count"\? give one of text, flag, count, .*, or a list of the allowed texts/,
  },
  {
    says: "a variable with a blank",
    property: ', env: "MY SIZE"',
    cause: /property "size" has the env "MY SIZE"$/,
    remedy: /letters, digits and underscores/,
  },
  {
    says: "a resource that is none",
    property: ', resource: "socket"',
    cause: /property "size" has the resource "socket"$/,
    remedy: /one of port, host, folder, url/,
  },
  {
    says: "a text as stability",
    members: ', stability: "alpha"',
    cause: /whose "stability" is not one of stable, beta, deprecated: it is "alpha"$/,
    remedy: /where definePlugin is called/,
  },
];

for (const { says, cause, remedy, ...parts } of mistakes) {
  test(`a plugin with ${says} is refused, with its file, the place and the remedy`, async (context) => {
    const { index, found, problems } = await problemsOf(context, { "index.js": pluginText(parts) });

    assert.equal(found, 0);
    assert.deepEqual(
      problems.map(({ origin }) => origin),
      [index],
      JSON.stringify(problems),
    );
    assert.match(problems[0]?.cause ?? "", /^declares the plugin "mine" whose /);
    assert.match(problems[0]?.cause ?? "", cause);
    assert.match(problems[0]?.remedy ?? "", remedy);
  });
}

test("the plugin that the table changes is loaded without a problem", async (context) => {
  const { found, problems } = await problemsOf(context, { "index.js": pluginText({}) });

  assert.deepEqual([found, problems], [1, []]);
});

test("all mistakes of one plugin are reported at once", async (context) => {
  const text = pluginText({
    members: ', summary: "", sumary: "x"',
    property: ', default: "x", env: "1"',
    name: "channel",
  });

  const { problems } = await problemsOf(context, { "index.js": text });

  const causes = problems.map(({ cause }) => cause.replace('declares the plugin "mine" whose ', ""));
  assert.deepEqual(causes, [
    '"summary" is not a sentence: it is ""',
    'member "sumary" is not known',
    'property "channel" has the name of a setting that the agent itself reads of every sink',
    'property "channel" has the env "1"',
  ]);
});

test("a member that a newer version may know is reported, and the plugin is used", async (context) => {
  const { found, problems } = await problemsOf(context, {
    "index.js": pluginText({ members: ", telemetryHints: {}" }),
  });

  assert.equal(found, 1);
  assert.deepEqual(
    problems.map(({ cause, harmless }) => [cause, harmless]),
    [['declares the plugin "mine" whose member "telemetryHints" is not known', true]],
  );
});

test("the default of a secret is not shown", async (context) => {
  const text = pluginText({ property: ', default: "hunter2", sensitive: true' });

  const { problems } = await problemsOf(context, { "index.js": text });

  assert.equal(problems.length, 1);
  assert.doesNotMatch(JSON.stringify(problems), /hunter2/);
});

const unloadable = [
  {
    says: "a syntax error",
    files: { "index.js": "export default {\n  kind: 1\n  type: 2\n};\n" },
    place: "mine/index.js:3: Unexpected identifier 'type'",
  },
  {
    says: "a syntax error in a file that it imports",
    files: { "index.js": 'export { default } from "./lib/part.js";', "lib/part.js": "\n\nlet a b;\n" },
    place: "mine/lib/part.js:3: Unexpected identifier 'b'",
  },
  {
    says: "an import that its file does not export",
    files: {
      "index.js": '\nimport { b } from "./lib/part.js";\nexport default b;',
      "lib/part.js": "export const a = 1;",
    },
    place: "mine/index.js:2: The requested module './lib/part.js' does not provide an export named 'b'",
  },
  {
    says: "a throw while it is loaded",
    files: { "index.js": "\n\nundefined.a;\n" },
    place: "mine/index.js:3: Cannot read properties of undefined (reading 'a')",
  },
];
for (const { says, files, place } of unloadable) {
  test(`a plugin with ${says} is refused with the file and the line`, async (context) => {
    const { folder, problems } = await problemsOf(context, files);

    assert.deepEqual(
      problems.map(({ cause }) => cause),
      [`could not be loaded: ${join(folder, place)}`],
    );
  });
}

test("values that cannot be shown do not hide the other faults", async (context) => {
  const head = "const round = {}; round.round = round;";
  const text = pluginText({ head, property: ", format: round, default: 1n", members: ", type: () => 1, aliases: 5n" });

  const { problems } = await problemsOf(context, { "index.js": text });

  assert.deepEqual(
    problems.map(({ cause }) => cause.replace("declares a plugin whose ", "")),
    [
      '"type" is not a name in lower case without blanks: it is (a function)',
      '"aliases" is not a list of texts: it is 5n',
      'property "size" has an unknown format (an object that contains itself)',
    ],
  );
});

test("refusals and certificates that cannot be read are faults of the declaration", async (context) => {
  const members = ', refusals: [{ status: "401", cause: "token" }], certificates: ["a.pem"]';

  const { problems } = await problemsOf(context, { "index.js": pluginText({ members }) });

  assert.deepEqual(
    problems.map(({ cause }) => /whose "(\w+)" is not (.*?): it is/.exec(cause)?.slice(1)),
    [
      ["refusals", 'a list of refusals such as { status: 401, cause: "token" }'],
      ["certificates", "a function"],
    ],
  );
});
