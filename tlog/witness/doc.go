// Package witness implements the client and the server of the witness protocol (C2SP tlog-witness).
//
// A witness stores the last checkpoint of each log that it knows, and cosigns only checkpoints that
// continue this checkpoint. A log with several witnesses therefore cannot show different histories
// to different clients, unless the witnesses collude.
//
// A log asks its witnesses with a [Group] whenever it publishes a checkpoint. A [Server] is a
// witness.
package witness
