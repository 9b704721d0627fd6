// Package certificates gets the TLS certificates of a server: from files, which it reads again when
// they change ([Files]), or from a certificate authority by ACME, RFC 8555 ([Manager]).
//
// # Orders
//
// A Manager orders a certificate for each of its hosts, and a new certificate when a third of the
// lifetime is left. It never orders because of a handshake, so handshakes with unknown host names
// cost nothing. All nodes share a [store.Vault], which contains the certificates, the key of the
// account and the answers to challenges. A lease in the vault ensures that only one node at a time
// orders. If this node dies, another node takes over. All nodes answer the challenges.
//
// The certificate authority can validate a host only if the host leads to this server. Before an
// order, the Manager therefore connects to the host over the network, with HTTP on port 80 and TLS
// on port 443, and checks that this server answers. This avoids failed validations, whose number
// certificate authorities limit, and shows whether http-01 or tls-alpn-01 will work.
//
// # Failures
//
// A certificate stays in use until it is replaced, even if it has expired. After a failed order,
// the Manager waits 5 minutes before it orders for this host again. Each further failure doubles
// the wait, up to 6 hours. After a rate limit it waits at least an hour. The nodes share the
// failures through the vault. While the vault is unavailable or read-only, the certificates in
// memory stay in use and nothing is ordered.
package certificates
