// Package ha holds the configuration of a cluster that survives the loss of any one
// machine, and the tests that show it: etcd on three machines, PostgreSQL under
// Patroni on two, two nodes of nomen, and HAProxy in front. `make test-ha` runs
// them; docs/howto/run-several-servers.md explains the files in etc, which the tests use as they are.
//
// Everything runs on one machine. Each machine of the cluster is a network
// namespace. These are inside namespaces of the test itself, so that the system
// removes all of them when the test ends, even if it crashes.
package ha
