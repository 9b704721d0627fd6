// Package nomen holds the question that is asked about a persistent name, the
// answer, the ways in which there can be none, and the one interface between
// those who ask and those who answer.
//
// A [Resolver] is implemented by the engine (package resolve) from a store, by
// the client (package client) over the network, and by caches and chains from
// other resolvers. It is consumed by the server (package server) and the
// command line. One conformance suite, package nomentest, is run on all.
//
// The services are those of RFC 2483 under their names in capital letters; the
// five ways to fail are those of its section 2.
package nomen
