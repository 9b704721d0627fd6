// Package witness has the client and the server of the protocol of witnesses (C2SP tlog-witness).
//
// A witness remembers the last checkpoint of each log that it knows, and cosigns only checkpoints
// that continue it. So a log that has several witnesses cannot show one history to some clients and
// another history to others, unless the witnesses help it.
//
// A log asks its witnesses with a [Group] whenever it publishes a checkpoint. A [Server] is a
// witness.
package witness
