// Package certificates gets the TLS certificates of a server: from files, which it reads again
// when they change ([Files]), or from an authority by ACME, RFC 8555 ([Manager]).
//
// # Orders
//
// A Manager orders a certificate for each of its hosts, and orders again when a third of the
// lifetime is left. It never orders because of a handshake: unknown host names cost nothing.
// The certificates, the key of the account and the challenges are in a [store.Vault], which all
// nodes share. A lease in the vault ensures that one node orders, and that another node takes
// over when this one dies. All nodes answer the challenges.
//
// Before an order, the Manager asks itself over the network at the host, over HTTP on port 80
// and over TLS on port 443, because only a host that reaches this server can be validated. This
// saves the failed validations that authorities limit, and decides between the challenges
// http-01 and tls-alpn-01.
//
// # Failures
//
// A certificate stays in use until it is replaced, even if it has expired. After a failed order,
// a host waits for 5 minutes, and twice as long after each further failure, up to 6 hours; after
// a rate limit for at least an hour. All nodes know of failures by the vault. While the vault is
// unavailable or read-only, the certificates in memory stay in use and nothing is ordered.
package certificates
