import assert from "node:assert/strict";
import { test } from "node:test";
import { discover } from "../../core/registry/discover.js";
import { versionFault } from "../../core/registry/served-versions.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const own = 3;
const newer = "; it needs a newer Deneb: this agent has version 3";
const older = ", an older one that is still served: this agent has version 3";
const gone = ", which is no longer served: this agent has version 3";

const cases = [
  { declared: 3, says: undefined },
  { declared: [1, 3], says: undefined },
  { declared: [3, 9], says: undefined },
  { declared: 2, says: `made for version 2 of deneb/sdk${older}` },
  { declared: [1, 2], says: `made for versions 1 to 2 of deneb/sdk${older}` },
  { declared: 1, says: `made for version 1 of deneb/sdk${gone}` },
  { declared: undefined, says: `made for version 1 of deneb/sdk${gone}` },
  { declared: 4, says: `made for version 4 of deneb/sdk${newer}` },
  { declared: [4, 5], says: `made for versions 4 to 5 of deneb/sdk${newer}` },
] as const;
for (const { declared, says } of cases)
  test(`of a plugin made for ${JSON.stringify(declared)} an agent of version 3 says ${says ?? "nothing"}`, () => {
    const fault = versionFault(declared, own);

    assert.equal(fault?.fault, says);
    assert.equal(fault?.harmless, says?.endsWith(older) === true ? true : undefined);
  });

for (const declared of ["0", "1.5", '"1"', "[2, 1]", "[1]", "[1, 2, 3]", "null", "{}", "Infinity"])
  test(`apiVersion ${declared} is refused with what it may be`, async (context) => {
    const folder = await tempFolder(context);
    const members = `kind: "sink", type: "x", summary: "Does.", stability: "beta", config: {}, create() {}`;
    await writeFiles(folder, { "x/index.mjs": `export default { ${members}, apiVersion: ${declared} };` });

    const { catalogue, problems } = await discover([folder]);

    assert.deepEqual(catalogue.list(), []);
    assert.match(problems[0]?.cause ?? "", /"apiVersion" is not a version such as 1, or the oldest and the newest one/);
  });
