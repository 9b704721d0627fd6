// Package ha has the configuration of a cluster that survives the loss of any one machine, and
// tests that prove this. The cluster has etcd on three machines, PostgreSQL under Patroni on two,
// two nodes of nomen, and HAProxy in front. `make test-ha` runs the tests.
// docs/howto/run-several-servers.md explains the files in etc; the tests use the same files.
//
// All machines of the cluster are network namespaces on one machine. They are inside namespaces of
// the test itself, so that the system removes all of them when the test ends, even if it crashes.
package ha
