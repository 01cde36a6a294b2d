// The beginning of the entry, dist/core/main.js, and of the npm scripts: every Node since version 4 can read it, as a
// module and as a script. It imports nothing, so that an old one gets this sentence and not the first thing it lacks.
var neededNode = [20, 19];
var givenNode = process.version.replace(/^v/, "").split(".").map(Number);
var isNodeTooOld =
  givenNode[0] < neededNode[0] || (givenNode[0] === neededNode[0] && givenNode[1] < neededNode[1]);
if (isNodeTooOld) {
  process.exitCode = 1;
  process.stderr.write(
    "Deneb needs Node.js " + neededNode.join(".") + " or newer, and this is " + process.version + " (" + process.execPath + "); install a newer one.\n"
  );
}
