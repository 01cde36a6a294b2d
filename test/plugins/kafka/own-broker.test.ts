/** Tests that stop, freeze and kill a broker, which is the same for all of them: Java starts once. */
import "./own-broker/late-writes.js";
import "./own-broker/log.js";
import "./own-broker/outages.js";
import "./own-broker/truncation.js";
import "./own-broker/unanswered.js";
