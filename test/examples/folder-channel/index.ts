import { definePlugin } from "deneb/sdk";
import { checkFolderChannel, folderChannelSchema } from "./config.js";
import { folderChannel } from "./folder-channel.js";

export default definePlugin({
  apiVersion: 1,
  kind: "channel",
  type: "folder-channel",
  summary: "Keeps events in a folder, a file for each put.",
  stability: "beta",
  config: folderChannelSchema,
  check: checkFolderChannel,
  create: folderChannel,
});
