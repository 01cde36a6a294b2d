/** Tests that stop, freeze and kill brokers of a cluster, which is the same for all of them: the first one completes it. */
import "./own-cluster/log.js";
import "./own-cluster/leaderless.js";
