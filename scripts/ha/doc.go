// Package ha holds the configuration of a cluster that survives the loss of any one
// machine, and the tests that show it: etcd on three machines, PostgreSQL under
// Patroni on two, two nodes of nomen, and HAProxy in front. `make test-ha` runs
// them; docs/howto/run-several-servers.md explains the files in etc, which the tests use as they are.
//
// Everything runs on this machine: each machine of the cluster is a network
// namespace, and all of them live in name spaces of the test, so that nothing of
// them is left when the test ends, however it ends.
package ha
